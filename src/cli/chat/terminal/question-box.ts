/** A question above the input: what will run or change comes first and stays in sight, then the answers with their keys. */
import type { Component } from "@earendil-works/pi-tui";
import type { Call } from "../../../core/event.js";
import { argumentRows } from "../call-arguments.js";
import { callTitle } from "../call-title.js";
import { approvalOptions } from "../replies-of-people.js";
import type { Theme } from "../theme.js";
import type { Choice } from "../view.js";
import { clipped, wrapped } from "./blocks.js";
import { foreign, outputRows, partRows, type Drawing } from "./part-rows.js";

interface Option {
  key: string;
  words: string;
}

/** How the screen stands. */
export interface Room {
  rows: number;
  isUnfolded: boolean;
}

/** Rows below and above a question: the line of life, the input, the status. */
const OTHER_ROWS = 8;
const LEAST_BODY = 6;

export class QuestionBox implements Component {
  readonly #theme: Theme;
  readonly #title: string;
  readonly #body: (width: number, room: Room) => string[];
  readonly #options: readonly Option[];
  readonly #room: () => Room;
  /** The option that the arrows chose. */
  #chosen = -1;

  private constructor(
    theme: Theme,
    room: () => Room,
    title: string,
    options: readonly Option[],
    body: (width: number, room: Room) => string[],
  ) {
    this.#theme = theme;
    this.#room = room;
    this.#title = title;
    this.#options = options;
    this.#body = body;
  }

  static ofCall(call: Call, theme: Theme, room: () => Room): QuestionBox {
    // A command stands below, whole.
    const title = typeof call.args?.["command"] === "string" ? call.name : callTitle(call);
    return new QuestionBox(theme, room, foreign(title), approvalOptions(call), (width, { rows, isUnfolded }) =>
      callRows(call, { theme, width, isUnfolded, most: rows }),
    );
  }

  static ofQuestion(text: string, choices: readonly Choice[], isMultiple: boolean, theme: Theme, room: () => Room): QuestionBox {
    const options = choices.map(({ label, description }, at) => ({
      key: String(at + 1),
      words: foreign(description === undefined ? label : `${label} (${description})`),
    }));
    const how = isMultiple ? "numbers with commas, or your own words" : "a number, or your own words";
    return new QuestionBox(theme, room, foreign(text), options, () => [theme.paint("aside", how)]);
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
    const { rows, isUnfolded } = this.#room();
    const most = Math.max(LEAST_BODY, rows - title.length - options.length - OTHER_ROWS);
    const body = this.#body(width - 2, { rows: most, isUnfolded });
    // The title stays in sight, however long the rest is.
    const again = body.length > most ? title : [];
    const all = [...title, ...body, ...again, ...options].map((row) => `${bar} ${row}`);
    return clipped(["", ...all], width);
  }

  invalidate(): void {
    // It is drawn anew each time.
  }
}

/** The effect of the call, so that the user does not approve a title alone. */
function callRows({ args = {}, preview = [] }: Call, drawing: Drawing & { most: number }): string[] {
  // Each part has a row of its own above what is folded.
  const most = Math.max(LEAST_BODY, Math.floor(drawing.most / Math.max(1, preview.length))) - 1;
  if (preview.length > 0) return preview.flatMap((part) => partRows(part, { ...drawing, most }));
  const { command } = args;
  if (typeof command === "string") return wrapped(foreign(command), drawing.width, "$ ");
  return outputRows(argumentRows(args).join("\n"), drawing);
}
