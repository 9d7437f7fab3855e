/** A file that is opened too many is what a start and a first turn cost: how many of the build's files a process loads, as V8 tells it. */
import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import * as v from "valibot";
import { expect, test } from "vitest";
import { modelServer } from "../support/model-server.js";
import { scratch, start } from "./harness.js";

const Coverage = v.object({ result: v.array(v.object({ url: v.string() })) });

test("a first turn loads what every turn needs in one file, and what its provider needs in another", async () => {
  const server = await modelServer("local", [{ text: ["hi"] }]);
  const told = scratch();
  const host = start({ provider: "local", args: ["--base-url", server.url, "--model", "m"], env: { NODE_V8_COVERAGE: told } });
  await host.open();
  host.prompt("say hi");
  await host.turnEnded();
  host.child.stdin.end();
  expect(await host.exited).toEqual({ code: 0, signal: null });

  expect(loaded(told)).toEqual(["dist.js", "main.js", "native.js", "parley.js", "rolldown-runtime.js", "rules.js", "start.js", "turn.js"]);
});

/** The names of the build's files, without their hashes. */
function loaded(folder: string): string[] {
  const scripts = readdirSync(folder).flatMap((file) => v.parse(Coverage, JSON.parse(readFileSync(join(folder, file), "utf8"))).result);
  const ours = scripts.map(({ url }) => url).filter((url) => url.includes("/dist/"));
  return ours.map((url) => basename(url).replace(/-[\w-]{8}\.js$/, ".js")).sort();
}
