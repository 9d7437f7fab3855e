/** Output that is kept within a bound: its head and its tail stay, and a line between them says how much is missing. */

/** At most `max` characters of `text`, plus the line that tells of the rest. Always well-formed. */
export function capText(text: string, max: number): string {
  if (text.length <= max) return wellFormed(text);
  const { head, tail } = shares(max);
  return joinEnds(text.slice(0, head), text.slice(text.length - tail), text.length);
}

/** `capText` for a stream of any length, in bounded memory and whatever the chunks. */
export class OutputBuffer {
  readonly #max: number;
  #length = 0;
  #head = "";
  #tail = "";

  constructor(max: number) {
    this.#max = max;
  }

  /** Characters pushed so far. */
  get length(): number {
    return this.#length;
  }

  push(text: string): void {
    this.#length += text.length;
    const { head, tail } = shares(this.#max);
    const room = head - this.#head.length;
    this.#head += text.slice(0, room);
    this.#tail += text.slice(room);
    // Cut only now and then: a cut copies what it keeps.
    if (this.#tail.length > 2 * tail + 1) this.#tail = lastOf(this.#tail, tail);
  }

  /** The same as `capText` of everything pushed; `max` is the buffer's own or less. */
  text(max = this.#max): string {
    const { head, tail } = shares(max);
    if (this.#length <= this.#max) return capText(this.#head + this.#tail, max);
    return joinEnds(this.#head.slice(0, head), lastOf(this.#tail, tail), this.#length);
  }
}

/** The first `max` characters; one less where that would cut a surrogate pair. */
export function headOf(text: string, max: number): string {
  return dropHigh(text.slice(0, max));
}

export function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, "\uFFFD");
}

function shares(max: number): { head: number; tail: number } {
  return { head: Math.ceil(max / 2), tail: Math.floor(max / 2) };
}

function joinEnds(head: string, tail: string, length: number): string {
  const start = dropHigh(head);
  const end = /^[\uDC00-\uDFFF]/.test(tail) ? tail.slice(1) : tail;
  return wellFormed(`${start}\n… [${length - start.length - end.length} characters left out] …\n${end}`);
}

function dropHigh(text: string): string {
  return /[\uD800-\uDBFF]$/.test(text) ? text.slice(0, -1) : text;
}

function lastOf(text: string, count: number): string {
  return text.slice(Math.max(0, text.length - count));
}
