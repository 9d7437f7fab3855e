/** The questions of a session in plain lines. */
import type { Call } from "../../core/event.js";
import { argumentRows } from "./call-arguments.js";
import { callTitle } from "./call-title.js";
import { approvalOptions } from "./replies-of-people.js";
import type { Screen } from "./screen.js";
import type { ChatView, Choice } from "./view.js";

/** Undefined when the question was withdrawn or the terminal is closed. */
export type AskLine = (question: string, signal: AbortSignal) => Promise<string | undefined>;

export class PlainQuestions implements Pick<ChatView, "approve" | "answer"> {
  readonly #screen: Screen;
  readonly #ask: AskLine;

  constructor(screen: Screen, ask: AskLine) {
    this.#screen = screen;
    this.#ask = ask;
  }

  /** The effect of the call comes first, so that nobody approves a title alone. */
  approve(call: Call, signal: AbortSignal): Promise<string | undefined> {
    const { preview = [], args = {} } = call;
    this.#screen.line(`${this.#screen.foreign(callTitle(call))} needs your approval.`);
    if (preview.length > 0) this.#screen.parts(preview);
    else if (typeof args["command"] === "string") this.#screen.line(this.#screen.foreign(args["command"].replace(/^/gm, "  $ ")));
    else for (const row of argumentRows(args)) this.#screen.line(this.#screen.foreign(`  ${row}`));
    for (const { key, words } of approvalOptions(call)) this.#screen.line(`  ${key}  ${this.#screen.foreign(words)}`);
    return this.#ask("Allow? ", signal);
  }

  answer(
    { text, options, isMultiple }: { text: string; options: readonly Choice[]; isMultiple: boolean },
    signal: AbortSignal,
  ): Promise<string | undefined> {
    this.list(text, options);
    return this.#ask(`Your answer (${isMultiple ? "numbers with commas" : "a number"}, or your own words): `, signal);
  }

  /** The value of the number that was typed; undefined without one of the list. */
  async pick(title: string, choices: readonly Choice[], signal: AbortSignal): Promise<string | undefined> {
    this.list(title, choices);
    const reply = await this.#ask("Which one (a number, or nothing)? ", signal);
    return choices[Number(reply?.trim()) - 1]?.value;
  }

  list(title: string, choices: readonly Choice[]): void {
    this.#screen.line(this.#screen.foreign(title));
    for (const [at, { label, description = "", current }] of choices.entries())
      this.#screen.line(this.#screen.foreign(`${current === true ? "*" : " "} ${at + 1}. ${label}  ${description}`.trimEnd()));
  }
}
