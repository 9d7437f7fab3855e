/** One response of the model as it arrives: parts in, events out, and at the end the message for the history. */
import { plainText } from "../../core/content.js";
import { ParleyError } from "../../core/errors.js";
import { ANSWER_CALLS } from "../../core/limits.js";
import { roughSize } from "../../core/queue.js";
import type { RedactingStream, Redactor } from "../../core/secrets/redact.js";
import type { Usage } from "../../core/event.js";
import type { CallIds } from "../calls/ids.js";
import type { AssistantBlock, Finish, ModelCall, ModelPart } from "../models/model.js";
import { capText } from "../workspace/output.js";
import type { Emit, Turn } from "./turn.js";

/** Notes are about the request, not a part of the response. */
type ResponsePart = Exclude<ModelPart, { type: "note" }>;

interface OpenBlock {
  kind: "text" | "thinking";
  text: string;
  redact: RedactingStream;
  /** Deltas of the block have been told. */
  sent: boolean;
}

/** Characters of an answer that was too long that stay in the conversation. */
const KEPT_CHARS = 10_000;

export class Response {
  readonly calls: ModelCall[] = [];
  readonly blocks: AssistantBlock[] = [];
  usage: Usage | undefined;
  finish: Finish = "other";
  /** A part of it has been told. */
  started = false;
  /** Calls beyond the most that one answer may have. They are not kept. */
  droppedCalls = 0;

  readonly #emit: Emit;
  readonly #redactor: Redactor;
  readonly #streaming: boolean;
  readonly #callIds: CallIds;
  /** The most that it may hold of text, thinking and arguments. */
  readonly #mostMiB: number;
  /** Bytes so far. */
  #size = 0;
  #open: OpenBlock | undefined;
  /** Our ids of the calls whose arguments are still coming, by the vendor's. */
  readonly #coming = new Map<string, string>();
  /** Names of calls of which nothing has gone out; a vendor may tell one before there is a piece to tell it with. */
  readonly #names = new Map<string, string>();
  readonly #args = new Map<string, RedactingStream>();
  #sealed = false;

  constructor({ emit, session, depth, config }: Pick<Turn, "emit" | "session" | "depth" | "config">) {
    this.#emit = emit;
    this.#redactor = session.redactor;
    // Several sub-agents run under one call, where only whole blocks can be told apart.
    this.#streaming = depth === 0 && (config.streaming ?? true);
    this.#callIds = session.callIds;
    this.#mostMiB = session.engine.answerMiB;
  }

  /** Throws a `limit` fault when it has become too long. */
  take(part: ResponsePart): Promise<void> | undefined {
    if (this.#sealed) return undefined;
    this.#size += this.#sizeOf(part);
    if (this.#isTooLong) throw tooLong(this.#mostMiB);
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

  /** Closes the open block. Later parts are ignored: a stream that was cut off may still deliver some. */
  seal(): void {
    void this.#end();
    this.#sealed = true;
    if (this.#isTooLong) this.#keepBeginning();
  }

  /** The calls never ran: they are no part of what the model said. */
  dropCalls(): void {
    this.calls.length = 0;
    for (let at = this.blocks.length - 1; at >= 0; at--) if (this.blocks[at]?.type === "call") this.blocks.splice(at, 1);
  }

  get #isTooLong(): boolean {
    return this.#size > this.#mostMiB * 2 ** 20;
  }

  /** Arguments that were streamed have been counted when their call is whole; a call that is dropped is not kept. */
  #sizeOf(part: ResponsePart): number {
    switch (part.type) {
      case "text":
      case "thinking":
        return Buffer.byteLength(part.text);
      case "call.delta":
        return Buffer.byteLength(part.text) + (part.name?.length ?? 0);
      case "text.end":
      case "thinking.end":
        return part.meta === undefined ? 0 : roughSize(part.meta);
      case "call":
        return this.#coming.has(part.call.id) || this.#hasAllCalls ? 0 : roughSize(part.call);
      case "usage":
      case "finish":
        return 0;
      default:
        return part satisfies never;
    }
  }

  /** Keeps the beginning of an answer that was too long: all of it was told, and the part fits the model's window. */
  #keepBeginning(): void {
    const text = plainText(this.blocks.flatMap((block) => (block.type === "text" ? [{ type: "text" as const, text: block.text }] : [])));
    const note = `[This answer was broken off: it was longer than ${this.#mostMiB} MiB]`;
    this.blocks.splice(0, this.blocks.length, { type: "text", text: `${capText(text, KEPT_CHARS)}\n\n${note}`.trimStart() });
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
    if (!this.#coming.has(said) && this.#hasAllCalls) return undefined;
    const call = this.#coming.get(said) ?? this.#callIds.own(said);
    this.#coming.set(said, call);
    if (!this.#streaming) return undefined;
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
    if (!this.#coming.has(said.id) && this.#hasAllCalls) {
      this.droppedCalls++;
      return undefined;
    }
    const call = { ...said, id: this.#coming.get(said.id) ?? this.#callIds.own(said.id) };
    this.#coming.delete(said.id);
    this.calls.push(call);
    this.blocks.push({ type: "call", call, ...(meta !== undefined && { meta }) });
    const rest = this.#args.get(call.id)?.flush() ?? "";
    return rest === "" ? undefined : this.#emit({ type: "tool.delta", call: call.id, ...this.#nameOnce(call.id), text: rest });
  }

  get #hasAllCalls(): boolean {
    return this.calls.length + this.#coming.size >= ANSWER_CALLS;
  }

  #nameOnce(call: string): { name?: string } {
    const name = this.#names.get(call);
    this.#names.delete(call);
    return name === undefined ? {} : { name };
  }
}

function tooLong(mostMiB: number): ParleyError {
  const message = `The model's answer was broken off: it is longer than ${mostMiB} MiB (limits.answerMiB in config.yaml sets how much)`;
  return new ParleyError({ code: "limit", message, retryable: false, param: "answerMiB" });
}
