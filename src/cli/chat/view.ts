/** The contract between the conversation and what shows it: a full terminal, or plain lines where the terminal can do no more. */
import type { ThemeName } from "./theme.js";
import type { Mode } from "../../core/config.js";
import type { Part } from "../../core/content.js";
import type { Call, Event } from "../../core/event.js";

export type Tone = "plain" | "aside" | "warning" | "error";

/** Facts that stay in sight. */
export interface Status {
  mode: Mode;
  model: string;
  folder: string;
  context?: { used: number; limit: number } | undefined;
  cost?: number | undefined;
  branch?: string | undefined;
}

export interface Choice {
  value: string;
  label: string;
  description?: string | undefined;
  current?: boolean | undefined;
}

export interface Suggested {
  value: string;
  label: string;
  description?: string | undefined;
}

/** The wishes of the user. */
export interface ChatListener {
  entered(text: string): void;
  /** The text goes to the running turn instead of behind it. */
  steered(text: string): void;
  /** Ends the running turn; false when none runs. */
  interrupted(): boolean;
  /** The next mode. */
  modeWanted(): void;
  rewindWanted(): void;
  /** The word that stands for the image on the clipboard; undefined where there is none, which is said. */
  imageWanted(): Promise<string | undefined>;
  /** The newest prompt that waits, taken back to be edited. */
  takeQueued(): string | undefined;
  /** Completions of the text from its `/` or `@` on; none where it is whole already. */
  suggest(trigger: "slash" | "at", text: string): Promise<Suggested[]>;
  /** The user does not wait for the end of the turn any more. */
  abandoned(): void;
}

export interface ChatView {
  /** Takes input from now on; what was entered before comes first. */
  listen(listener: ChatListener): void;
  show(event: Event): void;
  say(tone: Tone, text: string): void;
  /** The prompt that begins a turn. */
  prompted(text: string): void;
  parts(parts: readonly Part[]): void;
  copy(text: string): void;
  status(status: Status): void;
  /** Whether something is under way. */
  busy(isBusy: boolean): void;
  queued(prompts: readonly string[]): void;
  /** Puts text before the user to go on with. */
  edit(text: string): void;
  /** The user's words about a call; undefined when the question was withdrawn or the terminal is closed. */
  approve(call: Call, signal: AbortSignal): Promise<string | undefined>;
  /** One answer of the user; undefined as above. */
  answer(question: { text: string; options: readonly Choice[]; isMultiple: boolean }, signal: AbortSignal): Promise<string | undefined>;
  /** The value that the user picks; undefined where none is picked. */
  pick(title: string, choices: readonly Choice[]): Promise<string | undefined>;
  readonly theme: ThemeName;
  /** False when there is no such theme. */
  setTheme(name: string): boolean;
  /** Takes no more input; the last code counts. */
  leave(code: number): void;
  readonly left: Promise<void>;
  readonly code: number;
  /** Gives the terminal back, with a last word. */
  dispose(farewell: string | undefined): Promise<void>;
}
