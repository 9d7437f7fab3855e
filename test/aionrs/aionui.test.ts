/** AionUi, step by step as that host goes about it: how it starts an `aionrs`, talks to it, answers it and stops it. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { environment, scratch, script } from "../process/harness.js";
import { JsonProgram, type Line } from "../support/json-program.js";
import { launchers } from "../support/launchers.js";

const Request = v.object({
  call_id: v.string(),
  tool: v.object({ name: v.string(), category: v.string(), description: v.string(), args: v.record(v.string(), v.unknown()) }),
});

interface Settings {
  aionrs: string;
  cwd: string;
  home: string;
  model: string;
  /** What it calls the words of a message: its first version one, its later ones the other. */
  text: "input" | "content";
  /** Options of this test alone. */
  extra?: string[];
}

class AionUi {
  readonly program: JsonProgram;
  /** "yolo" answers everything itself; "auto_edit" what reads and edits. */
  mode: "default" | "auto_edit" | "yolo" = "default";
  /** What its user said "always" to: the first word of a command, or a category. */
  readonly always = new Set<string>();
  readonly confirmations: string[] = [];
  readonly #text: Settings["text"];

  private constructor(program: JsonProgram, text: Settings["text"]) {
    this.program = program;
    this.#text = text;
    program.onLine = (line) => this.#onLine(line);
  }

  /** A conversation with messages is resumed; if that fails it is begun anew under the same id. */
  static async start(settings: Settings, conversation: string, hasMessages: boolean): Promise<AionUi> {
    const resumed = hasMessages ? await AionUi.#spawn(settings, ["--resume", conversation]) : undefined;
    const host = resumed ?? (await AionUi.#spawn(settings, ["--session-id", conversation]));
    if (host === undefined) throw new Error("aionrs exited before it was ready");
    if (resumed === undefined) host.program.send({ type: "init_history", text: "[Assistant System Rules]\nAnswer like a heron." });
    return host;
  }

  /** Needs ready; an exit before it is a start error. */
  static async #spawn({ aionrs, cwd, home, model, text, extra = [] }: Settings, session: string[]): Promise<AionUi | undefined> {
    const flags = ["--provider", "rehearsal", "--model", model, "--max-tokens", "8192", "--max-turns", "30"];
    const argv = [aionrs, "--json-stream", ...flags, ...session, ...extra];
    const host = new AionUi(new JsonProgram(argv, { cwd, env: environment({ PARLEY_HOME: home }) }), text);
    const ready = await host.program.next(({ type }) => type === "ready");
    return ready === undefined ? undefined : host;
  }

  send(msg_id: string, words: string): void {
    this.program.send({ type: "message", msg_id, [this.#text]: words });
  }

  async finished(msg_id: string): Promise<string> {
    expect(await this.program.next((line) => line.type === "stream_end" && line["msg_id"] === msg_id), this.program.stderr).toBeDefined();
    return this.words(msg_id);
  }

  words(msg_id: string): string {
    return this.program.heard
      .flatMap((line) => (line.type === "text_delta" && line["msg_id"] === msg_id ? [String(line["text"])] : []))
      .join("");
  }

  /** The last messages go along, so that they are not lost. */
  stop(): void {
    this.program.send({ type: "init_history", text: "User: hello\nAssistant: Hi" });
    this.program.send({ type: "stop" });
  }

  errors(): Line[] {
    return this.program.heard.filter(({ type }) => type === "error");
  }

  async kill(): Promise<number | null> {
    this.program.child.kill("SIGTERM");
    return (await this.program.exited).code;
  }

  /** What it does not know it ignores. */
  #onLine(line: Line): void {
    if (line.type !== "tool_request") return;
    const { call_id, tool } = v.parse(Request, line);
    const known = this.always.has(keyOf(tool));
    const own = this.mode === "yolo" || (this.mode === "auto_edit" && ["edit", "info"].includes(tool.category));
    if (known || own) return this.program.send({ type: "tool_approve", call_id, scope: "once" });
    this.confirmations.push(call_id);
  }
}

function keyOf({ category, args }: { category: string; args: Record<string, unknown> }): string {
  const command = args["command"];
  return category === "exec" && typeof command === "string" ? `exec:${command.split(" ")[0] ?? ""}` : category;
}

const bash = (command: string, id: string) => ({ tool: "Bash", args: { command }, id });
const write = (file: string, id: string) => ({ tool: "Write", args: { file_path: file, content: "x" }, id });

describe.each([
  ["its first version, with aionrs 0.1", "input", []],
  ["its later versions, with aionrs 0.1", "content", []],
  ["its later versions, with aionrs 0.2", "content", ["--dialect", "aionrs@0.2"]],
] as const)("%s", (_name, text, extra) => {
  async function settings(responses: unknown[]): Promise<Settings> {
    return {
      aionrs: join(await launchers(), "aionrs"),
      cwd: scratch(),
      home: scratch(),
      model: script(responses),
      text,
      extra: [...extra],
    };
  }

  it("starts a conversation, gives its rules, and resumes it later under the same id", async () => {
    const first = await settings([{ expect: { messages: 3, lastUser: "hello" }, say: "Hi" }]);
    const host = await AionUi.start(first, "conv-1", false);
    host.send("m1", "hello");
    expect(await host.finished("m1")).toBe("Hi");
    expect([host.errors(), await host.kill()]).toEqual([[], 143]);
    const again = await AionUi.start(
      { ...first, model: script([{ expect: { messages: 5, lastUser: "again" }, say: "Still here" }]) },
      "conv-1",
      true,
    );
    again.send("m2", "again");
    expect(await again.finished("m2")).toBe("Still here");
    expect(again.program.heard.find(({ type }) => type === "ready")).toMatchObject({ session_id: "conv-1" });
  });

  it("falls back to a new session of the same id when there is none to resume", async () => {
    const host = await AionUi.start(await settings([{ say: "Hi" }]), "lost", true);
    expect(host.program.heard[0]).toMatchObject({ type: "ready", session_id: "lost" });
    host.send("m1", "hello");
    expect(await host.finished("m1")).toBe("Hi");
  });

  it("answers for its user: yolo everything, auto_edit what edits, and what was said always", async () => {
    const first = await settings([
      { calls: [bash("echo 1", "t1"), write("a", "t2")] },
      { say: "one" },
      { calls: [write("b", "t3"), bash("echo 2", "t4")] },
      { say: "two" },
      { call: bash("echo 3", "t5") },
      { say: "three" },
    ]);
    const host = await AionUi.start(first, "auto", false);
    host.mode = "yolo";
    host.send("m1", "go");
    expect(await host.finished("m1")).toBe("one");
    host.mode = "auto_edit";
    host.send("m2", "go");
    await host.program.next(({ type, call_id }) => type === "tool_request" && call_id === "t4");
    expect(host.confirmations).toEqual(["t4"]);
    host.always.add("exec:echo");
    host.program.send({ type: "tool_approve", call_id: "t4", scope: "once" });
    expect(await host.finished("m2")).toBe("two");
    host.send("m3", "go");
    expect(await host.finished("m3")).toBe("three");
    expect([host.confirmations, host.errors(), existsSync(join(first.cwd, "b"))]).toEqual([["t4"], [], true]);
  });

  it("denies as its user cancels, and stops in the midst: no error, one end, and the next message works", async () => {
    const first = await settings([
      { call: write("a", "t1") },
      { expect: { toolResult: "User cancelled" }, say: "I see" },
      { steps: [{ say: "one" }, { wait: "forever" }] },
      { say: "on" },
    ]);
    const host = await AionUi.start(first, "stopped", false);
    host.send("m1", "go");
    await host.program.next(({ type }) => type === "tool_request");
    host.program.send({ type: "tool_deny", call_id: "t1", reason: "User cancelled" });
    expect(await host.finished("m1")).toBe("I see");
    host.send("m2", "go");
    await host.program.next((line) => line.type === "text_delta" && line["msg_id"] === "m2");
    host.stop();
    await host.finished("m2");
    host.send("m3", "go");
    await host.finished("m3");
    expect(host.errors()).toEqual([]);
    expect(host.program.heard.filter(({ type }) => type === "stream_end")).toHaveLength(3);
  });

  it("sets a mode and a configuration, and the answers do it no harm", async () => {
    const host = await AionUi.start(await settings([{ call: write("a", "t1") }, { say: "done" }]), "modes", false);
    host.program.send({ type: "set_mode", mode: "yolo" });
    host.program.send({ type: "set_config", thinking: "enabled", thinking_budget: 2000 });
    host.send("m1", "go");
    expect(await host.finished("m1")).toBe("done");
    expect([host.confirmations, host.errors()]).toEqual([[], []]);
    expect(host.program.heard).toContainEqual({ type: "info", msg_id: "", message: "config updated: thinking: enabled (budget: 2000)" });
  });
});
