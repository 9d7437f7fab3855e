/** A host of Ante's protocol, as the probes play it: operations with ids, and events with names. */
import type { Conversation, WireRecord } from "../grade/conversation.js";
import type { Scene } from "../grade/scene.js";
import { at } from "./records.js";

const ULID_HEAD = "01ARZ3NDEKTSV4RRFFQ69G";

export function nameOf(rec: WireRecord): string {
  const { event } = rec;
  if (typeof event === "string") return event;
  return Object.keys(typeof event === "object" && event !== null ? event : {})[0] ?? "";
}

/** The fields of an event of this name. */
export function fieldsOf(rec: WireRecord | undefined, ...path: readonly string[]): unknown {
  return rec === undefined ? undefined : at(rec, "event", nameOf(rec), ...path);
}

export class EventHost {
  readonly conversation: Conversation;
  #count = 0;

  /** Starts the program, which has no session yet. */
  static async launch(scene: Scene): Promise<EventHost> {
    return new EventHost(await scene.start({ config: { model: MODEL, provider: PROVIDER } }));
  }

  /** The same, with a session. */
  static async open(scene: Scene, fields: WireRecord = {}): Promise<EventHost> {
    const host = await EventHost.launch(scene);
    const id = host.start({ cwd: scene.folder, ...fields });
    await host.next("SessionStart", id);
    return host;
  }

  private constructor(conversation: Conversation) {
    this.conversation = conversation;
  }

  /** Returns the operation's id. */
  op(op: WireRecord | string, more: WireRecord = {}): string {
    const id = this.id("op");
    this.conversation.say({ ...more, id, op });
    return id;
  }

  start(fields: WireRecord): string {
    return this.op({ StartSession: { model: MODEL, provider: PROVIDER, streaming: true, ...fields } });
  }

  id(prefix: string): string {
    return `${prefix}_${ULID_HEAD}${String(++this.#count).padStart(4, "0")}`;
  }

  next(name: string, parent?: string): Promise<WireRecord> {
    const what = parent === undefined ? name : `${name} with the parent ${parent}`;
    return this.conversation.next(what, (rec) => nameOf(rec) === name && (parent === undefined || rec["parent"] === parent));
  }

  of(name: string): WireRecord[] {
    return this.conversation.all((rec) => nameOf(rec) === name);
  }

  /** Answers the calls of a pause. */
  async answer(input: string, decision: string): Promise<void> {
    const pause = await this.next("TurnPause", input);
    const tools = fieldsOf(pause, "reason", "Approval", "tools");
    const responses = (Array.isArray(tools) ? tools : []).map((tool) => [at(tool, "id"), decision]);
    this.op({ ApprovalResponse: { turn_id: fieldsOf(pause, "turn_id"), responses } });
  }

  /** Everything that was sent is answered when the program says Goodbye. */
  async shutdown(): Promise<void> {
    this.op("Shutdown");
    await this.next("Goodbye");
  }

  /** Sends wrong lines: each is answered by one Error, and none begins a turn. */
  async refuses(lines: readonly string[], words: RegExp = /./): Promise<void> {
    for (const line of lines) this.conversation.say(line);
    await this.shutdown();
    const errors = this.of("Error");
    for (const [n, line] of lines.entries()) {
      const text = fieldsOf(errors[n]);
      const isTold = typeof text === "string" && words.test(text);
      this.conversation.expect(isTold, `an Error that says what is wrong with the line ${line}`, errors[n] ?? this.of("Goodbye")[0]);
    }
    this.conversation.expect(errors.length === lines.length, "one Error for each wrong line", errors[lines.length]);
    const [turn] = this.of("TurnStart");
    this.conversation.expect(turn === undefined, "no turn of a wrong line", turn);
  }
}

/** The scripted server answers for any model of this vendor. */
const MODEL = "graded-model";
const PROVIDER = "anthropic";
