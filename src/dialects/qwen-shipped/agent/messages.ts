/**
 * What one agent says, the session's own or those under one call: whole messages of one kind of block, and around them the pieces as they
 * come where the host wants them. Of one model call the pieces are `message_start`, then for each message its blocks, each from index 0,
 * and the message itself, then `message_stop`. Usage goes with the last message of a call, so each is held until the next one shows.
 */
import type { Usage } from "../../../core/event.js";
import type { Out } from "../../dialect.js";
import { addUsage } from "../../../core/usage.js";
import { uuidOf } from "../wire/ids.js";
import { assistantLine, NO_USAGE, streamLine, wireUsage, type Envelope } from "./lines.js";
import type { Block } from "../wire/parts.js";

type Kind = "text" | "thinking";

export class Speech {
  readonly #envelope: Envelope;
  readonly #model: () => string;
  readonly #partial: boolean;
  /** The block whose pieces are coming. */
  #open: Kind | undefined;
  #held: { id: string; content: Block[] } | undefined;
  /** Of the first message of this call, once it was told. */
  #firstId: string | undefined;
  #started = false;
  /** The call is over, and cost this. */
  #usage: Usage | undefined;

  constructor(envelope: Envelope, model: () => string, partial: boolean) {
    this.#envelope = envelope;
    this.#model = model;
    this.#partial = partial;
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

  /** Arguments of a call are on their way: what is held was not the last of its call. */
  callComing(): Out[] {
    return this.#usage === undefined && !this.#holdsCalls() ? this.#flush(NO_USAGE) : [];
  }

  /** Calls of one response share a message. Their arguments come as one piece. */
  call(id: string, name: string, input: Record<string, unknown>): Out[] {
    const before = this.#holdsCalls() ? [] : [...this.#flush(NO_USAGE), ...this.#start()];
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

  /** The model has said what it had to say: something is done about it now. */
  end(): Out[] {
    const last = this.#flush(this.#usage === undefined ? NO_USAGE : wireUsage(this.#usage));
    const stop = this.#started ? this.#event({ type: "message_stop" }) : [];
    this.#usage = this.#firstId = this.#open = undefined;
    this.#started = false;
    return [...last, ...stop];
  }

  /** Words that no model said, as a message of their own. */
  say(text: string): Out[] {
    return [...this.end(), ...this.done("text", text), ...this.end()];
  }

  #begin(kind: Kind): Out[] {
    const before = this.#usage === undefined ? this.#flush(NO_USAGE) : this.end();
    this.#open = kind;
    const content_block: Block = kind === "text" ? { type: "text", text: "" } : { type: "thinking", thinking: "", signature: "" };
    return [...before, ...this.#start(), ...this.#event({ type: "content_block_start", index: 0, content_block })];
  }

  #piece(kind: Kind, piece: string): Out[] {
    if (!this.#partial) return [];
    const delta = kind === "text" ? ({ type: "text_delta", text: piece } as const) : ({ type: "thinking_delta", thinking: piece } as const);
    return this.#event({ type: "content_block_delta", index: 0, delta });
  }

  #start(): Out[] {
    if (this.#started) return [];
    this.#started = true;
    const id = (this.#firstId = this.#mint());
    return this.#event({ type: "message_start", message: { id, role: "assistant", model: this.#model(), content: [] } });
  }

  #flush(usage: ReturnType<typeof wireUsage>): Out[] {
    const held = this.#held;
    this.#held = undefined;
    return held === undefined ? [] : [assistantLine({ ...held, model: this.#model(), usage }, this.#envelope)];
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
    return uuidOf(this.#envelope.env.stamp().id);
  }

  #event(event: Parameters<typeof streamLine>[0]): Out[] {
    return this.#partial ? [streamLine(event, this.#envelope)] : [];
  }
}
