/** Caps an agent's text in code points, so that no character is cut in two; the suffix is added on top. */

export interface Cut {
  text: string;
  truncated: boolean;
}

/** The whole reply, or its beginning and the suffix. */
export function capped(text: string, max: number | undefined, suffix: string): Cut {
  if (max === undefined) return { text, truncated: false };
  const kept = firstPoints(text, max);
  return kept.length === text.length ? { text, truncated: false } : { text: kept + suffix, truncated: true };
}

/** Caps the sum of a stream's pieces: the piece above the cap is cut, the suffix follows as its own piece, and later pieces are dropped. */
export class CappedStream {
  readonly #max: number | undefined;
  readonly #suffix: string;
  #used = 0;
  #truncated = false;

  constructor(max: number | undefined, suffix: string) {
    this.#max = max;
    this.#suffix = suffix;
  }

  get truncated(): boolean {
    return this.#truncated;
  }

  /** The pieces to send, none of them empty. */
  push(text: string): string[] {
    if (this.#truncated || text === "") return [];
    if (this.#max === undefined) return [text];
    const kept = firstPoints(text, this.#max - this.#used);
    this.#used += points(kept);
    if (kept.length === text.length) return [text];
    this.#truncated = true;
    return [kept, this.#suffix].filter((piece) => piece !== "");
  }
}

/** Half a surrogate pair in the text counts as a character; the cut never makes one. */
function firstPoints(text: string, max: number): string {
  if (text.length <= max) return text;
  let end = 0;
  for (let count = 0; count < max && end < text.length; count++) end += (text.codePointAt(end) ?? 0) > 0xffff ? 2 : 1;
  return text.slice(0, end);
}

function points(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}
