/** Errors say what to do about them. */
import { createServer } from "node:net";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { run, scratch } from "../process/harness.js";

function home(): Record<string, string> {
  return { PARLEY_HOME: scratch({ "config.yaml": "limits: { retries: 0 }\n" }) };
}

test("a missing key: its variable, parley login, and the rehearsal", async () => {
  const { code, stdout, stderr } = await run(["-p", "hi", "--provider", "xai", "--json"]);
  const why = "XAI_API_KEY not set; set it, or keep the key with 'parley login xai'; --provider rehearsal needs none";
  expect([code, stderr, JSON.parse(stdout)]).toEqual([
    1,
    `parley: ${why}\n`,
    expect.objectContaining({ error: { code: "config", message: why } }),
  ]);
});

test.each([
  ["nobody listens", "http://127.0.0.1:9", "start the model server, or correct the address (--base-url)"],
  ["a host that is unknown", "http://nowhere.invalid", "check the address (--base-url) and the network"],
])("a model server where %s", async (_, url, remedy) => {
  const { code, stderr } = await run(["-p", "hi", "--provider", "local", "--base-url", url], { env: home() });
  expect([code, stderr]).toEqual([1, expect.stringContaining(remedy)]);
});

test("a port that is taken", async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  const port = typeof address === "object" ? address?.port : undefined;
  expect(await run(["serve", "--ws", `127.0.0.1:${port}`])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("choose another port, or 0 for a free one"),
  });
});

test.each([
  ["keeping a session", ["-p", "say hi"]],
  ["trusting a folder", ["trust"]],
])("a home that cannot be made, for %s", async (_, args) => {
  const folder = scratch();
  writeFileSync(join(folder, "file"), "");
  const { code, stderr } = await run(args, { env: { PARLEY_HOME: join(folder, "file/home") } });
  expect([code, stderr]).toEqual([1, expect.stringContaining("set PARLEY_HOME to a folder")]);
  expect(stderr).not.toMatch(/^\s+at /m);
});
