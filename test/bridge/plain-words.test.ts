/** A message is words to every agent: what it names is not attached, and what begins as a command does is none. */
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { script } from "../process/harness.js";
import { Bench, node } from "./harness.js";

const PARLEY = join(import.meta.dirname, "../../dist/parley.js");
const OWN = { command: process.execPath, env: { PARLEY_HOME: "${PARLEY_HOME}" }, protocol: "0.4" };

/** Agents that expand what their own users write, and others. */
const AGENTS = {
  native: ["serve", "--dialect", "native"],
  aionrs: [],
  "aionrs@0.2": ["--dialect", "aionrs@0.2"],
  wayland: ["--dialect", "wayland"],
  qwen: [],
  "qwen-shipped": [],
};

describe.each(Object.entries(AGENTS))("an agent of %s", (dialect, flags) => {
  test("gets the words of a message, and neither the file that they name nor a command", async () => {
    const started = (words: string): Bench => {
      // The whole prompt, and nothing behind it.
      const model = script([{ expect: { lastUser: `/^${words}$/` }, say: "only words" }]);
      const bench = new Bench("", { ...OWN, dialect, args: [PARLEY, ...flags, "--provider", "rehearsal", "--model", model] });
      bench.write("secret.txt", "hunter2");
      return bench;
    };
    const said = async (bench: Bench, message: string): Promise<unknown> => {
      const { partials, result, error } = await bench.turn(message);
      return error ?? partials.join("") + result.reply;
    };
    const mentioning = started(String.raw`see \\?@secret\.txt, \\?@"secret\.txt" and me\\?@secret\.txt`);
    expect(await said(mentioning, 'see @secret.txt, @"secret.txt" and me@secret.txt')).toBe("only words");
    expect(await said(started("\u200b?/help"), "/help")).toBe("only words");
  });
});

/** Prints what came in each of the ways in which a message can come. */
const TELLS = node(`
  let text = "";
  process.stdin.on("data", (piece) => (text += piece)).on("end", () => {
    console.log(JSON.stringify([text, process.env.AGENT_MESSAGE, process.argv[2]]));
  });`);

test.each([
  ["a program that says what it expands", { expands: ["mentions", "commands"] }, "\u200b/read \\@a.txt"],
  ["one that says so of mentions alone", { expands: ["mentions"] }, "/read \\@a.txt"],
  ["one of which nobody says so", {}, "/read @a.txt"],
])("%s gets the words in every way that a message can come", async (_, keys, expected) => {
  const bench = new Bench(TELLS, { protocol: "0.1", stdin: "message", args: ["{{MESSAGE}}"], ...keys });
  const { result } = await bench.turn("/read @a.txt");
  expect(JSON.parse(result.reply)).toEqual([expected, expected, expected]);
});

test("a program that is known to expand is kept from it, unless its profile says otherwise; check tells which", async () => {
  const bench = new Bench("", {});
  const program = bench.write("claude", TELLS);
  const profile = { command: program, protocol: "0.1", stdin: "message", args: ["-p"] };
  const known = new Bench("", profile);
  expect(JSON.parse((await known.turn("/read @a.txt")).result.reply)).toEqual(["\u200b/read \\@a.txt", "\u200b/read \\@a.txt", "-p"]);
  expect((await known.plain(["check", "PROFILE"])).stdout).toContain(
    "expands  mentions and commands; a message is written so that it does not",
  );
  const open = new Bench("", { ...profile, expands: [] });
  expect(JSON.parse((await open.turn("/read @a.txt")).result.reply)).toEqual(["/read @a.txt", "/read @a.txt", "-p"]);
  expect((await open.plain(["check", "PROFILE"])).stdout).not.toContain("expands");
});

test("what is no expansion is told with its place", async () => {
  const { code, stderr } = await new Bench("", { expands: ["shell"] }).plain(["check", "PROFILE"]);
  expect([code, stderr]).toEqual([1, expect.stringMatching(/profile\.yaml:\d+:\d+: expands\.0 must be mentions or commands, not 'shell'/)]);
});
