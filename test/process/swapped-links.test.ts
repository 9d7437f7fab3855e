/** A folder is swapped for a link to elsewhere and back while the file tools run: they use what was judged, or fail. */
import { mkdirSync, readdirSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { outputText } from "../extensions/mcp-harness.js";
import { swapping } from "../support/swapping.js";
import { scratch, start } from "./harness.js";

const ROUNDS = 4;
const CALLS = 50;

test("nothing outside is written, read or found, as often as it is tried", async () => {
  const [cwd, outside] = [realpathSync(scratch()), scratch({ file: "elsewhere" })];
  mkdirSync(join(cwd, "a/folder"), { recursive: true });
  writeFileSync(join(cwd, "a/folder/file"), "within");
  const host = start({ cwd, responses: [{ say: "ok" }], then: "repeat" });
  await host.open({ mode: "auto_edit", answerSeconds: 0.01 });
  await swapping(join(cwd, "a/folder"), outside);
  for (let round = 1; round <= ROUNDS; round++) {
    const calls = Array.from({ length: CALLS }, (_, at) => [
      { id: `w${round}-${at}`, name: "Write", args: { file_path: `a/folder/new${at % 9}`, content: "written" } },
      { id: `r${round}-${at}`, name: "Read", args: { file_path: "a/folder/file" } },
      ...(at % 10 === 0 ? [{ id: `g${round}-${at}`, name: "Grep", args: { pattern: "e", path: "a/folder" } }] : []),
    ]).flat();
    host.send({ type: "turn.prompt", session: "s", parts: [], calls });
    await host.turnEnded(round);
  }
  expect(readdirSync(outside)).toEqual(["file"]);
  expect(
    host
      .ofType("tool.ended")
      .map(outputText)
      .filter((text) => text.includes("elsewhere")),
  ).toEqual([]);
  expect(await host.finish()).toBe(0);
});
