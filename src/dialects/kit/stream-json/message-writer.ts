/**
 * Writes what one agent says, the session's own or those under one call, as whole messages of one kind of block, and around them the
 * pieces as they come where the host wants them. The pieces of one model call are `message_start`, then for each message its blocks, each
 * from index 0, and the message itself, then `message_stop`. Usage goes with the last message of a call, so each message is held until
 * the next one begins.
 */
import type { Usage } from "../../../core/event.js";
import { addUsage } from "../../../core/usage.js";
import type { Out } from "../../dialect.js";
import { uuidOf } from "./uuid.js";
import type { Block, Piece } from "./wire.js";
import { assistantLine, streamLine, type Envelope } from "./write-lines.js";

type Kind = "text" | "thinking";

export interface MessageWriterOptions {
  envelope: Envelope;
  model: () => string;
  /** The host wants the pieces of messages. */
  partial: boolean;
  /** A model call's usage as the wire counts it; undefined for a message that is not the last of its call. */
  usage: (usage: Usage | undefined) => object;
}

export class MessageWriter {
  readonly #options: MessageWriterOptions;
  /** The kind of the block whose pieces are coming. */
  #open: Kind | undefined;
  #held: { id: string; content: Block[] } | undefined;
  /** The id of the first message of this call, until that message is held. */
  #firstId: string | undefined;
  #started = false;
  /** The call is over, and cost this. */
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
    this.#open = undefined;
    this.#held = {
      id: this.#nextId(),
      content: [kind === "text" ? { type: "text", text } : { type: "thinking", thinking: text, signature: "" }],
    };
    return [...before, ...this.#event({ type: "content_block_stop", index: 0 })];
  }

  /** Arguments of a call are on their way: the held message was not the last of its model call. */
  callComing(): Out[] {
    return this.#usage === undefined && !this.#holdsCalls() ? this.#flush() : [];
  }

  /** Calls of one response share a message. Their arguments come as one piece. */
  call(id: string, name: string, input: Record<string, unknown>): Out[] {
    const before = this.#holdsCalls() ? [] : [...this.#flush(), ...this.#start()];
    const held = (this.#held ??= { id: this.#nextId(), content: [] });
    const index = held.content.length;
    held.content.push({ type: "tool_use", id, name, input });
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

  /** The model call is over: tools run now, or the turn ends. */
  end(): Out[] {
    const last = this.#flush(this.#usage);
    const stop = this.#started ? this.#event({ type: "message_stop" }) : [];
    this.#usage = this.#firstId = this.#open = undefined;
    this.#started = false;
    return [...last, ...stop];
  }

  /** Writes words that no model said as a message of their own. */
  say(text: string): Out[] {
    return [...this.end(), ...this.done("text", text), ...this.end()];
  }

  #begin(kind: Kind): Out[] {
    const before = this.#usage === undefined ? this.#flush() : this.end();
    this.#open = kind;
    const content_block: Block = kind === "text" ? { type: "text", text: "" } : { type: "thinking", thinking: "", signature: "" };
    return [...before, ...this.#start(), ...this.#event({ type: "content_block_start", index: 0, content_block })];
  }

  #piece(kind: Kind, piece: string): Out[] {
    if (!this.#options.partial) return [];
    const delta = kind === "text" ? ({ type: "text_delta", text: piece } as const) : ({ type: "thinking_delta", thinking: piece } as const);
    return this.#event({ type: "content_block_delta", index: 0, delta });
  }

  #start(): Out[] {
    if (this.#started) return [];
    this.#started = true;
    const id = (this.#firstId = this.#mint());
    return this.#event({ type: "message_start", message: { id, role: "assistant", model: this.#options.model(), content: [] } });
  }

  #flush(used?: Usage): Out[] {
    const held = this.#held;
    this.#held = undefined;
    if (held === undefined) return [];
    const { model, usage, envelope } = this.#options;
    return [assistantLine({ ...held, model: model(), usage: usage(used) }, envelope)];
  }

  #holdsCalls(): boolean {
    return this.#held?.content[0]?.type === "tool_use";
  }

  #nextId(): string {
    const id = this.#firstId ?? this.#mint();
    this.#firstId = undefined;
    return id;
  }

  #mint(): string {
    return uuidOf(this.#options.envelope.env.stamp().id);
  }

  #event(event: Piece): Out[] {
    const { partial, envelope } = this.#options;
    return partial ? [streamLine(event, envelope)] : [];
  }
}
