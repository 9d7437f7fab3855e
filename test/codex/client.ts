/** A client of Codex's app-server: JSON-RPC without its version field, over the built command under the name `codex`. */
import { spawn } from "node:child_process";
import { join } from "node:path";
import * as v from "valibot";
import { ServerRecord } from "../../src/dialects/codex/wire/notifications.js";
import { environment, scratch, script } from "../process/harness.js";
import { launchers } from "../support/launchers.js";
import { Program } from "../support/program.js";

const Line = v.looseObject({
  id: v.nullish(v.union([v.string(), v.number()])),
  method: v.optional(v.string()),
  params: v.optional(v.record(v.string(), v.unknown()), {}),
  result: v.optional(v.unknown()),
  error: v.optional(v.looseObject({ code: v.number(), message: v.string() })),
});
export type Line = v.InferOutput<typeof Line>;

export interface ClientOptions {
  cwd?: string;
  home?: string;
  args?: string[];
  responses?: unknown[];
}

export async function startClient({ cwd = scratch(), home = scratch(), args = [], responses }: ClientOptions = {}): Promise<Client> {
  const model = responses === undefined ? [] : ["--model", script(responses)];
  const argv = ["app-server", "--provider", "rehearsal", "--approve-tools", "TodoWrite", ...model, ...args];
  return new Client(spawn(join(await launchers(), "codex"), argv, { cwd, env: environment({ PARLEY_HOME: home }) }));
}

/** The same, once it is initialized. */
export async function greetedClient(options: ClientOptions = {}): Promise<Client> {
  const client = await startClient(options);
  await client.ask("initialize", { clientInfo: { name: "test", title: "Test", version: "1" }, capabilities: null });
  client.sendLine({ method: "initialized" });
  return client;
}

export class Client extends Program {
  readonly heard: Line[] = [];
  #last = 0;

  /** Resolves with the answer, be it a result or an error. */
  async ask(method: string, params?: object): Promise<Line> {
    const id = ++this.#last;
    this.sendLine({ id, method, ...(params !== undefined && { params }) });
    return this.firstIn(this.heard, (line) => line.id === id && line.method === undefined, `the answer to ${method}`);
  }

  async thread(params: object = {}): Promise<string> {
    const { result } = await this.ask("thread/start", { approvalPolicy: "untrusted", sandbox: "read-only", ...params });
    return v.parse(v.looseObject({ thread: v.looseObject({ id: v.string() }) }), result).thread.id;
  }

  async prompt(threadId: string, text: string, more: object = {}): Promise<string> {
    const { result } = await this.ask("turn/start", { threadId, input: [{ type: "text", text, text_elements: [] }], ...more });
    return v.parse(v.looseObject({ turn: v.looseObject({ id: v.string() }) }), result).turn.id;
  }

  /** The nth record of a method, heard already or yet to come. */
  async next(method: string, nth = 1): Promise<Line> {
    let count = 0;
    return this.firstIn(this.heard, (line) => line.method === method && ++count === nth, method);
  }

  async completed(turn: string): Promise<Line> {
    return this.firstIn(
      this.heard,
      (line) => line.method === "turn/completed" && JSON.stringify(line.params).includes(turn),
      `the end of ${turn}`,
    );
  }

  answer(question: Line, result: unknown): void {
    this.sendLine({ id: question.id, result });
  }

  of(method: string): Line[] {
    return this.heard.filter((line) => line.method === method);
  }

  /** Items that are whole, of one turn. */
  items(turn: string): unknown[] {
    return this.of("item/completed").flatMap(({ params }) => (params["turnId"] === turn ? [params["item"]] : []));
  }

  protected override hear(text: string): void {
    const record: unknown = JSON.parse(text);
    v.parse(ServerRecord, record);
    this.heard.push(v.parse(Line, record));
  }
}
