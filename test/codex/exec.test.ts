/** The launcher `codex` with the command line of `codex exec`: its commands, flags, variables and exit codes. */
import { spawn } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import * as v from "valibot";
import { ExecRecord } from "../../src/dialects/codex/wire/exec.js";
import { environment, scratch } from "../process/harness.js";
import { launchers } from "../support/launchers.js";
import { modelServer, type ModelServer, type Reply } from "../support/model-server.js";

interface Bench {
  server: ModelServer;
  cwd: string;
  /** Runs the launcher to its end, with the model's address and key as Codex takes them. */
  codex(...args: string[]): Promise<Ran>;
}

interface Ran {
  records: ExecRecord[];
  stdout: string;
  stderr: string;
  code: number | null;
}

async function bench(replies: readonly Reply[]): Promise<Bench> {
  const server = await modelServer("openai-chat", replies);
  const [folder, cwd, home] = [await launchers(), scratch(), scratch()];
  const flags = ["--config", `openai_base_url="${server.url}/v1"`, "--model", "gpt-5.1", "--skip-git-repo-check"];
  return {
    server,
    cwd,
    async codex(...args) {
      const [command = "", ...rest] = args;
      const env = environment({ CODEX_API_KEY: server.key, PARLEY_HOME: home });
      const words = command === "exec" || command === "e" ? [command, ...flags, ...rest] : args;
      const child = spawn(join(folder, "codex"), words, { cwd, env });
      child.stdin.end();
      const [stdout = "", stderr = ""] = await Promise.all(
        [child.stdout, child.stderr].map(async (stream) => {
          let text = "";
          for await (const chunk of stream.setEncoding("utf8")) text += String(chunk);
          return text;
        }),
      );
      const code = await new Promise<number | null>((resolve) => {
        if (child.exitCode === null) child.once("close", resolve);
        else resolve(child.exitCode);
      });
      const lines = stdout.split("\n").filter((line) => line.startsWith("{"));
      return { records: lines.map((line) => v.parse(ExecRecord, JSON.parse(line))), stdout, stderr, code };
    },
  };
}

const idOf = ({ records: [first] }: Ran): string => (first?.type === "thread.started" ? first.thread_id : "");
const answerOf = ({ records }: Ran): string[] =>
  records.flatMap((record) => (record.type === "item.completed" && record.item.type === "agent_message" ? [record.item.text] : []));

describe("a thread", () => {
  it("is gone on with by its id, whether the flags stand before or behind the command", async () => {
    const { codex, server } = await bench([{ text: ["one"] }, { text: ["two"] }, { text: ["three"] }, { text: ["four"] }]);
    const first = await codex("exec", "--json", "the word is heron");
    const id = idOf(first);
    const ran = [await codex("exec", "resume", "--json", id, "again"), await codex("e", "--json", "resume", id, "and again")];
    expect(ran.map((each) => [idOf(each), ...answerOf(each), each.code])).toEqual([
      [id, "two", 0],
      [id, "three", 0],
    ]);
    expect(answerOf(await codex("exec", "resume", "--last", "--json", "the last"))).toEqual(["four"]);
    expect(JSON.stringify(server.requests[3]?.body)).toMatch(/heron.*and again.*the last/s);
  });

  it("is copied under a name of its own", async () => {
    const { codex, server } = await bench([{ text: ["one"] }, { text: ["two"] }]);
    const id = idOf(await codex("exec", "--json", "the word is heron"));
    const copy = await codex("exec", "fork", "--json", id, "go on");
    expect(copy).toMatchObject({ code: 0, records: [{ type: "thread.started" }, {}, {}, { type: "turn.completed" }] });
    expect(idOf(copy)).not.toBe(id);
    expect(JSON.stringify(server.requests[1]?.body)).toContain("heron");
  });

  it("that is not stored is told on stderr, and nothing begins", async () => {
    const { codex } = await bench([]);
    const { stdout, stderr, code } = await codex("exec", "--json", "resume", "01JUNKNOWN0000000000000000", "hi");
    expect([stdout, code]).toEqual(["", 1]);
    expect(stderr).toContain("01JUNKNOWN0000000000000000");
  });
});

it("pictures come one by one or in one list", async () => {
  const { codex, server, cwd } = await bench([{ text: ["two dots"] }]);
  const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
  const [one, two] = ["one.png", "two.png"].map((name) => join(cwd, name));
  for (const file of [one, two]) writeFileSync(file ?? "", Buffer.from(png, "base64"));
  expect(await codex("exec", "--json", "-i", `${one},${two}`, "--", "what is this")).toMatchObject({ code: 0 });
  expect(JSON.stringify(server.requests[0]?.body).match(/data:image\/png;base64,/g)).toHaveLength(2);
});

it.each([
  [["--sandbox", "danger-full-access"], true],
  [["--dangerously-bypass-approvals-and-sandbox"], true],
  [["-c", 'sandbox_mode="danger-full-access"'], true],
  [["--sandbox", "read-only"], false],
  [[], false],
])("%j says what runs unasked", async (flags, runs) => {
  const { codex, cwd } = await bench([{ calls: [{ name: "Bash", args: { command: "touch made" } }] }, { text: ["ok"] }]);
  expect(await codex("exec", "--json", ...flags, "go")).toMatchObject({ code: 0 });
  expect(existsSync(join(cwd, "made"))).toBe(runs);
});

it("without --json the answer alone is on stdout; a failure is on stderr, and exit 1", async () => {
  const { codex } = await bench([{ text: ["Hello"] }, { error: { status: 400, message: "no such thing" } }]);
  expect(await codex("exec", "hi")).toMatchObject({ stdout: "Hello\n", code: 0 });
  expect(await codex("exec", "hi")).toMatchObject({ stdout: "", stderr: expect.stringContaining("no such thing"), code: 1 });
});

it.each([
  [["exec", "--bogus"], "Unknown flag '--bogus'"],
  [["exec", "--json", "--sandbox", "none", "hi"], "--sandbox must be one of read-only, workspace-write, danger-full-access"],
  [["exec", "review"], "'codex exec review' is not served here"],
  [["cloud", "list"], "'codex cloud' is not served here"],
])("%j is wrong usage, exit 2", async (args, words) => {
  const { codex } = await bench([]);
  expect(await codex(...args)).toMatchObject({ stdout: "", stderr: expect.stringContaining(words), code: 2 });
});

describe("the last message", () => {
  it("goes into the file of -o, of text and of lines, without a line break of its own", async () => {
    const { codex, cwd } = await bench([
      { text: ["I look."], calls: [{ name: "Glob", args: { pattern: "*" } }] },
      { text: ["It is ", "done."] },
      { text: ["As lines."] },
    ]);
    const last = (): string => readFileSync(join(cwd, "last.txt"), "utf8");
    expect(await codex("exec", "-o", "last.txt", "go")).toMatchObject({ code: 0 });
    expect(last()).toBe("It is done.");
    const ran = await codex("exec", "--json", "--output-last-message=last.txt", "go");
    expect([ran.code, answerOf(ran), last()]).toEqual([0, ["As lines."], "As lines."]);
  });

  it("is left as it was by a turn that fails, and a file that cannot be written is told and fails nothing", async () => {
    const { codex, cwd } = await bench([{ error: { status: 400 } }, { text: ["Hello"] }]);
    writeFileSync(join(cwd, "last.txt"), "before");
    expect(await codex("exec", "--json", "-o", "last.txt", "go")).toMatchObject({ code: 1 });
    expect(readFileSync(join(cwd, "last.txt"), "utf8")).toBe("before");
    const ran = await codex("exec", "-o", join("nowhere", "last.txt"), "go");
    expect([ran.code, ran.stdout]).toEqual([0, "Hello\n"]);
    expect(ran.stderr).toContain("the last message could not be written");
  });
});
