/** Prepares a turn before its start is recorded: its command becomes a prompt, the host's calls are checked, or the prompt is refused. */
import type { Part } from "../../core/content.js";
import { ParleyError, toFault } from "../../core/errors.js";
import type { OpOf } from "../../core/op.js";
import type { ModelCall } from "../models/model.js";
import type { Tool } from "../tools/tool.js";
import type { Turn } from "../turn/turn.js";
import { unfinishedIn } from "./unfinished.js";

type Prompt = OpOf<"turn.prompt">;

export interface Admission {
  /** Whether the host interrupted the prompt while it waited. */
  cancelled: boolean;
  /** The tools of the prompt. */
  tools(): Promise<ReadonlyMap<string, Tool>>;
}

/** Returns false if no turn follows: the prompt was refused, or its command needed none. The prompt is answered then. */
export async function admitTurn(turn: Turn, { cancelled, tools }: Admission): Promise<boolean> {
  const { prompt, session, signal } = turn;
  try {
    if (prompt.continues === true) checkContinuing(turn);
    if (prompt.calls !== undefined) turn.calls = await hostCalls(turn, await tools());
    if (prompt.command === undefined) {
      if (!cancelled) await session.engine.memory.room(signal);
      return true;
    }
    if (cancelled) throw interrupted();
    const parts = await runCommand(turn, prompt.command);
    if (parts === undefined) return false;
    turn.prompt = { ...prompt, parts };
    return true;
  } catch (error) {
    await session.events.refuse(prompt, toFault(signal.aborted && prompt.command !== undefined ? interrupted() : error));
    return false;
  }
}

/** Throws if the conversation has nothing that a prompt without a message could continue. */
function checkContinuing({ prompt: { parts }, history: { messages, lastTurn } }: Turn): void {
  if (parts.length > 0) throw refusal("invalid", "A prompt that continues brings no message of its own", "parts");
  if (messages.length === 0) throw refusal("session", "There is nothing to continue: nothing was said in this session yet");
  if (unfinishedIn(messages, lastTurn) === undefined)
    throw refusal("session", "There is nothing to continue: the last turn ended with its answer");
}

async function hostCalls({ prompt, session }: Turn, tools: ReadonlyMap<string, Tool>): Promise<ModelCall[]> {
  const { admitCalls } = await import("../calls/problem.js");
  return admitCalls(prompt, tools, session.permissions.mode, (id) => session.callIds.own(id));
}

/** The prompt that the command became; undefined if the command needs no turn. */
async function runCommand({ prompt: op, session, signal }: Turn, given: NonNullable<Prompt["command"]>): Promise<Part[] | undefined> {
  const command = await session.extensions.command(given);
  const result = await command.run(given.args ?? "", signal);
  const prompt = result.type === "submit_prompt" ? result.prompt : undefined;
  // A command runs even without room in memory: it may make room.
  if (prompt !== undefined) await session.engine.memory.room(signal);
  await session.events.reply(op, "ok", { command: given, result: prompt === undefined ? result : { type: "submit_prompt" } });
  return prompt;
}

function interrupted(): ParleyError {
  return refusal("interrupted", "The command was interrupted");
}

function refusal(code: string, message: string, param?: string): ParleyError {
  return new ParleyError({ code, message, retryable: false, ...(param !== undefined && { param }) });
}
