/** Ends a turn that a crash cut off: an end for each call and for the turn, and a conversation that can continue. */
import type { Part } from "../../core/content.js";
import type { Event, EventOf, Usage } from "../../core/event.js";
import type { AssistantBlock, CallResult, Message, ModelCall } from "../models/model.js";
import type { Crash } from "./store.js";

export interface OpenTurn {
  started: EventOf<"turn.started">;
  /** Whether the log has its prompt. */
  asked: boolean;
  /** The prompt, waiting steered text and steered text already given to the model, until a message holds them. */
  prompt: Part[] | undefined;
  /** Calls of the prompt, until a message holds them. */
  wanted: ModelCall[];
  steered: Part[];
  taken: Part[];
  calls: Map<string, OpenCall>;
  /** The newest message of the turn. */
  last: Message | undefined;
  /** Text that no message holds yet: whole blocks, and the open one. */
  said: string[];
  partial: Record<"text" | "thinking", string>;
  usage: Usage | undefined;
  /** Part of its log is missing, so a call may have started without our knowing. */
  torn: boolean;
}

interface OpenCall {
  requested: EventOf<"tool.requested">;
  started: boolean;
  ended?: EventOf<"tool.ended">;
}

/** `late` is text that was steered into a turn after its last request. */
export function mend(turn: OpenTurn | undefined, late: Part[]): Crash | undefined {
  if (turn === undefined)
    return late.length === 0 ? undefined : { unknown: [], torn: false, mend: [messageEntry({ role: "user", parts: late })] };
  const address = addressOf(turn.started);
  const dangling = danglingCalls(turn);
  return {
    unknown: unknownCalls(turn, dangling),
    torn: turn.torn,
    // A crash between these lines leaves a log that is mended in the same way: a block comes before its message, the turn's end last.
    mend: [
      ...openBlocks(turn).map((event) => eventEntry({ ...event, ...address })),
      ...(dangling.length === 0 ? [] : [messageEntry({ role: "tool", results: dangling.map((call) => resultOf(call, turn)) })]),
      ...userMessage(turn.prompt ?? (turn.asked ? [] : late)),
      ...wantedCalls(turn),
      ...assistantMessage(turn),
      ...userMessage(turn.taken),
      ...(turn.steered.length === 0
        ? []
        : [eventEntry({ type: "user.message", parts: turn.steered, ...address }), ...userMessage(turn.steered)]),
      ...openCalls(turn).map((call) => eventEntry({ ...endOf(call, turn), ...address })),
      eventEntry({ ...turnEnd(turn), ...address }),
    ],
  };
}

const UNKNOWN = "The process ended while this call was running; whether it took effect is unknown. Look before you repeat it.";
const NOT_STARTED = "The process ended before this call was started; it did not run.";
const CUT = "the process ended in the middle of the turn";

// --- the conversation ---

/** Calls of the last message without a result. */
function danglingCalls({ last }: OpenTurn): { id: string; name: string }[] {
  return last?.role === "assistant" ? last.blocks.flatMap((block) => (block.type === "call" ? [block.call] : [])) : [];
}

function resultOf({ id, name }: { id: string; name: string }, turn: OpenTurn): CallResult {
  const call = turn.calls.get(id);
  if (call?.ended !== undefined) return { call: id, name, parts: call.ended.output ?? [], failed: call.ended.status !== "ok" };
  return { call: id, name, parts: [{ type: "text", text: fateOf(call, turn) }], failed: true };
}

/** Tells the model that the host's calls did not run. */
function wantedCalls(turn: OpenTurn): Crash["mend"] {
  const { wanted } = turn;
  if (wanted.length === 0) return [];
  const blocks = wanted.map((call): AssistantBlock => ({ type: "call", call }));
  return [messageEntry({ role: "assistant", blocks }), messageEntry({ role: "tool", results: wanted.map((call) => resultOf(call, turn)) })];
}

/** Thinking needs the vendor's signature to be sent back; text does not. */
function assistantMessage({ said: whole, partial }: OpenTurn): Crash["mend"] {
  const blocks = [...whole, partial.text].filter((text) => text !== "").map((text): AssistantBlock => ({ type: "text", text }));
  return blocks.length === 0 ? [] : [messageEntry({ role: "assistant", blocks })];
}

function userMessage(parts: Part[]): Crash["mend"] {
  return parts.length === 0 ? [] : [messageEntry({ role: "user", parts })];
}

// --- the events ---

function openBlocks({ partial }: OpenTurn): Event[] {
  const thinking: Event[] = partial.thinking === "" ? [] : [{ type: "thinking.done", text: partial.thinking }];
  return partial.text === "" ? thinking : [...thinking, { type: "text.done", text: partial.text }];
}

function openCalls({ calls }: OpenTurn): OpenCall[] {
  return [...calls.values()].filter((call) => call.ended === undefined);
}

function endOf(call: OpenCall, turn: OpenTurn): Event {
  const { requested } = call;
  const text = fateOf(call, turn);
  const under = requested.under === undefined ? {} : { under: requested.under };
  return { type: "tool.ended", ...under, call: requested.call.id, status: "cancelled", output: [{ type: "text", text }], reason: text };
}

function turnEnd({ usage }: OpenTurn): Event {
  const fault = { code: "internal", message: CUT, retryable: true };
  return { type: "turn.ended", outcome: "failed", reason: CUT, fault, ...(usage !== undefined && { usage }) };
}

function addressOf({ turn, parent }: Event): { turn?: string; parent?: string } {
  return { ...(turn !== undefined && { turn }), ...(parent !== undefined && { parent }) };
}

// --- the fate of a call: not started, finished, or unknown ---

function fateOf(call: OpenCall | undefined, { torn }: OpenTurn): string {
  return call?.started === true || torn ? UNKNOWN : NOT_STARTED;
}

function unknownCalls(turn: OpenTurn, dangling: readonly { id: string; name: string }[]): Crash["unknown"] {
  const requested = openCalls(turn).map(({ requested: { call }, started }) => ({
    id: call.id,
    name: call.name,
    title: call.title,
    started,
  }));
  const unseen = dangling.filter(({ id }) => !turn.calls.has(id)).map(({ id, name }) => ({ id, name, title: undefined, started: false }));
  return [...requested, ...unseen].filter(({ started }) => started || turn.torn).map(({ id, name, title }) => ({ id, name, title }));
}

function eventEntry(event: Event): Crash["mend"][number] {
  return { kind: "event", event };
}

function messageEntry(message: Message): Crash["mend"][number] {
  return { kind: "message", message };
}
