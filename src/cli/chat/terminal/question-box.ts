/** A question above the input: what will run or change comes first and stays in sight, then the answers with their keys. */
import type { Component } from "@earendil-works/pi-tui";
import type { Call } from "../../../core/event.js";
import { callTitle } from "../call-title.js";
import { approvalOptions } from "../replies-of-people.js";
import type { Theme } from "../theme.js";
import type { Choice } from "../view.js";
import { wrapped } from "./blocks.js";
import { foreign, outputRows, partRows } from "./part-rows.js";

interface Option {
  key: string;
  words: string;
}

/** Rows of a question that are shown before the rest is folded. */
const MOST_BODY = 24;

export class QuestionBox implements Component {
  readonly #theme: Theme;
  readonly #title: string;
  readonly #body: (width: number) => string[];
  readonly #options: readonly Option[];
  /** The option that the arrows chose. */
  #chosen = -1;

  private constructor(theme: Theme, title: string, body: (width: number) => string[], options: readonly Option[]) {
    this.#theme = theme;
    this.#title = title;
    this.#body = body;
    this.#options = options;
  }

  static ofCall(call: Call, theme: Theme, isUnfolded: () => boolean): QuestionBox {
    const body = (width: number): string[] => callRows(call, theme, width, isUnfolded());
    // A command stands below, whole.
    const title = typeof call.args?.["command"] === "string" ? call.name : callTitle(call);
    return new QuestionBox(theme, foreign(title), body, approvalOptions(call));
  }

  static ofQuestion(text: string, choices: readonly Choice[], isMultiple: boolean, theme: Theme): QuestionBox {
    const options = choices.map(({ label, description }, at) => ({
      key: String(at + 1),
      words: foreign(description === undefined ? label : `${label} (${description})`),
    }));
    const how = isMultiple ? "numbers with commas, or your own words" : "a number, or your own words";
    return new QuestionBox(theme, foreign(text), () => [theme.paint("aside", how)], options);
  }

  /** Moves the mark; an empty input then means that option. */
  move(step: 1 | -1): void {
    const count = this.#options.length;
    this.#chosen = this.#chosen === -1 ? (step === 1 ? 0 : count - 1) : (this.#chosen + step + count) % count;
  }

  /** The key of the marked option; undefined while none is marked. */
  get chosen(): string | undefined {
    return this.#options[this.#chosen]?.key;
  }

  render(width: number): string[] {
    const { marks } = this.#theme;
    const bar = this.#theme.paint("warning", marks.bar);
    const title = wrapped(this.#title, width - 2).map((row) => this.#theme.bold(row));
    const options = this.#options.flatMap(({ key, words }, at) =>
      wrapped(`${this.#theme.paint("accent", key)}  ${words}`, width - 4).map((row, nth) =>
        at === this.#chosen ? `${nth === 0 ? "> " : "  "}${this.#theme.underline(row)}` : `  ${row}`,
      ),
    );
    return ["", ...[...title, ...this.#body(width - 2), ...options].map((row) => `${bar} ${row}`)];
  }

  invalidate(): void {
    // It is drawn anew each time.
  }
}

/** The effect of the call, so that the user does not approve a title alone. */
function callRows({ args = {}, preview = [] }: Call, theme: Theme, width: number, isUnfolded: boolean): string[] {
  const drawing = { theme, width, isUnfolded };
  if (preview.length > 0) return preview.flatMap((part) => partRows(part, drawing));
  const { command } = args;
  if (typeof command === "string") return wrapped(foreign(command), width, "$ ");
  const shownArgs = Object.entries(args).filter(([, value]) => value !== undefined);
  if (shownArgs.length === 0) return [];
  return outputRows(
    shownArgs.map(([key, value]) => `${key}: ${typeof value === "string" ? value : JSON.stringify(value)}`).join("\n"),
    drawing,
  ).slice(0, isUnfolded ? undefined : MOST_BODY);
}
