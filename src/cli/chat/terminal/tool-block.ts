/** A tool call on the screen: its title and how it stands, and below it what it printed or changed. */
import type { Part } from "../../../core/content.js";
import type { Call, EventOf } from "../../../core/event.js";
import { OutputBuffer } from "../../../engine/workspace/output.js";
import { callTitle } from "../call-title.js";
import type { Role, Theme } from "../theme.js";
import { Block, wrapped } from "./blocks.js";
import { foreign, outputRows, partRows } from "./part-rows.js";

const MOST_OUTPUT = 200_000;

type Ended = Pick<EventOf<"tool.ended">, "status" | "reason" | "output">;

export class ToolBlock extends Block {
  readonly #theme: Theme;
  readonly #isUnfolded: () => boolean;
  readonly #title: string;
  readonly #isNested: boolean;
  readonly #printed = new OutputBuffer(MOST_OUTPUT);
  #isRunning = false;
  #ended: Ended | undefined;

  constructor(call: Call, isNested: boolean, theme: Theme, isUnfolded: () => boolean) {
    super();
    this.#theme = theme;
    this.#isUnfolded = isUnfolded;
    this.#title = foreign(callTitle(call));
    this.#isNested = isNested;
  }

  get title(): string {
    return this.#title;
  }

  start(): void {
    this.#isRunning = true;
    this.invalidate();
  }

  print(text: string): void {
    this.#printed.push(text);
    this.invalidate();
  }

  end(ended: Ended): void {
    this.#isRunning = false;
    this.#ended = ended;
    this.invalidate();
  }

  protected draw(width: number): string[] {
    const inset = this.#isNested ? "  " : "";
    const [role, mark] = this.#mark();
    const title = wrapped(this.#title, width - inset.length, `${mark} `);
    const head = title.map((row, at) => (at === 0 ? row.replace(mark, () => this.#theme.paint(role, mark)) : row));
    return [...head, ...this.#below(width - inset.length - 2).map((row) => `  ${row}`)].map((row) => `${inset}${row}`);
  }

  #mark(): [Role, string] {
    const { marks } = this.#theme;
    switch (this.#ended?.status) {
      case undefined:
        return [this.#isRunning ? "accent" : "aside", marks.call];
      case "ok":
        return ["good", marks.call];
      case "failed":
        return ["error", marks.failed];
      case "denied":
      case "cancelled":
        return ["warning", marks.failed];
      default:
        return ["aside", marks.call];
    }
  }

  #below(width: number): string[] {
    const drawing = { theme: this.#theme, width, isUnfolded: this.#isUnfolded() };
    const printed = outputRows(this.#printed.text(), drawing);
    if (this.#ended === undefined) return printed;
    const { status, reason = "", output = [] } = this.#ended;
    if (status === "denied" || status === "cancelled")
      return [this.#theme.paint("warning", `${status}${reason === "" ? "" : `: ${foreign(reason)}`}`)];
    const isFailed = status === "failed";
    // Output that was printed meanwhile is not shown again; the failure of a command is.
    const unseen = printed.length === 0 ? output : output.flatMap((part) => endOf(part, isFailed));
    const rows = unseen.flatMap((part) => partRows(part, { ...drawing, isFailed }));
    return [...printed, ...rows];
  }
}

function endOf(part: Part, isFailed: boolean): Part[] {
  if (part.type === "diff" || part.type === "todo" || part.type === "plan") return [part];
  if (!isFailed) return [];
  return part.type === "terminal" ? [{ ...part, text: part.text.split("\n", 1)[0] ?? "" }] : part.type === "text" ? [part] : [];
}
