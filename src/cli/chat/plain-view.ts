/** The chat in plain lines, for a terminal that can do nothing but print. */
import { createInterface, type Interface } from "node:readline";
import type { Part } from "../../core/content.js";
import type { Call, Event } from "../../core/event.js";
import { PlainQuestions } from "./plain-questions.js";
import { commandOf } from "./results.js";
import { endLine, Screen, type ScreenOptions } from "./screen.js";
import { imageMentions } from "./terminal/pasted.js";
import type { ThemeName } from "./theme.js";
import type { ChatListener, ChatView, Choice, Status, Tone } from "./view.js";

export class PlainView implements ChatView {
  readonly left: Promise<void>;
  readonly #screen: Screen;
  readonly #lines: Interface;
  readonly #questions: PlainQuestions;
  readonly #closed = new AbortController();
  #listener: ChatListener | undefined;
  #early: string[] = [];
  #answers: ((line: string) => void) | undefined;
  #mode = "default";
  #folder = process.cwd();
  /** Whether the last thing printed is a prompt. */
  #isPrompting = false;
  #code = 0;
  #typed = "";
  #resolveLeft: () => void = () => {};

  constructor(options: Pick<ScreenOptions, "theme" | "looks">) {
    this.#screen = new Screen({ answer: process.stdout, aside: process.stdout, progress: true, ...options });
    this.#questions = new PlainQuestions(this.#screen, (question, signal) => this.#ask(question, signal));
    this.left = new Promise((resolve) => (this.#resolveLeft = resolve));
    this.#lines = createInterface({ input: process.stdin, terminal: false });
    this.#lines.on("line", (line) => this.#entered(line));
    this.#lines.once("close", () => this.leave(this.#code));
  }

  get code(): number {
    return this.#code;
  }

  listen(listener: ChatListener): void {
    this.#listener = listener;
    if (this.#early.length === 0) this.#prompt();
    for (const text of this.#early.splice(0)) listener.entered(text);
  }

  show(event: Event): void {
    this.#screen.show(event);
    if (event.type === "turn.ended") this.#screen.aside(endLine(event));
  }

  say(tone: Tone, text: string): void {
    if (tone === "plain") this.#screen.line(this.#screen.foreign(text));
    else if (tone === "aside") this.#screen.aside(text);
    else if (tone === "warning") this.#screen.warning(text);
    else this.#screen.error(text);
  }

  /** A line that was just typed stands there already. */
  prompted(text: string): void {
    if (text !== this.#typed) this.#screen.line(`> ${this.#screen.foreign(text)}`);
    this.#typed = "";
  }

  parts(parts: readonly Part[]): void {
    this.#screen.parts(parts);
  }

  copy(text: string): void {
    this.#screen.line(this.#screen.foreign(text));
  }

  status({ mode, folder }: Status): void {
    this.#mode = mode;
    this.#folder = folder;
  }

  busy(isBusy: boolean): void {
    const isFree = this.#listener !== undefined && this.#answers === undefined;
    if (!isBusy && isFree && !this.#isPrompting) this.#prompt();
  }

  queued(prompts: readonly string[]): void {
    const last = prompts.at(-1);
    if (last !== undefined && last === this.#typed) this.#screen.aside("(waits for the end of the turn; /steer tells the running turn)");
  }

  edit(text: string): void {
    this.#screen.aside(`(not sent: ${text})`);
  }

  get theme(): ThemeName {
    return this.#screen.theme;
  }

  setTheme(name: string): boolean {
    return this.#screen.setTheme(name);
  }

  approve(call: Call, signal: AbortSignal): Promise<string | undefined> {
    return this.#questions.approve(call, signal);
  }

  answer(question: Parameters<ChatView["answer"]>[0], signal: AbortSignal): Promise<string | undefined> {
    return this.#questions.answer(question, signal);
  }

  pick(title: string, choices: readonly Choice[]): Promise<string | undefined> {
    return this.#questions.pick(title, choices, this.#closed.signal);
  }

  leave(code: number): void {
    if (this.#closed.signal.aborted) this.#listener?.abandoned();
    this.#code = code;
    this.#closed.abort();
    this.#resolveLeft();
  }

  dispose(farewell: string | undefined): Promise<void> {
    this.#lines.close();
    process.stdin.pause();
    if (farewell !== undefined) this.#screen.line(farewell);
    return Promise.resolve();
  }

  #ask(question: string, withdrawn: AbortSignal): Promise<string | undefined> {
    const signal = AbortSignal.any([withdrawn, this.#closed.signal]);
    if (signal.aborted) return Promise.resolve(undefined);
    this.#screen.line(question);
    return new Promise((resolve) => {
      const settle = (reply: string | undefined): void => {
        signal.removeEventListener("abort", withdraw);
        this.#answers = undefined;
        resolve(reply);
      };
      const withdraw = (): void => settle(undefined);
      signal.addEventListener("abort", withdraw);
      this.#answers = settle;
    });
  }

  #entered(line: string): void {
    if (this.#answers !== undefined && commandOf(line.trim()) === undefined) return this.#answers(line);
    this.#typed = imageMentions(line, this.#folder)?.trim() ?? line.trim();
    this.#isPrompting = false;
    if (this.#listener === undefined) this.#early.push(this.#typed);
    else if (this.#typed === "") this.#prompt();
    else this.#listener.entered(this.#typed);
  }

  #prompt(): void {
    if (this.#closed.signal.aborted) return;
    this.#isPrompting = true;
    process.stdout.write(`\n${this.#mode === "default" ? "" : this.#mode}> `);
  }
}
