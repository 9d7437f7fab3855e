/**
 * Writes the texts and calls of one agent, the session's own or those under one call, as messages of one kind of block, and the deltas
 * around them if the host wants them. The deltas of one model call are `message_start`, then for each message its blocks
 * and the message itself, then `message_stop`. Usage goes with the last message of a call, so each message is held until the next one
 * begins.
 */
import type { Usage } from "../../../../core/event.js";
import { addUsage } from "../../../../core/usage.js";
import type { Out } from "../../../dialect.js";
import { uuidOf } from "../uuid.js";
import type { Block } from "../wire.js";
import { assistantLine, streamLine, type Envelope, type WireMessage } from "../write-lines.js";

type Kind = "text" | "thinking";

export interface MessageWriterOptions {
  envelope: Envelope;
  model: () => string;
  /** The host wants deltas. */
  partial: boolean;
  /** A model call's usage as the wire counts it; undefined for a message that is not the last of its call. */
  usage: (usage: Usage | undefined) => object;
  /** Default: each message has an id of its own and its blocks from index 0, and the calls of a response share a message. */
  oneBlock?: OneBlock;
}

/** Each block is a message. The messages of one model call share an id, and their blocks are numbered through. */
export interface OneBlock {
  message: (message: WireMessage, envelope: Envelope) => Out;
  /** The content of `message_start`. */
  first: (message: Pick<WireMessage, "id" | "model">) => object;
  /** The record before `message_stop`. */
  last: (usage: Usage | undefined, stop: Stop) => object;
}

/** Null for a message that was cut off. */
type Stop = "tool_use" | "end_turn" | "max_tokens" | null;

export class MessageWriter {
  readonly #options: MessageWriterOptions;
  /** The kind of the open block. */
  #open: Kind | undefined;
  #held: { id: string; content: Block[] } | undefined;
  /** The id of the first message of this call, until that message is held; with `oneBlock`, of all its messages. */
  #firstId: string | undefined;
  /** The number of blocks of this model call, where blocks are numbered through. */
  #blocks = 0;
  #hasCalls = false;
  #started = false;
  /** Ends the model call with its usage. */
  #usage: Usage | undefined;

  constructor(options: MessageWriterOptions) {
    this.#options = options;
  }

  delta(kind: Kind, piece: string): Out[] {
    if (this.#open === kind) return this.#piece(kind, piece);
    return [...this.#begin(kind), ...this.#piece(kind, piece)];
  }

  done(kind: Kind, text: string): Out[] {
    const before = this.#open === kind ? [] : [...this.#begin(kind), ...(text === "" ? [] : this.#piece(kind, text))];
    const index = this.#index();
    this.#open = undefined;
    this.#held = {
      id: this.#nextId(),
      content: [kind === "text" ? { type: "text", text } : { type: "thinking", thinking: text, signature: "" }],
    };
    this.#blocks++;
    return [...before, ...this.#event({ type: "content_block_stop", index })];
  }

  /** Arguments of a call are coming: the held message was not the last of its model call. */
  callComing(): Out[] {
    return this.#usage === undefined && !this.#holdsCalls() ? this.#flush() : [];
  }

  /** The arguments of a call come as one delta. */
  call(id: string, name: string, input: Record<string, unknown>): Out[] {
    const before = this.#holdsCalls() && this.#options.oneBlock === undefined ? [] : [...this.#flush(), ...this.#start()];
    const held = (this.#held ??= { id: this.#nextId(), content: [] });
    const index = this.#options.oneBlock === undefined ? held.content.length : this.#blocks;
    held.content.push({ type: "tool_use", id, name, input });
    this.#blocks++;
    this.#hasCalls = true;
    return [
      ...before,
      ...this.#event({ type: "content_block_start", index, content_block: { type: "tool_use", id, name, input: {} } }),
      ...this.#event({ type: "content_block_delta", index, delta: { type: "input_json_delta", partial_json: JSON.stringify(input) } }),
      ...this.#event({ type: "content_block_stop", index }),
    ];
  }

  used(usage: Usage): void {
    this.#usage = addUsage(this.#usage, usage);
  }

  /** The model call has ended: tools run now, or the turn ends. */
  end(stop: Stop = this.#hasCalls ? "tool_use" : "end_turn"): Out[] {
    const message = this.#flush(this.#usage);
    const last = this.#options.oneBlock?.last(this.#usage, stop);
    const ended = this.#started ? [...(last === undefined ? [] : this.#event(last)), ...this.#event({ type: "message_stop" })] : [];
    this.#usage = this.#firstId = this.#open = undefined;
    this.#started = this.#hasCalls = false;
    this.#blocks = 0;
    return [...message, ...ended];
  }

  /** Writes text of our own as a message. */
  say(text: string): Out[] {
    return [...this.end(), ...this.done("text", text), ...this.end()];
  }

  #begin(kind: Kind): Out[] {
    const before = this.#usage === undefined ? this.#flush() : this.end();
    this.#open = kind;
    const content_block: Block = kind === "text" ? { type: "text", text: "" } : { type: "thinking", thinking: "", signature: "" };
    return [...before, ...this.#start(), ...this.#event({ type: "content_block_start", index: this.#index(), content_block })];
  }

  #piece(kind: Kind, piece: string): Out[] {
    if (!this.#options.partial) return [];
    const delta = kind === "text" ? ({ type: "text_delta", text: piece } as const) : ({ type: "thinking_delta", thinking: piece } as const);
    return this.#event({ type: "content_block_delta", index: this.#index(), delta });
  }

  #start(): Out[] {
    if (this.#started) return [];
    this.#started = true;
    const id = (this.#firstId = this.#mint());
    const model = this.#options.model();
    const message = this.#options.oneBlock?.first({ id, model }) ?? { id, role: "assistant", model, content: [] };
    return this.#event({ type: "message_start", message });
  }

  #flush(used?: Usage): Out[] {
    const held = this.#held;
    this.#held = undefined;
    if (held === undefined) return [];
    const { model, usage, envelope, oneBlock } = this.#options;
    return [(oneBlock?.message ?? assistantLine)({ ...held, model: model(), usage: usage(used) }, envelope)];
  }

  #holdsCalls(): boolean {
    return this.#held?.content[0]?.type === "tool_use";
  }

  #nextId(): string {
    const id = this.#firstId ?? this.#mint();
    this.#firstId = this.#options.oneBlock === undefined ? undefined : id;
    return id;
  }

  #index(): number {
    return this.#options.oneBlock === undefined ? 0 : this.#blocks;
  }

  #mint(): string {
    return uuidOf(this.#options.envelope.env.stamp().id);
  }

  #event(event: object): Out[] {
    const { partial, envelope } = this.#options;
    return partial ? [streamLine(event, envelope)] : [];
  }
}
