/** Pieces of text and thinking as blocks that are closed before another begins. */
import type { Event } from "../../../core/event.js";

/** Where an event of a turn belongs. */
export interface Address {
  session: string;
  turn: string;
  parent?: string;
}

type Kind = "text" | "thinking";

export class Blocks {
  hasStreamedText = false;
  readonly #address: Address;
  #open: { kind: Kind; text: string } | undefined;

  constructor(address: Address) {
    this.#address = address;
  }

  piece(kind: Kind, text: string): Event[] {
    if (kind === "text") this.hasStreamedText = true;
    const closing = this.#open?.kind === kind ? [] : this.close();
    this.#open ??= { kind, text: "" };
    this.#open.text += text;
    return [...closing, { type: `${kind}.delta`, ...this.#address, text }];
  }

  close(): Event[] {
    const open = this.#open;
    this.#open = undefined;
    return open === undefined ? [] : [{ type: `${open.kind}.done`, ...this.#address, text: open.text, streamed: true }];
  }
}
