/** The type of a command: its name and help, the completion of its arguments, and its run. */
import type { CommandResult, Suggestion } from "../../../core/command.js";
import type { Part } from "../../../core/content.js";
import { ParleyError } from "../../../core/errors.js";
import { nearest } from "../../../core/text/nearest-word.js";
import type { OpOf } from "../../../core/op.js";

/** The outcome of a command; a command that becomes a prompt brings the prompt along. */
export type CommandOutcome = Exclude<CommandResult, { type: "submit_prompt" }> | { type: "submit_prompt"; prompt: Part[] };

/** A command as it is asked for. */
export type NamedCommand = Pick<NonNullable<OpOf<"turn.prompt">["command"]>, "name" | "of">;

export interface Command {
  readonly name: string;
  readonly aliases?: readonly string[];
  readonly description: string;
  readonly argumentHint?: string;
  readonly source: "builtin" | "skill" | "mcp";
  /**
   * Whether the command runs beside a turn, with these arguments; otherwise it waits in the queue. An immediate command never becomes a
   * prompt.
   */
  immediate?(args: string): boolean;
  /** Whole arguments that the given ones may become. The caller leaves out the ones with another beginning. */
  complete?(args: string): Promise<Suggestion[]>;
  /** Throws a fault that says what is wrong with the arguments. */
  run(args: string, signal: AbortSignal): Promise<CommandOutcome>;
}

export const always = (): boolean => true;
export const withoutArguments = (args: string): boolean => args.trim() === "";

export function message(text: string, level: "info" | "warning" = "info"): CommandOutcome {
  return { type: "message", level, text };
}

/** A list that also offers arguments which tell or do more. */
export function listing(text: string, choices: Extract<CommandOutcome, { type: "message" }>["choices"]): CommandOutcome {
  return { type: "message", level: "info", text, choices };
}

export function wordsOf(args: string): string[] {
  return args.split(/\s+/).filter((word) => word !== "");
}

export function suggestion(value: string, description?: string): Suggestion {
  return { label: value, value, ...(description !== undefined && { description }) };
}

/** A fault for wrong arguments. */
export function usageFault(text: string): ParleyError {
  return new ParleyError({ code: "usage", message: text, retryable: false, param: "args" });
}

/** "; did you mean 'x'?" where something is near. */
export function hintAt(word: string, known: readonly string[]): string {
  const meant = nearest(word, known);
  return meant === undefined ? "" : `; did you mean '${meant}'?`;
}
