/** One response of the model as it arrives: parts in, events out, and at the end the message for the history. */
import type { RedactingStream, Redactor } from "../core/redact.js";
import type { Usage } from "../core/event.js";
import type { CallIds } from "./call-ids.js";
import type { AssistantBlock, Finish, ModelCall, ModelPart } from "./models/model.js";
import type { Emit } from "./run.js";

/** Notes are about the request, not a part of the response. */
type ResponsePart = Exclude<ModelPart, { type: "note" }>;

interface OpenBlock {
  kind: "text" | "thinking";
  text: string;
  redact: RedactingStream;
  /** Deltas of it went out. */
  sent: boolean;
}

export class Response {
  readonly calls: ModelCall[] = [];
  readonly blocks: AssistantBlock[] = [];
  usage: Usage | undefined;
  finish: Finish = "other";
  /** Something of it has gone out, so it cannot be asked for again. */
  started = false;

  readonly #emit: Emit;
  readonly #redactor: Redactor;
  readonly #streaming: boolean;
  readonly #callIds: CallIds;
  #open: OpenBlock | undefined;
  /** Our ids of the calls whose arguments are still coming, by the vendor's. */
  readonly #coming = new Map<string, string>();
  /** Names of calls of which nothing has gone out; a vendor may tell one before there is a piece to tell it with. */
  readonly #names = new Map<string, string>();
  readonly #args = new Map<string, RedactingStream>();
  #sealed = false;

  constructor(emit: Emit, redactor: Redactor, streaming: boolean, callIds: CallIds) {
    this.#emit = emit;
    this.#redactor = redactor;
    this.#streaming = streaming;
    this.#callIds = callIds;
  }

  take(part: ResponsePart): Promise<void> | undefined {
    if (this.#sealed) return undefined;
    switch (part.type) {
      case "text":
      case "thinking":
        return this.#piece(part.type, part.text);
      case "text.end":
      case "thinking.end":
        return this.#end(part.meta);
      case "call.delta":
        return this.#callDelta(part.id, part.name, part.text);
      case "call":
        return this.#call(part.call, part.meta);
      case "usage":
        this.usage = part.usage;
        return undefined;
      case "finish":
        this.finish = part.reason;
        return undefined;
      default:
        part satisfies never;
        return undefined;
    }
  }

  /** Closes what is open. After it nothing more is taken: a stream that was cut off may still be talking. */
  seal(): void {
    void this.#end();
    this.#sealed = true;
  }

  /** The calls never ran: they are no part of what the model said. */
  dropCalls(): void {
    this.calls.length = 0;
    for (let at = this.blocks.length - 1; at >= 0; at--) if (this.blocks[at]?.type === "call") this.blocks.splice(at, 1);
  }

  #piece(kind: "text" | "thinking", piece: string): Promise<void> | undefined {
    if (piece === "") return undefined;
    this.started = true;
    if (this.#open?.kind !== kind) {
      void this.#end();
      this.#open = { kind, text: "", redact: this.#redactor.stream(), sent: false };
    }
    return this.#send(this.#open, this.#open.redact.push(piece));
  }

  #send(open: OpenBlock, text: string): Promise<void> | undefined {
    if (text === "") return undefined;
    open.text += text;
    if (!this.#streaming) return undefined;
    open.sent = true;
    return this.#emit(open.kind === "text" ? { type: "text.delta", text } : { type: "thinking.delta", text });
  }

  #end(meta?: unknown): Promise<void> | undefined {
    const open = this.#open;
    if (open === undefined) return this.#keepMeta(meta);
    this.#open = undefined;
    void this.#send(open, open.redact.flush());
    const { kind, text, sent } = open;
    this.blocks.push({ type: kind, text, ...(meta !== undefined && { meta }) });
    return this.#emit({ type: kind === "text" ? "text.done" : "thinking.done", text, ...(sent && { streamed: true as const }) });
  }

  /** A block without visible text (redacted thinking) still has to be given back to the vendor. */
  #keepMeta(meta: unknown): undefined {
    if (meta !== undefined) this.blocks.push({ type: "thinking", text: "", meta });
    return undefined;
  }

  #callDelta(said: string, name: string | undefined, piece: string): Promise<void> | undefined {
    this.started = true;
    void this.#end();
    if (!this.#streaming) return undefined;
    const call = this.#coming.get(said) ?? this.#callIds.own(said);
    this.#coming.set(said, call);
    let args = this.#args.get(call);
    if (args === undefined) {
      args = this.#redactor.stream();
      this.#args.set(call, args);
    }
    if (name !== undefined) this.#names.set(call, name);
    const text = args.push(piece);
    return text === "" ? undefined : this.#emit({ type: "tool.delta", call, ...this.#nameOnce(call), text });
  }

  #call(said: ModelCall, meta: unknown): Promise<void> | undefined {
    this.started = true;
    void this.#end();
    const call = { ...said, id: this.#coming.get(said.id) ?? this.#callIds.own(said.id) };
    this.#coming.delete(said.id);
    this.calls.push(call);
    this.blocks.push({ type: "call", call, ...(meta !== undefined && { meta }) });
    const rest = this.#args.get(call.id)?.flush() ?? "";
    return rest === "" ? undefined : this.#emit({ type: "tool.delta", call: call.id, ...this.#nameOnce(call.id), text: rest });
  }

  #nameOnce(call: string): { name?: string } {
    const name = this.#names.get(call);
    this.#names.delete(call);
    return name === undefined ? {} : { name };
  }
}
