/** The loop: ask the model, run its calls, give it the results, until it calls nothing more. */
import { plainText, textPart, type Part } from "../../core/content.js";
import { ANSWER_CALLS } from "../../core/limits.js";
import { runCalls } from "../calls/calls.js";
import { askModel } from "./ask-model.js";
import { loadAttachments, withoutFiles } from "./attachments/attachments.js";
import { untilAborted } from "./interrupt.js";
import { Continuation, unfinished } from "./continuation.js";
import type { CallResult, Finish, ModelCall } from "../models/model.js";
import { isSpent, mayAsk } from "./cost-limit.js";
import { Repetition } from "./repetition.js";
import type { Response } from "./response.js";
import { StaleTodos } from "./stale-todos.js";
import { takeParts, type Turn } from "./turn.js";

export interface LoopEnd {
  finish: Finish | "max_turns" | "max_tool_calls" | "max_cost" | "loop" | "empty";
  /** The text of the last answer. */
  text: string;
}

/** `asked` are calls in the model's place: the same message, the same checks, and it is told what came of them. */
export async function runLoop(turn: Turn, asked: readonly ModelCall[] = []): Promise<LoopEnd> {
  if (asked.length > 0) {
    turn.history.push({ role: "assistant", blocks: asked.map((call) => ({ type: "call", call })) });
    if ((await answerCalls(turn, asked)) === "overdrawn") return maxToolCalls(turn, "");
  }
  const watches = { repetition: new Repetition(), todos: new StaleTodos(turn.depth === 0 ? turn.session.todos() : []) };
  const continuation = new Continuation();
  // Outer: as long as the host steers. Inner: as long as the model calls tools.
  while (true) {
    // A sub-agent's share may be empty.
    const spent = limitReached(turn, "");
    if (spent !== undefined) return spent;
    let response = await askModel(turn);
    while (response.calls.length > 0) {
      const answered = await answerCalls(turn, response.calls, watches, response.droppedCalls);
      if (answered === "overdrawn") return maxToolCalls(turn, textOf(response));
      if (answered === "repeated") return goesRound(turn, response);
      const reached = limitReached(turn, textOf(response));
      if (reached !== undefined) return reached;
      await takeSteering(turn);
      response = await askModel(turn);
    }
    if (await continuation.goesOn(turn, response)) continue;
    // Steering that the turn has no model call left for stays where it is, and is the next prompt.
    if (!mayAsk(turn) || !(await takeSteering(turn))) return { finish: unfinished(response) ?? response.finish, text: textOf(response) };
  }
}

/** Overdrawn: the calls beyond the turn's limit did not run, and the turn ends. Repeated: the same calls had the same results too often. */
async function answerCalls(
  turn: Turn,
  calls: readonly ModelCall[],
  watches?: { repetition: Repetition; todos: StaleTodos },
  dropped = 0,
): Promise<"goes on" | "overdrawn" | "repeated"> {
  if (dropped > 0) await tellDropped(turn, dropped);
  const results = await runCalls(turn, calls);
  const reminder = watches?.todos.notes(results);
  const notes = [
    ...(dropped === 0 ? [] : [droppedText(dropped)]),
    ...turn.shell.commands.endings(),
    ...(reminder === undefined ? [] : [reminder]),
  ];
  turn.history.push({ role: "tool", results: notes.length === 0 ? results : withNotes(results, notes) });
  if (turn.signal.aborted) return "goes on";
  if (turn.budget.overdrawn) return "overdrawn";
  return watches?.repetition.notes(calls, results) === true ? "repeated" : "goes on";
}

/** Gives the model what the host has said into the turn; false when it said nothing. */
async function takeSteering(turn: Turn): Promise<boolean> {
  const parts = takeParts(turn.steering);
  if (parts.length === 0) return false;
  turn.session.events.record({ type: "user.message", parts }, turn.address);
  turn.history.push({ role: "user", parts: await withFiles(parts, turn) });
  return true;
}

async function withFiles(parts: Part[], turn: Turn): Promise<Part[]> {
  const words = withoutFiles(parts);
  if (words.length === parts.length) return parts;
  try {
    return await untilAborted(turn.signal, loadAttachments(parts, turn));
  } catch (error) {
    turn.history.push({ role: "user", parts: words });
    throw error;
  }
}

function maxToolCalls(turn: Turn, text: string): LoopEnd {
  void turn.emit({
    type: "notice",
    level: "warning",
    text: `Stopped after ${turn.budget.toolCalls} tool calls, ${limitOf(turn)} (maxToolCalls)`,
    kind: "max_tool_calls",
  });
  return { finish: "max_tool_calls", text };
}

function tellDropped(turn: Turn, dropped: number): Promise<void> | undefined {
  return turn.emit({
    type: "notice",
    level: "warning",
    kind: "max_calls",
    text: `The model asked for too much at once. ${droppedText(dropped)}`,
  });
}

/** Vendors want a result for each call that they are shown, and no message between: the last result holds what else there is to tell. */
function withNotes(results: readonly CallResult[], notes: readonly string[]): CallResult[] {
  return results.map((result, at) => (at < results.length - 1 ? result : { ...result, parts: [...result.parts, ...notes.map(textPart)] }));
}

function droppedText(dropped: number): string {
  return `${dropped} more calls of the same answer were dropped and not run: an answer has ${ANSWER_CALLS} calls at most`;
}

function goesRound(turn: Turn, response: Response): LoopEnd {
  const text = "Stopped: the model asked for the same again and again, and got the same result each time";
  void turn.emit({ type: "notice", level: "warning", text, kind: "loop" });
  return { finish: "loop", text: textOf(response) };
}

/** The end of a turn whose model must not be asked again; undefined while it may be. */
function limitReached(turn: Turn, text: string): LoopEnd | undefined {
  if (!turn.budget.mayAsk) return maxTurns(turn, text);
  return isSpent(turn) ? maxCost(turn, text) : undefined;
}

function maxCost(turn: Turn, text: string): LoopEnd {
  const words = `Stopped: the session has cost its limit of ${turn.config.maxCost} US dollars (maxCost)`;
  void turn.emit({ type: "notice", level: "warning", text: words, kind: "max_cost" });
  return { finish: "max_cost", text };
}

function maxTurns(turn: Turn, text: string): LoopEnd {
  void turn.emit({
    type: "notice",
    level: "warning",
    text: `Stopped after ${turn.budget.modelCalls} model calls, ${limitOf(turn)} (--max-turns)`,
    kind: "max_turns",
  });
  return { finish: "max_turns", text };
}

function limitOf({ budget }: Turn): string {
  return budget.isShare ? "the sub-agent's share of its turn" : "the limit of one turn";
}

function textOf(response: Response): string {
  return plainText(response.blocks.flatMap((block) => (block.type === "text" ? [{ type: "text" as const, text: block.text }] : [])));
}
