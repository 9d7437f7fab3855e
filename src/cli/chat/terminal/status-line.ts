/** The facts below the input: mode, model, how full the model's window is, cost and branch. */
import { truncateToWidth, type Component } from "@earendil-works/pi-tui";
import type { Theme } from "../theme.js";
import type { Status } from "../view.js";

export class StatusLine implements Component {
  readonly #theme: Theme;
  #status: Status | undefined;
  /** A word to the user in place of the facts. */
  hint = "";

  constructor(theme: Theme) {
    this.#theme = theme;
  }

  set status(status: Status) {
    this.#status = status;
  }

  render(width: number): string[] {
    const text = this.hint === "" ? this.#facts() : this.#theme.paint("warning", this.hint);
    return [truncateToWidth(text, width, this.#theme.marks.more)];
  }

  invalidate(): void {
    // It is drawn anew each time.
  }

  #facts(): string {
    if (this.#status === undefined) return "";
    const { mode, model, context, cost, branch } = this.#status;
    const full = context === undefined || context.limit <= 0 ? [] : [`${Math.round((100 * context.used) / context.limit)} % of the window`];
    const paid = cost === undefined ? [] : [`$${cost.toFixed(2)}`];
    const facts = [model, ...full, ...paid, ...(branch === undefined ? [] : [branch])];
    const role = mode === "yolo" ? "error" : mode === "default" ? "aside" : "warning";
    const dot = ` ${this.#theme.marks.dot} `;
    return `${this.#theme.paint(role, mode)}${this.#theme.paint("aside", `${dot}${facts.join(dot)}`)}`;
  }
}
