/** The chat as a terminal program: the conversation above, and below it the line of life, questions, the input and the status. */
import { Container, Editor, matchesKey, TUI } from "@earendil-works/pi-tui";
import type { Part } from "../../../core/content.js";
import type { Call, Event } from "../../../core/event.js";
import type { PromptHistory } from "../prompt-history.js";
import { commandOf } from "../results.js";
import type { Theme, ThemeName } from "../theme.js";
import type { ChatListener, ChatView, Choice, Status, Tone } from "../view.js";
import { TextBlock } from "./blocks.js";
import { FOCUS_IN, FOCUS_OUT, LAST_FRAME_MS, type ChatTerminal } from "./chat-terminal.js";
import { LifeLine } from "./life-line.js";
import { markdownTheme } from "./markdown-theme.js";
import { foreign } from "./part-rows.js";
import { EMPTY_PASTE, pasted } from "./pasted.js";
import { listTheme, Picker } from "./picker.js";
import { QuestionBox, type Room } from "./question-box.js";
import { StatusLine } from "./status-line.js";
import { Suggestions } from "./suggestions.js";
import { Transcript } from "./transcript.js";

const SUGGESTIONS = 8;
const TWO_ESCAPES = "\u001b\u001b";

interface Asking {
  box: QuestionBox;
  /** The half-written text that stood there before the question came. */
  aside: string;
  settle(reply: string | undefined): void;
}

/** Tells the terminal the rows of a frame. */
class ChatScreen extends TUI {
  readonly #terminal: ChatTerminal;

  constructor(terminal: ChatTerminal) {
    super(terminal);
    this.#terminal = terminal;
  }

  override render(width: number): string[] {
    const rows = super.render(width);
    this.#terminal.lay(rows);
    return rows;
  }
}

export class TerminalView implements ChatView {
  readonly left: Promise<void>;
  readonly #terminal: ChatTerminal;
  readonly #theme: Theme;
  readonly #history: PromptHistory;
  readonly #tui: TUI;
  readonly #transcript: Transcript;
  readonly #life: LifeLine;
  readonly #waiting = new Container();
  readonly #slot = new Container();
  readonly #editor: Editor;
  readonly #status: StatusLine;
  readonly #closed = new AbortController();
  #listener: ChatListener | undefined;
  #suggestions: Suggestions | undefined;
  #early: string[] = [];
  #asking: Asking | undefined;
  #isPicking = false;
  #hasQueue = false;
  #folder = process.cwd();
  #code = 0;
  /** The effect that a key has when it is pressed again at once. */
  #armed: "leave" | "rewind" | undefined;
  #isStopped = false;
  #resolveLeft: () => void = () => {};

  constructor(terminal: ChatTerminal, theme: Theme, history: PromptHistory) {
    this.#terminal = terminal;
    this.#theme = theme;
    this.#history = history;
    this.left = new Promise((resolve) => (this.#resolveLeft = resolve));
    this.#tui = new ChatScreen(terminal);
    this.#transcript = new Transcript(
      theme,
      markdownTheme(theme, () => this.#redrawAll()),
    );
    this.#life = new LifeLine(theme, () => this.#redraw());
    this.#status = new StatusLine(theme);
    this.#editor = new Editor(
      this.#tui,
      { borderColor: (text) => theme.paint("aside", text), selectList: listTheme(theme) },
      { autocompleteMaxVisible: SUGGESTIONS },
    );
    for (const text of history.read().toReversed()) this.#editor.addToHistory(text);
    this.#editor.onSubmit = (text) => this.#submitted(text);
    for (const part of [this.#transcript, this.#life, this.#waiting, this.#slot, this.#editor, this.#status]) this.#tui.addChild(part);
    this.#tui.setFocus(this.#editor);
    this.#tui.addInputListener((data) => (this.#pressed(data) ? { consume: true } : { data: pasted(data, this.#folder) }));
    process.on("SIGCONT", this.#goOn);
    process.once("exit", this.#giveBack);
    process.stdin.once("end", () => this.leave(0));
    this.#tui.start();
  }

  get code(): number {
    return this.#code;
  }

  listen(listener: ChatListener): void {
    this.#listener = listener;
    this.#suggestions = new Suggestions((trigger, text) => listener.suggest(trigger, text));
    this.#editor.setAutocompleteProvider(this.#suggestions);
    for (const text of this.#early.splice(0)) listener.entered(text);
  }

  // --- what is shown ---

  show(event: Event): void {
    this.#transcript.show(event);
    this.#life.follow(event, (call) => this.#transcript.titleOf(call));
    if (event.type === "turn.ended") this.#terminal.notify("The turn has ended");
    this.#redraw();
  }

  say(tone: Tone, text: string): void {
    this.#transcript.say(tone, text);
    this.#redraw();
  }

  prompted(text: string): void {
    this.#transcript.prompted(text);
    this.#redraw();
  }

  parts(parts: readonly Part[]): void {
    this.#transcript.parts(parts);
    this.#redraw();
  }

  copy(text: string): void {
    this.#terminal.copy(text);
    this.say("aside", `${text.length} characters were sent to the terminal's clipboard; not every terminal takes them.`);
  }

  status(status: Status): void {
    this.#status.status = status;
    this.#folder = status.folder;
    this.#terminal.setTitle(`parley ${this.#theme.marks.dot} ${foreign(status.folder.split(/[\\/]/).at(-1) ?? "")}`);
    this.#redraw();
  }

  busy(isBusy: boolean): void {
    this.#life.isOn = isBusy;
    this.#redraw();
  }

  queued(prompts: readonly string[]): void {
    this.#hasQueue = prompts.length > 0;
    this.#waiting.clear();
    const hint = prompts.length === 0 ? [] : [`(Up edits the last one, Ctrl-Enter tells the running turn)`];
    for (const text of [...prompts.map((prompt) => `${this.#theme.marks.queued} ${foreign(prompt)}`), ...hint])
      this.#waiting.addChild(new TextBlock(text, (row) => this.#theme.paint("aside", row)));
    this.#redraw();
  }

  edit(text: string): void {
    const half = this.#editor.getText();
    this.#editor.setText(half === "" ? text : `${text}\n${half}`);
    this.#redraw();
  }

  get theme(): ThemeName {
    return this.#theme.name;
  }

  setTheme(name: string): boolean {
    const isKnown = this.#theme.set(name);
    this.#redrawAll();
    return isKnown;
  }

  // --- questions ---

  approve(call: Call, signal: AbortSignal): Promise<string | undefined> {
    return this.#ask(
      QuestionBox.ofCall(call, this.#theme, () => this.#room()),
      signal,
    );
  }

  answer(
    { text, options, isMultiple }: { text: string; options: readonly Choice[]; isMultiple: boolean },
    signal: AbortSignal,
  ): Promise<string | undefined> {
    return this.#ask(
      QuestionBox.ofQuestion(text, options, isMultiple, this.#theme, () => this.#room()),
      signal,
    );
  }

  #room(): Room {
    return { rows: this.#terminal.rows, isUnfolded: this.#transcript.isUnfolded };
  }

  pick(title: string, choices: readonly Choice[]): Promise<string | undefined> {
    if (this.#closed.signal.aborted || choices.length === 0) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      const done = (value: string | undefined): void => {
        this.#closed.signal.removeEventListener("abort", cancel);
        this.#isPicking = false;
        this.#slot.removeChild(picker);
        this.#tui.setFocus(this.#editor);
        this.#redraw();
        resolve(value);
      };
      const cancel = (): void => done(undefined);
      const picker = new Picker(this.#theme, title, choices, done);
      this.#closed.signal.addEventListener("abort", cancel);
      this.#isPicking = true;
      this.#slot.addChild(picker);
      this.#tui.setFocus(picker);
      this.#redraw();
    });
  }

  /** The input belongs to the question until it is settled; what was half-written comes back then. */
  #ask(box: QuestionBox, withdrawn: AbortSignal): Promise<string | undefined> {
    const signal = AbortSignal.any([withdrawn, this.#closed.signal]);
    if (signal.aborted) return Promise.resolve(undefined);
    this.#terminal.notify("A question waits for your answer");
    return new Promise((resolve) => {
      const settle = (reply: string | undefined): void => {
        signal.removeEventListener("abort", withdraw);
        this.#asking = undefined;
        this.#slot.removeChild(box);
        this.#editor.setText(asking.aside);
        this.#redraw();
        resolve(reply);
      };
      const withdraw = (): void => settle(undefined);
      const asking: Asking = { box, aside: this.#editor.getText(), settle };
      this.#asking = asking;
      signal.addEventListener("abort", withdraw);
      this.#editor.setText("");
      this.#slot.addChild(box);
      this.#redraw();
    });
  }

  // --- keys ---

  #submitted(text: string): void {
    const asking = this.#asking;
    if (asking !== undefined) {
      // A command is one, whatever is asked.
      if (commandOf(text) !== undefined) return this.#listener?.entered(text);
      const reply = text === "" ? asking.box.chosen : text;
      return reply === undefined ? undefined : asking.settle(reply);
    }
    if (text === "") return;
    this.#editor.addToHistory(text);
    this.#history.add(text);
    if (this.#listener === undefined) this.#early.push(text);
    else this.#listener.entered(text);
  }

  /** True when the key is none for the input. */
  #pressed(data: string): boolean {
    if (data === FOCUS_IN || data === FOCUS_OUT) {
      this.#terminal.isFocused = data === FOCUS_IN;
      return true;
    }
    const [armed, isEmpty] = [this.#armed, this.#editor.getText() === ""];
    this.#armed = undefined;
    if (this.#status.hint !== "") {
      this.#status.hint = "";
      this.#redraw();
    }
    if (matchesKey(data, "ctrl+z")) return this.#stop();
    // The library leaves a list of completions there when its line is cleared; setting its source anew puts the list away.
    if (matchesKey(data, "ctrl+u") && this.#suggestions !== undefined) this.#editor.setAutocompleteProvider(this.#suggestions);
    // A list that is offered before the conversation begins is left as the chat is.
    const isLeaving = this.#listener === undefined && (matchesKey(data, "ctrl+c") || matchesKey(data, "ctrl+d"));
    if (this.#isPicking && !isLeaving) return false;
    if (matchesKey(data, "ctrl+c")) return this.#ctrlC(isEmpty, armed === "leave");
    if (matchesKey(data, "ctrl+d") && isEmpty) return this.#leaves(0);
    // Two that come together are one sequence.
    if (data === TWO_ESCAPES && !this.#editor.isShowingAutocomplete()) return this.#escape(isEmpty, isEmpty);
    if (matchesKey(data, "escape") && !this.#editor.isShowingAutocomplete()) return this.#escape(isEmpty, armed === "rewind");
    if (matchesKey(data, "shift+tab")) return this.#does(() => this.#listener?.modeWanted());
    if (matchesKey(data, "ctrl+o")) return this.#does(() => this.#unfold());
    if (matchesKey(data, "ctrl+r")) return this.#does(() => void this.#searchHistory());
    // A terminal whose clipboard holds no text pastes nothing.
    if (matchesKey(data, "ctrl+v") || data === EMPTY_PASTE) return this.#does(() => void this.#pasteImage());
    if (matchesKey(data, "ctrl+enter") && !isEmpty && this.#asking === undefined) return this.#does(() => this.#steer());
    const isUp = matchesKey(data, "up");
    if (this.#asking !== undefined && isEmpty && (isUp || matchesKey(data, "down")))
      return this.#does(() => this.#asking?.box.move(isUp ? -1 : 1));
    if (isUp && isEmpty && this.#hasQueue) return this.#does(() => this.#editor.setText(this.#listener?.takeQueued() ?? ""));
    return false;
  }

  /** The rows that scrolled away show it, too. */
  #unfold(): void {
    this.#transcript.unfold();
    if (this.#transcript.isUnfolded) this.#terminal.draw("all");
  }

  #does(act: () => void): true {
    act();
    this.#redraw();
    return true;
  }

  /** Interrupts what runs; else clears the line; on an empty line the second one leaves. */
  #ctrlC(isEmpty: boolean, isSecond: boolean): true {
    if (this.#closed.signal.aborted) this.#code = 130;
    if (this.#listener?.interrupted() === true) return true;
    if (this.#closed.signal.aborted) this.#listener?.abandoned();
    else if (!isEmpty) this.#editor.setText("");
    else if (isSecond || this.#listener === undefined) return this.#leaves(130);
    else this.#arm("leave", "Ctrl-C once more leaves");
    this.#redraw();
    return true;
  }

  /** Interrupts what runs; on an empty line the second one offers to go back. */
  #escape(isEmpty: boolean, isSecond: boolean): true {
    if (this.#listener?.interrupted() === true || !isEmpty) return true;
    if (isSecond) this.#listener?.rewindWanted();
    else this.#arm("rewind", "Esc once more goes back to an earlier prompt");
    this.#redraw();
    return true;
  }

  #arm(effect: "leave" | "rewind", hint: string): void {
    this.#armed = effect;
    this.#status.hint = hint;
  }

  #steer(): void {
    const text = this.#editor.getExpandedText();
    this.#editor.setText("");
    this.#editor.addToHistory(text);
    this.#history.add(text);
    if (this.#listener === undefined) this.#early.push(text);
    else this.#listener.steered(text);
  }

  async #pasteImage(): Promise<void> {
    const word = await this.#listener?.imageWanted();
    if (word !== undefined) this.#editor.insertTextAtCursor(`${word} `);
    this.#redraw();
  }

  async #searchHistory(): Promise<void> {
    const prompts = this.#history.read();
    const found = await this.pick(
      "Earlier prompts",
      prompts.map((value) => ({ value, label: value.replaceAll("\n", " ") })),
    );
    if (found !== undefined) this.#editor.setText(found);
    this.#redraw();
  }

  // --- the end, and stops on the way ---

  leave(code: number): void {
    this.#leaves(code);
  }

  #leaves(code: number): true {
    this.#code = code;
    if (this.#life.isOn) this.#status.hint = "Leaving when the turn has ended; Ctrl-C interrupts it";
    this.#closed.abort();
    this.#resolveLeft();
    this.#redraw();
    return true;
  }

  async dispose(farewell: string | undefined): Promise<void> {
    for (const part of [this.#life, this.#waiting, this.#slot, this.#editor, this.#status]) this.#tui.removeChild(part);
    this.#life.isOn = false;
    this.#redraw();
    await new Promise((resolve) => setTimeout(resolve, LAST_FRAME_MS));
    await this.#terminal.drainInput();
    this.#giveBack();
    process.off("exit", this.#giveBack);
    process.off("SIGCONT", this.#goOn);
    if (farewell !== undefined) process.stdout.write(`${farewell}\n`);
  }

  /** Ctrl-Z stops our whole process group, as the terminal would do it. */
  #stop(): true {
    this.#giveBack();
    process.kill(0, "SIGTSTP");
    // A process group without a shell is not stopped, because nothing would continue it; elsewhere SIGCONT is heard before the second of these.
    setImmediate(() => setImmediate(() => this.#isStopped && this.#goOn()));
    return true;
  }

  readonly #giveBack = (): void => {
    if (this.#isStopped) return;
    this.#isStopped = true;
    this.#tui.stop();
  };

  /** The shell has changed the terminal's mode meanwhile. */
  readonly #goOn = (): void => {
    if (!this.#isStopped) this.#giveBack();
    this.#isStopped = false;
    this.#tui.start();
    this.#terminal.draw("below");
    this.#tui.requestRender(true);
  };

  #redraw(): void {
    if (!this.#isStopped) this.#tui.requestRender();
  }

  #redrawAll(): void {
    this.#tui.invalidate();
    this.#redraw();
  }
}
