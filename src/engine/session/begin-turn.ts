/** What a turn begins with, settled before it is told: the prompt that a command became, the calls that the host asks for, or a refusal. */
import type { Part } from "../../core/content.js";
import { ParleyError, toFault } from "../../core/errors.js";
import type { OpOf } from "../../core/op.js";
import type { History } from "./history.js";
import type { MemoryLimit } from "./memory-limit.js";
import type { ModelCall } from "../models/model.js";
import type { SessionExtensions } from "./extensions.js";
import type { SessionState } from "./state.js";
import type { SessionVoice } from "./session-events.js";
import type { Tool } from "../tools/tool.js";
import { unfinishedIn } from "./unfinished.js";

type Prompt = OpOf<"turn.prompt">;

export interface Begun {
  op: Prompt;
  calls: ModelCall[];
}

interface Doorway {
  state: SessionState;
  voice: SessionVoice;
  history: History;
  extensions: SessionExtensions;
  memory: MemoryLimit;
  /** The tools that the prompt has. */
  tools(): Promise<ReadonlyMap<string, Tool>>;
}

/** Undefined when there is no turn: the prompt was refused, or its command was all there was to do. Either was answered. */
export async function beginTurn(op: Prompt, doorway: Doorway, signal: AbortSignal, cancelled: boolean): Promise<Begun | undefined> {
  try {
    if (op.continues === true) checkContinuing(op, doorway.history);
    const calls = op.calls === undefined ? [] : await askedCalls(op, doorway);
    if (op.command === undefined) {
      if (!cancelled) await doorway.memory.room(signal);
      return { op, calls };
    }
    if (cancelled) throw interrupted();
    const parts = await runCommand(op, op.command, doorway, signal);
    return parts === undefined ? undefined : { op: { ...op, parts }, calls };
  } catch (error) {
    await doorway.voice.refuse(op, toFault(signal.aborted && op.command !== undefined ? interrupted() : error));
    return undefined;
  }
}

/** Throws why a prompt without a message of its own has nothing to go on from. */
function checkContinuing({ parts }: Prompt, { messages, lastTurn }: History): void {
  if (parts.length > 0) throw refusal("invalid", "A prompt that continues brings no message of its own", "parts");
  if (messages.length === 0) throw refusal("session", "There is nothing to continue: nothing was said in this session yet");
  if (unfinishedIn(messages, lastTurn) === undefined)
    throw refusal("session", "There is nothing to continue: the last turn ended with its answer");
}

async function askedCalls(op: Prompt, { state, tools }: Doorway): Promise<ModelCall[]> {
  const { admitCalls } = await import("../calls/host-calls.js");
  return admitCalls(op, await tools(), state.permissions.mode, (id) => state.callIds.own(id));
}

/** Undefined when the command was all there was to do; else the prompt that it became. */
async function runCommand(
  op: Prompt,
  given: NonNullable<Prompt["command"]>,
  { extensions, voice, memory }: Doorway,
  signal: AbortSignal,
): Promise<Part[] | undefined> {
  const command = await extensions.command(given);
  const result = await command.run(given.args ?? "", signal);
  const prompt = result.type === "submit_prompt" ? result.prompt : undefined;
  // A command is always run: it may be the one that makes room.
  if (prompt !== undefined) await memory.room(signal);
  await voice.reply(op, "ok", { command: given, result: prompt === undefined ? result : { type: "submit_prompt" } });
  return prompt;
}

function interrupted(): ParleyError {
  return refusal("interrupted", "The command was interrupted");
}

function refusal(code: string, message: string, param?: string): ParleyError {
  return new ParleyError({ code, message, retryable: false, ...(param !== undefined && { param }) });
}
