/** Files that go with one prompt: `@file`, `--file` and `--image`, under every output. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { run, scratch, script } from "../process/harness.js";
import { modelServer } from "../support/model-server.js";

const PNG = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64");
/** The words of a model that answers only when it was told this. */
const told = (lastUser: string): string[] => [
  "--provider",
  "rehearsal",
  "--model",
  script([{ expect: { lastUser }, say: "As expected." }]),
];
const asExpected = { code: 0, stdout: expect.stringContaining("As expected.") };
const OUTPUTS = [[[]], [["--json"]], [["--events"]], [["-o", "json"]], [["-o", "stream-json"]]];

describe("@file", () => {
  test.each(OUTPUTS)("attaches that file (%j)", async (output) => {
    const cwd = scratch({ "plum.txt": "a plum\n", "my notes.md": "a pear\n" });
    const args = ["-p", 'sum up @plum.txt, and @"my notes.md".', ...told("/sum up.*a plum.*a pear/s"), ...output];
    expect(await run(args, { cwd })).toMatchObject(asExpected);
  });

  test.each(OUTPUTS)("that is not there is wrong usage, and no model is asked (%j)", async (output) => {
    const { code, stderr } = await run(["-p", "sum up @nothere.txt", ...told("never"), ...output]);
    const isQwens = output[0] === "-o";
    expect([code, stderr]).toEqual([isQwens ? 42 : 2, expect.stringContaining("There is no file 'nothere.txt'")]);
  });

  test("may be a folder, a glob, or a file with punctuation behind it", async () => {
    const cwd = scratch({ "a.md": "alpha\n", "b.md": "beta\n" });
    mkdirSync(join(cwd, "sub"));
    writeFileSync(join(cwd, "sub/deep.txt"), "deep");
    expect(await run(["-p", "look at (@sub), @*.md; and @a.md!", ...told("/deep\\.txt.*alpha.*beta/s")], { cwd })).toMatchObject(
      asExpected,
    );
  });

  test("behind a backslash, within a word or in what is piped is just text", async () => {
    const args = ["-p", "ask \\@ann or ann@example.org", ...told("/ask .@ann or ann@example.org\\n\\n```stdin\\n@bob\\n```$/")];
    expect(await run(args, { input: "@bob" })).toMatchObject(asExpected);
    expect(await run(["-p", ...told("/^@bob$/")], { input: "@bob" })).toMatchObject(asExpected);
  });

  test.each([
    ["--dialect", "qwen-shipped", "-o", "json"],
    ["--dialect", "claude", "--output-format", "json"],
  ])("that is not there is just text in another program's command line (%s %s)", async (...output) => {
    expect(await run(["-p", "ask @ann", ...told("/^ask @ann/"), ...output])).toMatchObject(asExpected);
  });

  test("of a stored session is looked for in that session's folder", async () => {
    const home = scratch();
    const cwd = scratch({ "plum.txt": "a plum\n" });
    const env = { PARLEY_HOME: home };
    const { stdout } = await run(["-p", "say hi", "--json"], { cwd, env });
    const { sessionId }: { sessionId: string } = JSON.parse(stdout);
    const again = ["-p", "sum up @plum.txt", "--resume", sessionId, ...told("a plum")];
    expect(await run(again, { env })).toMatchObject(asExpected);
    const wrong = await run(["-p", "sum up @pear.txt", "--resume", sessionId], { env });
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining("'pear.txt'")]);
  });
});

describe("--file and --image", () => {
  test.each(OUTPUTS)("attach files, repeated, wherever they lie (%j)", async (output) => {
    const elsewhere = scratch({ "a.txt": "alpha", "b.txt": "beta" });
    const files = ["--file", join(elsewhere, "a.txt"), "--file", join(elsewhere, "b.txt")];
    expect(await run(["-p", "go", ...files, ...told("/^go.*alpha.*beta/s"), ...output])).toMatchObject(asExpected);
  });

  test.each(OUTPUTS)("show the model a picture (%j)", async (output) => {
    const server = await modelServer("anthropic", [{ text: ["a dot"] }]);
    const cwd = scratch();
    writeFileSync(join(cwd, "dot.png"), PNG);
    const env = { ANTHROPIC_API_KEY: server.key, ANTHROPIC_BASE_URL: server.url };
    const { code } = await run(["-p", "what is it", "--image", "dot.png", "--provider", "anthropic", ...output], { cwd, env });
    expect(code).toBe(0);
    expect(JSON.stringify(server.requests[0]?.body)).toContain(PNG.toString("base64"));
  });

  test.each([
    [["--file", "nothere"], "--file 'nothere' cannot be read: no such file"],
    [["--image", "nothere"], "--image 'nothere' cannot be read: no such file"],
    [["--image", "a.txt"], "is no PNG, JPEG, GIF or WebP picture"],
    [["--image", "."], "--image '.' cannot be read: it is a folder"],
  ])("%j is wrong usage", async (flags, why) => {
    const { code, stderr } = await run(["-p", "go", ...flags], { cwd: scratch({ "a.txt": "alpha" }) });
    expect([code, stderr]).toEqual([2, expect.stringContaining(why)]);
  });

  test("need a prompt that they can go with", async () => {
    const { code, stderr } = await run(["--file", "x", "--input-format", "stream-json", "--output-format", "stream-json"]);
    expect([code, stderr]).toEqual([42, expect.stringContaining("--file goes with one prompt")]);
  });
});
