/**
 * The instructions that a conversation has received. Its system prompt holds those of its first turn and never changes, because a
 * change would lose the vendor's cache for the whole conversation; later changes are notes in the user's messages.
 */

/** One source of instructions, with its text in the system prompt. */
export interface Instruction {
  /** "the instructions in /a/AGENTS.md", "the list of skills". */
  source: string;
  text: string;
}

export class Briefing {
  #opening: readonly Instruction[] | undefined;
  readonly #told = new Map<string, string>();
  /** Paths of instructions files that were added when a file below them was read. */
  readonly nested = new Set<string>();

  /** The conversation is reset, so its system prompt may change. */
  restart(): void {
    this.#opening = undefined;
    this.#told.clear();
    this.nested.clear();
  }

  /** The instructions of the first turn, for the system prompt of every turn. */
  opening(now: readonly Instruction[]): readonly Instruction[] {
    if (this.#opening === undefined) {
      this.#opening = now;
      for (const { source, text } of now) this.#told.set(source, text);
    }
    return this.#opening;
  }

  /** Notes for the user's next message: each change once. */
  changes(now: readonly Instruction[]): string[] {
    const notes: string[] = [];
    if (this.#opening === undefined) return notes;
    for (const { source, text } of now) {
      const before = this.#told.get(source);
      if (before === text) continue;
      this.#told.set(source, text);
      notes.push(
        before === undefined ? `Since this conversation began there is more to know: ${source}.\n\n${text}` : changed(source, text),
      );
    }
    for (const source of this.#told.keys()) {
      if (now.some((one) => one.source === source)) continue;
      this.#told.delete(source);
      notes.push(`Note: ${source} no longer count.`);
    }
    return notes;
  }
}

function changed(source: string, text: string): string {
  return `Note: ${source} changed since you were told. From now on this counts:\n\n${text}`;
}
