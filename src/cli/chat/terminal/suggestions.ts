/** Completions while one types: commands behind a `/` at the start, files behind an `@` at the start of a word. */
import type { AutocompleteItem, AutocompleteProvider, AutocompleteSuggestions } from "@earendil-works/pi-tui";
import { withoutSteering } from "../../../core/text/terminal-text.js";
import type { ChatListener } from "../view.js";
import { foreign } from "./part-rows.js";

/** In a path, spaces have a backslash, or all of it has quotes. */
const TRIGGER = /^\/[^\n]*$|(?<=^|\s)@(?:"[^"]*|(?:\\.|\S)*)$/;

export class Suggestions implements AutocompleteProvider {
  readonly #suggest: ChatListener["suggest"];

  constructor(suggest: ChatListener["suggest"]) {
    this.#suggest = suggest;
  }

  async getSuggestions(
    lines: string[],
    line: number,
    column: number,
    { signal }: { signal: AbortSignal },
  ): Promise<AutocompleteSuggestions | null> {
    const before = (lines[line] ?? "").slice(0, column);
    const typed = TRIGGER.exec(before)?.[0];
    if (typed === undefined || (typed.startsWith("/") && line > 0)) return null;
    const mark = typed.charAt(0);
    const found = await this.#suggest(mark === "/" ? "slash" : "at", typed);
    if (signal.aborted) return null;
    // The name of a file could steer the terminal from within the input.
    const items = found
      .filter(({ value }) => withoutSteering(value) === value)
      .map(({ value, label, description = "" }) => ({
        value: `${mark}${value}`,
        label: foreign(label),
        description: foreign(description),
      }));
    if (items.length === 0 || (items.length === 1 && items[0]?.value === typed)) return null;
    return { items, prefix: typed };
  }

  /** Behind a folder the next name follows directly, behind everything else a space. */
  applyCompletion(
    lines: string[],
    line: number,
    column: number,
    { value }: AutocompleteItem,
    prefix: string,
  ): { lines: string[]; cursorLine: number; cursorCol: number } {
    const text = lines[line] ?? "";
    const inserted = /[\s/]$/.test(value) ? value : `${value} `;
    const start = column - prefix.length;
    const changed = [...lines];
    changed[line] = text.slice(0, start) + inserted + text.slice(column).replace(/^ /, "");
    return { lines: changed, cursorLine: line, cursorCol: start + inserted.length };
  }
}
