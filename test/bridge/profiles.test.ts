/** The ready-made profiles, each with a program under the name of its own that behaves as the real one was seen to. */
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { delimiter, join } from "node:path";
import { describe, expect, test } from "vitest";
import { fixture } from "../support/processes.js";
import { Bench, sh, told, type Ran } from "./harness.js";

/** A bench on whose PATH a script is the program of that name. It notes the words and the variables of each start. */
class ProgramBench extends Bench {
  readonly #name: string;

  constructor(name: string, script: string) {
    super("");
    this.#name = name;
    mkdirSync(join(this.folder, "bin"));
    const notes = join(this.folder, "starts");
    this.write(join("bin", name), sh(`{ echo "$*"; env; echo; } >> '${notes}'\n${script}`));
    this.env["PATH"] = `${join(this.folder, "bin")}${delimiter}${this.env["PATH"] ?? ""}`;
  }

  async says(message: string, flags: readonly string[] = []): Promise<Ran> {
    const program = this.start(["run", this.#name, "--message", message, "--json", ...flags]);
    program.stdin.end();
    const ran = await told(program);
    await this.processes.gone();
    return ran;
  }

  /** The words and the variables of each start. */
  get starts(): { words: string; variables: string[] }[] {
    return readFileSync(join(this.folder, "starts"), "utf8")
      .split("\n\n")
      .filter((block) => block !== "")
      .map((block) => {
        const [words = "", ...variables] = block.split("\n");
        return { words, variables };
      });
  }
}

const node = (name: string, ...words: string[]): string => `exec '${process.execPath}' '${fixture(name)}' ${words.join(" ")} "$@"`;

describe.each([
  ["claude", node("claude.mjs", "ready"), "run echo hi", "--resume"],
  ["codex", node("codex.mjs", "ready"), "shell", "app-server"],
  ["opencode", `ACP_SESSIONS="$HOME/sessions.json"; export ACP_SESSIONS; ${node("acp-agent.mjs")}`, "run it", "acp"],
  ["qwen", node("qwen-shipped.mjs", "0.24", "ready"), "ask", "--resume"],
])("the profile %s", (name, script, order, word) => {
  test("asks before the agent acts, denies when nobody answers, and goes on with its session", async () => {
    const bench = new ProgramBench(name, script);
    const first = await bench.says("hello there");
    const { session_id } = first.result;
    expect(first.result.exit_code).toBe(0);
    expect(session_id).not.toBe("");
    const asked = await bench.says(order);
    expect(asked.lines.filter(({ type }) => type === "permission_request")).toHaveLength(1);
    expect(asked.result).toMatchObject({ exit_code: 0, session_id });
    const allowed = await bench.says(order, ["--permission", "allow"]);
    expect(allowed.result).toMatchObject({ exit_code: 0, session_id });
    expect(asked.stderr).not.toContain("a new one begins");
    expect(bench.starts.at(-1)?.words.split(" ")).toContain(word);
  });
});

test("the profile opencode tells the program to ask, whatever the bridge's own environment says", async () => {
  const bench = new ProgramBench("opencode", node("acp-agent.mjs"));
  bench.env["OPENCODE_PERMISSION"] = '{"bash":"allow"}';
  await bench.says("hello");
  expect(bench.starts[0]?.variables).toContain('OPENCODE_PERMISSION={"bash":"ask","edit":"ask","webfetch":"ask"}');
});

test("the profile codex hands on the key that Codex sends, and no other", async () => {
  const bench = new ProgramBench("codex", node("codex.mjs", "ready"));
  Object.assign(bench.env, { CODEX_API_KEY: "k1", OPENAI_API_KEY: "k2" });
  await bench.says("hello");
  const variables = bench.starts[0]?.variables ?? [];
  expect(variables).toContain("CODEX_API_KEY=k1");
  expect(variables.join("\n")).not.toContain("k2");
});

/** Answers from the standard input, and remembers the number of its turns in a file of the session's name. */
const GEMINI = `
id=11111111-2222-4333-8444-555555555555
case "$*" in *--resume*) [ -e "$HOME/kept" ] || { echo 'Error resuming session: Invalid session identifier' >&2; exit 42; };; esac
said=$(cat)
echo '{"type":"init","timestamp":"t","session_id":"'$id'","model":"m"}'
echo '{"type":"message","timestamp":"t","role":"user","content":"x"}'
case "$said" in *fail*)
  echo '{"type":"result","timestamp":"t","status":"error","error":{"type":"unknown","message":"no such model"},"stats":{"input":0,"output_tokens":0,"cached":0}}'; exit 144;;
esac
touch "$HOME/kept"
echo '{"type":"tool_use","timestamp":"t","tool_name":"read_file","tool_id":"r","parameters":{}}'
echo '{"type":"error","timestamp":"t","severity":"warning","message":"careful"}'
echo '{"type":"message","timestamp":"t","role":"assistant","content":"you said ","delta":true}'
printf '{"type":"message","timestamp":"t","role":"assistant","content":"%s","delta":true}\\n' "$said"
echo '{"type":"result","timestamp":"t","status":"success","stats":{"total_tokens":120,"input_tokens":100,"output_tokens":20,"cached":40,"input":60}}'
`;

describe("the profile gemini", () => {
  const ID = "11111111-2222-4333-8444-555555555555";

  test("goes on with its session by --resume, gets the message on its input, and gives the program no mode that acts unasked", async () => {
    const bench = new ProgramBench("gemini", GEMINI);
    const first = await bench.says("--help me");
    expect(first.partials.join("")).toBe("you said --help me");
    expect(first.result).toMatchObject({ session_id: ID, usage: { input_tokens: 60, output_tokens: 20, cache_read_input_tokens: 40 } });
    expect(first.stderr).toContain("careful");
    await bench.says("again");
    expect(bench.starts.map(({ words }) => words)).toEqual(["--output-format stream-json", `--output-format stream-json --resume ${ID}`]);
  });

  test("hands on the base URL, the model and the trust of the folder", async () => {
    const bench = new ProgramBench("gemini", GEMINI);
    const given = { GOOGLE_GEMINI_BASE_URL: "http://127.0.0.1:1", GEMINI_MODEL: "m", GEMINI_CLI_TRUST_WORKSPACE: "true" };
    Object.assign(bench.env, given);
    await bench.says("hi");
    for (const [name, value] of Object.entries(given)) expect(bench.starts[0]?.variables).toContain(`${name}=${value}`);
  });

  test("tells the program's own words of a turn that failed, and keeps the session", async () => {
    const bench = new ProgramBench("gemini", GEMINI);
    await bench.says("hi");
    expect((await bench.says("fail")).result).toMatchObject({ exit_code: 1, error: "no such model", session_id: ID });
  });

  test("begins a new session where the program has lost the old one", async () => {
    const bench = new ProgramBench("gemini", GEMINI);
    await bench.says("hi");
    rmSync(join(bench.folder, "kept"));
    const { result, stderr } = await bench.says("hi again");
    expect(result).toMatchObject({ exit_code: 0 });
    expect(stderr).toContain("Invalid session identifier");
    expect(stderr).toContain("a new one begins");
  });
});

const assistant = (more: string): string =>
  `{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"hello"}],"usage":{"input":11,"output":7,"cacheRead":3,"cacheWrite":0},${more}}`;

/** The first attempt fails, and the second one answers, or fails too. */
const PI = `
said=$(cat)
echo '{"type":"session","version":3,"id":"01a1f5cf","timestamp":"t","cwd":"/ws"}'
echo '{"type":"agent_start"}'
echo '{"type":"agent_end","messages":[${assistant('"stopReason":"error","errorMessage":"busy"')}],"willRetry":true}'
case "$said" in *fail*)
  echo '{"type":"agent_end","messages":[${assistant('"stopReason":"error","errorMessage":"no such model"')}],"willRetry":false}'; echo '{"type":"agent_settled"}'; exit 1;;
esac
echo '{"type":"message_update","assistantMessageEvent":{"type":"thinking_delta","contentIndex":0,"delta":"hm"}}'
echo '{"type":"message_update","assistantMessageEvent":{"type":"text_delta","contentIndex":1,"delta":"hel"}}'
echo '{"type":"message_update","assistantMessageEvent":{"type":"text_delta","contentIndex":1,"delta":"lo"}}'
echo '{"type":"message_end","message":${assistant('"stopReason":"stop"')}}'
echo '{"type":"agent_end","messages":[${assistant('"stopReason":"stop"')}],"willRetry":false}'
`;

describe("the profile pi", () => {
  const ONLY_READS = "--print --mode json --tools read,grep,find,ls --no-extensions --no-skills --no-prompt-templates --no-approve";

  test("goes on with its session, and gives the program nothing that writes or runs", async () => {
    const bench = new ProgramBench("pi", PI);
    const { lines, result } = await bench.says("hi");
    expect(lines.slice(0, 3)).toEqual([
      { type: "partial", text: "hm", role: "thinking" },
      { type: "partial", text: "hel", role: "output" },
      { type: "partial", text: "lo", role: "output" },
    ]);
    expect(result).toMatchObject({ session_id: "01a1f5cf", usage: { input_tokens: 11, output_tokens: 7, cache_read_input_tokens: 3 } });
    await bench.says("hi again");
    expect(bench.starts.map(({ words }) => words)).toEqual([ONLY_READS, `${ONLY_READS} --session 01a1f5cf`]);
  });

  test("tells what failed at last, and not what was tried again", async () => {
    const { result } = await new ProgramBench("pi", PI).says("fail");
    expect(result).toMatchObject({ exit_code: 1, error: "no such model" });
  });
});

test("a profile of one's own reads the whole text of such a program where nothing is streamed", async () => {
  const bench = new Bench(sh(PI), { output: "pi", stdin: "message", streaming: false });
  const { partials, result } = await bench.turn("hi");
  expect([partials, result.reply, result.session_id]).toEqual([[], "hello", "01a1f5cf"]);
});

test("an output goes with no protocol that says all itself", async () => {
  const { code, stdout } = await new Bench("", { output: "pi", protocol: "0.4" }).plain(["check", "PROFILE", "--json"]);
  expect([code, stdout]).toEqual([1, expect.stringContaining("'output: pi' goes with protocol 0.1 alone")]);
});
