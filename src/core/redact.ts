/** The one funnel for secrets: the same for disk, wire and log, whole or split over two deltas. */

const MASK = "[redacted]";
/** Shorter values would mask ordinary words. */
const SHORTEST = 8;

export class Redactor {
  readonly #secrets: string[] = [];

  constructor(secrets: Iterable<string> = []) {
    for (const secret of secrets) this.add(secret);
  }

  add(secret: string): void {
    if (secret.length < SHORTEST || this.#secrets.includes(secret)) return;
    this.#secrets.push(secret);
    // Longest first, so that a secret that contains another is masked whole.
    this.#secrets.sort((a, b) => b.length - a.length);
  }

  get secrets(): readonly string[] {
    return this.#secrets;
  }

  text(text: string): string {
    for (const secret of this.#secrets) if (text.includes(secret)) text = text.replaceAll(secret, MASK);
    return text;
  }

  /** The value with every string in it (keys too) redacted; the value itself when there was nothing to do. */
  value<T>(value: T): T;
  value(value: unknown): unknown {
    if (this.#secrets.length === 0) return value;
    if (typeof value === "string") return this.text(value);
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) {
      const items = value.map((item: unknown) => this.value(item));
      return items.some((item, index) => item !== value[index]) ? items : value;
    }
    let changed = false;
    const entries = Object.entries(value).map(([key, item]): [string, unknown] => {
      const safeKey = this.text(key);
      const safeItem: unknown = this.value(item);
      changed ||= safeKey !== key || safeItem !== item;
      return [safeKey, safeItem];
    });
    return changed ? Object.fromEntries(entries) : value;
  }

  /** For text that comes in pieces: holds back an end that may be the beginning of a secret. */
  stream(): RedactingStream {
    return new RedactingStream(this);
  }

  /** Where a beginning of a secret stands at the end of the text, or its length. */
  openEnd(text: string): number {
    let from = text.length;
    for (const secret of this.#secrets) {
      const first = secret.charAt(0);
      let at = text.indexOf(first, Math.max(0, text.length - secret.length + 1));
      while (at !== -1 && at < from) {
        if (secret.startsWith(text.slice(at))) from = at;
        at = text.indexOf(first, at + 1);
      }
    }
    return from;
  }
}

export class RedactingStream {
  readonly #redactor: Redactor;
  #held = "";

  constructor(redactor: Redactor) {
    this.#redactor = redactor;
  }

  /** What may go out now; empty when all is held back. */
  push(piece: string): string {
    if (this.#redactor.secrets.length === 0) return piece;
    const text = this.#redactor.text(this.#held + piece);
    const end = this.#redactor.openEnd(text);
    this.#held = text.slice(end);
    return text.slice(0, end);
  }

  /** The rest, at the end of the text. */
  flush(): string {
    const rest = this.#held;
    this.#held = "";
    return rest;
  }
}
