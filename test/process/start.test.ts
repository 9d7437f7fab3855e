/** What a start loads: every host waits for it, so what is not needed stays on the disk. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import { expect, it } from "vitest";
import { run, scratch } from "./harness.js";

const Coverage = v.object({ result: v.array(v.object({ url: v.string() })) });

/** The sources of all that the command has loaded when its session is ready. */
async function loaded(home: string): Promise<string> {
  const folder = scratch();
  const { stdout, code } = await run(["serve", "--dialect", "native", "--provider", "rehearsal"], {
    input: `${JSON.stringify({ type: "session.open", session: "s", open: "new" })}\n`,
    env: { PARLEY_HOME: home, NODE_V8_COVERAGE: folder },
  });
  expect([code, stdout]).toEqual([0, expect.stringContaining("session.ready")]);
  const urls = readdirSync(folder).flatMap((file) => v.parse(Coverage, JSON.parse(readFileSync(join(folder, file), "utf8"))).result);
  const ours = urls.filter(({ url }) => url.startsWith("file:"));
  expect(ours).not.toEqual([]);
  return ours.map(({ url }) => readFileSync(new URL(url), "utf8")).join("\n");
}

it("YAML is loaded only when there is a config file", async () => {
  const home = scratch();
  expect(await loaded(home)).not.toContain("YAMLParseError");
  writeFileSync(join(home, "config.yaml"), "maxTurns: 3\n");
  expect(await loaded(home)).toContain("YAMLParseError");
});
