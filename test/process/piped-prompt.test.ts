/** One prompt whose other half comes through a pipe: what the model is told, and what a pipe that nobody ends costs. */
import { spawn, spawnSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { environment, PARLEY, run, scratch, script } from "./harness.js";

/** The words of a model that answers only when it was told this. */
const told = (lastUser: string): string[] => [
  "--provider",
  "rehearsal",
  "--model",
  script([{ expect: { lastUser }, say: "As expected." }]),
];
const asExpected = { code: 0, stdout: expect.stringContaining("As expected.") };

describe("what is piped to parley -p TEXT", () => {
  it.each([[[]], [["--output-format", "json"]], [["--output-format", "stream-json"]]])(
    "is told to the model behind the text, fenced and named (%j)",
    async (format) => {
      const args = told("/^sum this up\\n\\n```stdin\\nbuy milk\\nand bread\\n```$/");
      expect(await run(["-p", "sum this up", ...args, ...format], { input: "buy milk\nand bread\n" })).toMatchObject(asExpected);
    },
  );

  it("is told as well when the text is an argument without -p, and when it is a file", () => {
    const notes = join(scratch({ "notes.txt": "buy milk" }), "notes.txt");
    const words = [...told("/^sum this up\\n\\n```stdin\\nbuy milk\\n```$/"), "sum this up"].map((word) => `'${word}'`).join(" ");
    const { status, stdout } = spawnSync("sh", ["-c", `'${process.execPath}' '${PARLEY}' ${words} < '${notes}'`], {
      cwd: scratch(),
      env: environment(),
      encoding: "utf8",
    });
    expect({ code: status, stdout }).toMatchObject(asExpected);
  });

  it("cannot end its own fence", async () => {
    const args = told("/^look\\n\\n`````stdin\\n````\\nmine\\n`````$/");
    expect(await run(["-p", "look", ...args], { input: "````\nmine" })).toMatchObject(asExpected);
  });

  it("attaches no file that it mentions", async () => {
    const cwd = scratch({ "plum.txt": "a plum\n" });
    const args = told("/^look\\n\\n```stdin\\n@plum.txt\\n```$/");
    expect(await run(["-p", "look", ...args, "--output-format", "stream-json"], { cwd, input: "@plum.txt" })).toMatchObject(asExpected);
  });

  it.each(["", " \n"])("adds nothing when it is %j", async (input) => {
    expect(await run(["-p", "look", ...told("/^look$/")], { input })).toMatchObject(asExpected);
  });

  it("is waited for, though whoever writes it takes longer than a program that writes nothing", () => {
    const words = ["-p", "look", ...told("late words")].map((word) => `'${word}'`).join(" ");
    const { status, stdout } = spawnSync("sh", ["-c", `{ sleep 4; echo late words; } | '${process.execPath}' '${PARLEY}' ${words}`], {
      cwd: scratch(),
      env: environment(),
      encoding: "utf8",
    });
    expect({ code: status, stdout }).toMatchObject(asExpected);
  });

  it("is not waited for for ever: without a first byte the prompt goes on, and says so", async () => {
    const child = spawn(process.execPath, [PARLEY, "-p", "look", ...told("/^look$/")], { cwd: scratch(), env: environment() });
    const output = { stdout: "", stderr: "" };
    child.stdout.on("data", (text: Buffer) => (output.stdout += text.toString()));
    child.stderr.on("data", (text: Buffer) => (output.stderr += text.toString()));
    const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
    expect({ code, ...output }).toMatchObject({ ...asExpected, stderr: expect.stringContaining("Nothing came on stdin") });
  });

  it("is refused as wrong usage when it is longer than 8 MiB, as prompt and as part of one", async () => {
    for (const args of [["-p", "look"], ["-p"]]) {
      const { code, stderr } = await run([...args, "--provider", "rehearsal"], { input: "a".repeat(8 * 2 ** 20 + 1) });
      expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining("more than 8 MiB came on stdin") });
    }
  });
});
