/** An editor as the official SDK makes one: it starts the built command, and holds every answer to the SDK's own schemas. */
import { spawn, type ChildProcess, type ChildProcessWithoutNullStreams } from "node:child_process";
import { Readable, Writable } from "node:stream";
import * as acp from "@agentclientprotocol/sdk/unstable";
import { expect, onTestFinished } from "vitest";
import { environment, PARLEY, scratch, script, until } from "../process/harness.js";

export type Update = acp.SessionUpdate;
type UpdateOf<K extends Update["sessionUpdate"]> = Extract<Update, { sessionUpdate: K }>;

export interface EditorOptions {
  /** Instead of `parley acp`. */
  command?: string[];
  args?: string[];
  /** The rehearsal model's answers, where no other provider is named. */
  responses?: unknown[];
  env?: Record<string, string>;
  /** Files that are open in it, unsaved. */
  buffers?: Map<string, string>;
  capabilities?: acp.ClientCapabilities;
  /** What it says to a permission: the id of an option, or nothing yet. */
  permit?(asked: acp.RequestPermissionRequest): string | undefined;
  /** What it says to a form. */
  fill?(form: acp.CreateElicitationRequest): acp.CreateElicitationResponse;
}

export class Editor {
  readonly cwd = scratch();
  readonly child: ChildProcessWithoutNullStreams;
  readonly updates: acp.SessionNotification[] = [];
  readonly asked: acp.RequestPermissionRequest[] = [];
  readonly commands: string[] = [];
  readonly agent: acp.ClientContext;
  hello: acp.InitializeResponse | undefined;
  stderr = "";
  readonly exited: Promise<number | null>;
  readonly #options: EditorOptions;
  readonly #terminals = new Map<string, { child: ChildProcess; output: string; exit: Promise<acp.WaitForTerminalExitResponse> }>();

  constructor(options: EditorOptions = {}) {
    this.#options = options;
    const model = options.responses === undefined ? [] : ["--model", script(options.responses)];
    const [program = "", ...words] = options.command ?? [process.execPath, PARLEY, "acp"];
    const args = [...words, ...(options.args ?? ["--provider", "rehearsal", ...model])];
    this.child = spawn(program, args, { cwd: this.cwd, env: environment(options.env) });
    this.child.stdin.on("error", () => {});
    this.child.stderr.setEncoding("utf8").on("data", (text: string) => {
      this.stderr += text;
    });
    this.exited = new Promise((resolve) => this.child.once("close", (code) => resolve(code)));
    // The SDK takes web streams, and Node's own types of them are others than the DOM's.
    const output = Writable.toWeb(this.child.stdin) as WritableStream<Uint8Array>;
    const input = Readable.toWeb(this.child.stdout) as ReadableStream<Uint8Array>;
    const connection = this.#client(options).connect(acp.ndJsonStream(output, input));
    this.agent = connection.agent;
    onTestFinished(async () => {
      connection.close();
      this.child.kill("SIGKILL");
      await this.exited;
      for (const { child } of this.#terminals.values()) child.kill("SIGKILL");
    });
  }

  #client({ permit = () => "allow", buffers = new Map<string, string>(), fill }: EditorOptions): acp.ClientApp {
    return acp
      .client({ name: "editor" })
      .onNotification("session/update", ({ params }) => void this.updates.push(params))
      .onRequest("session/request_permission", async ({ params }) => {
        this.asked.push(params);
        const optionId = permit(params);
        if (optionId === undefined) return new Promise<acp.RequestPermissionResponse>(() => {});
        return { outcome: optionId === "cancelled" ? { outcome: "cancelled" } : { outcome: "selected", optionId } };
      })
      .onRequest("fs/read_text_file", ({ params }) => {
        const content = buffers.get(params.path);
        if (content === undefined) throw new acp.RequestError(-32002, "not open");
        return { content };
      })
      .onRequest("fs/write_text_file", ({ params }) => {
        buffers.set(params.path, params.content);
        return {};
      })
      .onRequest("terminal/create", ({ params }) => ({ terminalId: this.#terminal(params) }))
      .onRequest("terminal/output", ({ params }) => ({ output: this.#terminals.get(params.terminalId)?.output ?? "", truncated: false }))
      .onRequest("terminal/wait_for_exit", ({ params }) => this.#terminals.get(params.terminalId)?.exit ?? { exitCode: 0 })
      .onRequest("terminal/kill", ({ params }) => {
        this.commands.push("kill");
        this.#terminals.get(params.terminalId)?.child.kill("SIGKILL");
        return {};
      })
      .onRequest("terminal/release", () => {
        this.commands.push("release");
        return {};
      })
      .onRequest("elicitation/create", ({ params }) => fill?.(params) ?? { action: "cancel" });
  }

  #terminal({ command, args = [], cwd }: acp.CreateTerminalRequest): string {
    const id = `terminal-${this.#terminals.size}`;
    this.commands.push([command, ...args].join(" "));
    const child = spawn(command, args, { cwd: cwd ?? this.cwd, env: environment() });
    const exit = new Promise<acp.WaitForTerminalExitResponse>((resolve) =>
      child.once("close", (exitCode, signal) => resolve({ exitCode, signal })),
    );
    const terminal = { child, output: "", exit };
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text: string) => {
        terminal.output += text;
      });
    this.#terminals.set(id, terminal);
    return id;
  }

  async greet(): Promise<acp.InitializeResponse> {
    const { capabilities: clientCapabilities = {} } = this.#options;
    const clientInfo = { name: "editor", version: "1" };
    const asked = { protocolVersion: acp.PROTOCOL_VERSION, clientCapabilities, clientInfo };
    const hello: acp.InitializeResponse = await this.agent.request("initialize", asked);
    this.hello = hello;
    return hello;
  }

  /** Greets, and opens a session in its folder. */
  async open(more: Partial<acp.NewSessionRequest> = {}): Promise<acp.NewSessionResponse> {
    if (this.hello === undefined) await this.greet();
    return this.agent.request("session/new", { cwd: this.cwd, mcpServers: [], ...more });
  }

  prompt(sessionId: string, text: string): Promise<acp.PromptResponse> {
    return this.agent.request("session/prompt", { sessionId, prompt: [{ type: "text", text }] });
  }

  of<K extends Update["sessionUpdate"]>(kind: K, sessionId?: string): UpdateOf<K>[] {
    return this.updates
      .filter((told) => sessionId === undefined || told.sessionId === sessionId)
      .map(({ update }) => update)
      .filter((update): update is UpdateOf<K> => update.sessionUpdate === kind);
  }

  text(sessionId?: string, kind: "agent_message_chunk" | "agent_thought_chunk" | "user_message_chunk" = "agent_message_chunk"): string {
    return this.of(kind, sessionId)
      .map(({ content }) => (content.type === "text" ? content.text : ""))
      .join("");
  }

  /** The last word on each call, in the order of their requests. */
  calls(): { id: string; status: string | null | undefined }[] {
    const last = new Map<string, string | null | undefined>();
    for (const { update } of this.updates)
      if (update.sessionUpdate === "tool_call" || update.sessionUpdate === "tool_call_update")
        last.set(update.toolCallId, update.status ?? last.get(update.toolCallId));
    return [...last].map(([id, status]) => ({ id, status }));
  }

  /** Waits until something was told. */
  told(matches: () => boolean): Promise<void> {
    return until(matches, () => `something else than ${JSON.stringify(this.updates.slice(-5))}; stderr: ${this.stderr}`);
  }

  async finish(): Promise<void> {
    this.child.stdin.end();
    expect(await this.exited).toBe(0);
  }
}
