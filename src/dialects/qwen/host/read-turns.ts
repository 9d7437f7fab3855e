/** Agent → host, read: lines and annotations of a turn, from its first line to its last. */
import * as v from "valibot";
import type { Part } from "../../../core/content.js";
import type { Fault } from "../../../core/errors.js";
import type { Event, EventOf } from "../../../core/event.js";
import { canonicalTool, categoryOf } from "../../../core/names.js";
import type { KnownCall } from "../../kit/turn-reader.js";
import { isRecord } from "../../../core/values/json-object.js";
import { startTurn, type HostedSession, type HostState, type RunningTurn } from "./state.js";
import { readUsage } from "../wire/usage.js";
import { readConfirmation, readDisplay } from "./read-displays.js";
import {
  SessionEvent,
  Terminal,
  Thought,
  ToolDisplay,
  type Annotation,
  type Metadata,
  type ToolCall,
  type ToolCallPiece,
  type WireError,
  type WireUsage,
} from "../wire/event-records.js";

/** A `chat.completion` or a chunk of one, in the fields that both have. */
export interface Said {
  isChunk: boolean;
  /** The id of the line's session, from its metadata or its own id. */
  sessionId: string | undefined;
  content: string;
  calls: readonly ToolCall[];
  pieces: readonly ToolCallPiece[];
  annotations: readonly Annotation[];
  finish: string | undefined;
  usage: WireUsage | undefined;
  metadata: Metadata;
}

export function onSaid(said: Said, session: HostedSession, state: HostState): Event[] {
  const { metadata } = said;
  const place = turnOf(metadata.prompt_id, session, state);
  if (place === undefined) return outsideTurns(said, session);
  const { begun, turn } = place;
  if (metadata.error !== undefined) turn.failed ??= faultOf(metadata.error);
  if (metadata.cancelled === true) turn.isCancelled = true;
  return [...begun, ...inTurn(said, turn, session, state), ...closing(said, turn, session, state)];
}

/** The turn of a line; a line before its start starts it. Undefined: there is none, or it has ended. */
export function turnOf(
  promptId: string | undefined,
  session: HostedSession,
  state: HostState,
): { begun: Event[]; turn: RunningTurn } | undefined {
  if (promptId !== undefined && promptId === session.ended) return undefined;
  const named = promptId === undefined ? undefined : session.prompts.find((prompt) => prompt.promptId === promptId);
  const { running } = session;
  if (running !== undefined && (named === undefined || named === running.prompt)) return { begun: [], turn: running };
  // The turn of another prompt begins: this turn's end is missing.
  const ended = running === undefined ? [] : endTurn(running, session, state);
  const prompt = named ?? session.prompts[0];
  if (prompt === undefined) return undefined;
  const started = startTurn(prompt, session);
  return session.running === undefined ? undefined : { begun: [...ended, ...started], turn: session.running };
}

/** The usage of a model call may come after its turn's end. */
function outsideTurns({ usage }: Said, { handle }: HostedSession): Event[] {
  return usage === undefined ? [] : [{ type: "usage", session: handle, scope: "call", usage: readUsage(usage) }];
}

// --- a line ---

function inTurn(said: Said, turn: RunningTurn, session: HostedSession, state: HostState): Event[] {
  const { reader } = turn;
  const under = said.metadata.parent_tool_call_id;
  const thoughts = said.annotations
    .filter((each) => v.is(Thought, each))
    .flatMap((each) => reader.whole("thinking", thoughtOf(each), under));
  const calls = said.calls.flatMap((call) => [...flushed(turn, under), ...reader.request(callOf(call.id, call.function), under)]);
  const pieces = said.pieces.flatMap((piece) => onPiece(piece, turn, under));
  const whole = said.finish === "tool_calls" ? [...reader.closeBlock(under), ...flushed(turn, under)] : [];
  const rest = said.annotations.filter((each) => !v.is(Thought, each)).flatMap((each) => onAnnotation(each, session, state));
  return [...thoughts, ...words(said, turn, under), ...calls, ...pieces, ...whole, ...rest];
}

/** Text from a console or a tool is no part of the answer. */
function words(said: Said, turn: RunningTurn, under: string | undefined): Event[] {
  const { reader } = turn;
  const printed = said.annotations.find((each) => v.is(Terminal, each) && each.source !== "assistant");
  if (said.content === "") return [];
  if (printed !== undefined && v.is(Terminal, printed)) return onPrinted(said.content, printed, turn);
  const before = flushed(turn, under);
  return [...before, ...(said.isChunk ? reader.piece("text", said.content, under) : reader.whole("text", said.content, under))];
}

function onPrinted(text: string, { source, channel, console_level }: Terminal, { reader }: RunningTurn): Event[] {
  const runs = reader.calls.filter(({ now }) => now === "started");
  const [call] = runs;
  if (source === "tool" && call !== undefined && runs.length === 1)
    return reader.progress(call.wireId, { text, channel: channel === "stderr" ? "stderr" : "stdout" });
  return [{ type: "notice", ...reader.address, level: LEVELS.get(console_level ?? "") ?? "info", text, source }];
}

const LEVELS: ReadonlyMap<string, EventOf<"notice">["level"]> = new Map([
  ["debug", "debug"],
  ["warn", "warning"],
  ["error", "error"],
] as const);

function thoughtOf({ subject, description }: Thought): string {
  return description.startsWith(subject) ? description : [subject, description].filter((words) => words !== "").join("\n");
}

/** The last line of a turn has a summary; a chunk ends with a finish reason, which for a sub-agent is only its own end. */
function closing(said: Said, turn: RunningTurn, session: HostedSession, state: HostState): Event[] {
  const { metadata, usage } = said;
  const isChild = metadata.parent_tool_call_id !== undefined;
  const isLast = metadata.summary !== undefined || (said.isChunk && said.finish === "stop" && !isChild);
  const spent = usage === undefined ? undefined : readUsage(usage);
  if (!isLast)
    return [...(isChild && said.finish === "stop" ? turn.reader.closeBlock(metadata.parent_tool_call_id) : []), ...tell(spent, turn)];
  turn.usage = spent;
  const fails = metadata.summary?.is_error === true && !turn.isCancelled && turn.finish === undefined;
  if (fails) turn.failed ??= { code: "agent", message: "The agent says that the turn failed, and not why", retryable: false };
  return endTurn(turn, session, state);
}

function tell(usage: ReturnType<typeof readUsage> | undefined, { reader }: RunningTurn): Event[] {
  return usage === undefined ? [] : reader.spent(usage);
}

/** Closes everything open in the turn, and drops its open questions. */
export function endTurn(turn: RunningTurn, session: HostedSession, state: HostState): Event[] {
  const { failed, finish, reader, prompt } = turn;
  const before = flushed(turn, undefined);
  session.running = undefined;
  session.ended = prompt.promptId;
  session.prompts = session.prompts.filter((each) => each !== prompt);
  const isVoid = [...state.questions].filter(([, question]) => question.session === session);
  for (const [id] of isVoid) state.questions.delete(id);
  const settled = isVoid.flatMap(([request, { kind }]): Event[] =>
    kind === "approval" ? [] : [{ type: "host.settled", session: session.handle, request, ok: false, reason: "the turn ended" }],
  );
  const usage = turn.usage === undefined ? {} : { usage: turn.usage };
  const end = turn.isCancelled
    ? reader.close({ outcome: "interrupted", reason: "cancelled", ...usage })
    : failed !== undefined
      ? reader.close({ outcome: "failed", reason: failed.message, fault: failed, ...usage })
      : reader.close({ outcome: "completed", finish: finish ?? "stop", ...usage });
  const over: Event[] = session.isClosing ? [{ type: "session.ended", session: session.handle }] : [];
  if (session.isClosing) state.sessions.delete(session.handle);
  return [...before, ...settled, ...end, ...over];
}

// --- calls ---

function callOf(id: string, { name, arguments: text }: ToolCall["function"]): KnownCall["call"] {
  const tool = canonicalTool(name);
  return { id, name: tool, args: readArguments(text), category: categoryOf(tool) };
}

function readArguments(text: string): Record<string, unknown> {
  try {
    const args: unknown = JSON.parse(text);
    return isRecord(args) ? args : {};
  } catch {
    return {};
  }
}

/** A delta without a number belongs to the call of the one before it, unless it names another. */
function onPiece(piece: ToolCallPiece, turn: RunningTurn, under: string | undefined): Event[] {
  const last = turn.pieces.size - 1;
  const index = piece.index ?? (piece.id === undefined || turn.pieces.get(last)?.id === piece.id ? Math.max(0, last) : last + 1);
  const known = turn.pieces.get(index);
  const isNext = known !== undefined && piece.id !== undefined && piece.id !== known.id;
  const before = isNext ? flushed(turn, under) : [];
  const call = (isNext ? undefined : known) ?? { id: piece.id ?? `call-${index}`, name: "", text: "" };
  turn.pieces.set(index, call);
  call.name += piece.function?.name ?? "";
  const text = piece.function?.arguments ?? "";
  call.text += text;
  const open = turn.reader.closeBlock(under);
  return [...before, ...open, { type: "tool.delta", ...turn.reader.address, call: call.id, name: canonicalTool(call.name), text }];
}

/** Calls whose arguments are complete now. */
export function flushed(turn: RunningTurn, under: string | undefined): Event[] {
  const calls = [...turn.pieces.values()];
  turn.pieces.clear();
  return calls.flatMap(({ id, name, text }) => turn.reader.request(callOf(id, { name, arguments: text }), under));
}

// --- annotations ---

export function onAnnotation(annotation: Annotation | SessionEvent, session: HostedSession, state: HostState): Event[] {
  if (v.is(ToolDisplay, annotation)) return onDisplay(annotation, session, state);
  if (v.is(SessionEvent, annotation)) return onSessionEvent(annotation, session);
  if (v.is(Terminal, annotation)) return [];
  if (v.is(Thought, annotation)) return session.running?.reader.whole("thinking", thoughtOf(annotation)) ?? [];
  return [{ type: "other", session: session.handle, name: annotation.type, data: annotation }];
}

function onDisplay(display: ToolDisplay, session: HostedSession, state: HostState): Event[] {
  const turn = session.running;
  if (turn === undefined) return [];
  const { reader } = turn;
  const id = wireIdOf(display.tool_call_id, turn);
  const before = [...flushed(turn, undefined), ...reader.known(id)];
  const call = reader.callOf(id);
  const output = readDisplay(display.result_display);
  switch (display.status.toLowerCase()) {
    case "executing":
      return [...before, ...reader.begin(id), ...shown(id, output, turn), ...handedOver(call, session, state)];
    case "success":
      return [...before, ...reader.end(id, { status: "ok", output })];
    case "error":
      return [...before, ...reader.end(id, { status: "failed", output })];
    case "canceled":
    case "cancelled": {
      const status = turn.denied.has(call?.id ?? "") ? "denied" : "cancelled";
      return [...before, ...reader.end(id, { status, output, reason: textOf(output) })];
    }
    default:
      // The call has not started: the agent asks for approval by itself.
      if (call !== undefined) call.call = { ...call.call, ...readConfirmation(display.confirmation) };
      return before;
  }
}

/** The RFC has an example in which the display's id is the call's id with a prefix. */
function wireIdOf(id: string, { reader }: RunningTurn): string {
  const bare = id.replace(/^call_/, "");
  return reader.callOf(id) === undefined && reader.callOf(bare) !== undefined ? bare : id;
}

function shown(id: string, output: Part[], { reader }: RunningTurn): Event[] {
  const [first, ...more] = output;
  if (first === undefined) return [];
  return reader.progress(id, first.type === "text" && more.length === 0 ? { text: first.text } : { parts: output });
}

/** A tool of the host starts here. */
function handedOver(call: KnownCall | undefined, session: HostedSession, state: HostState): Event[] {
  const { running } = session;
  const name = running?.prompt.hostTools.find((tool) => canonicalTool(tool) === call?.call.name);
  if (call === undefined || running === undefined || name === undefined || running.handedOver.has(call.id)) return [];
  running.handedOver.add(call.id);
  // Calls of two sessions may have the same name, and so may a call and a question of the agent.
  const request = `${session.handle}/${call.id}`;
  const { prompt, reader } = running;
  state.questions.set(request, { kind: "tool", session, call: call.wireId, name, promptId: prompt.promptId });
  const data = { name, args: call.call.args ?? {} };
  return [{ type: "host.request", ...reader.address, request, kind: "tool", call: call.id, data }];
}

function textOf(output: readonly Part[]): string {
  return output.map((part) => (part.type === "text" ? part.text : "")).join("");
}

const FINISHES = { MAX_TOKENS: "length", MaxSessionTurns: "max_turns", SAFETY: "refusal" } as const;

function onSessionEvent({ event, message, metrics }: SessionEvent, session: HostedSession): Event[] {
  const turn = session.running;
  const address = turn?.reader.address ?? { session: session.handle };
  const text = message ?? "";
  switch (event) {
    case "Finished":
      if (turn !== undefined) turn.isFinished = true;
      return [];
    case "USER_CANCELLED":
      if (turn !== undefined) turn.isCancelled = true;
      return [];
    case "ChatCompressed": {
      const { original_tokens: before, compressed_tokens: after } = metrics ?? {};
      const counts = { ...(before !== undefined && { before }), ...(after !== undefined && { after }) };
      return [...(turn?.reader.closeBlock() ?? []), { type: "compaction", ...address, phase: "ended", ...counts }];
    }
    case "MAX_TOKENS":
    case "MaxSessionTurns":
    case "SAFETY":
      if (turn !== undefined) turn.finish = FINISHES[event];
      return [{ type: "notice", ...address, level: "warning", text: text === "" ? event : text, kind: event }];
    default:
      return [{ type: "notice", ...address, level: "info", text: text === "" ? event : text, kind: event }];
  }
}

// --- errors ---

export function faultOf(error: WireError | string): Fault {
  if (typeof error === "string") return { code: CODES.get(error) ?? error, message: `The agent says: ${error}`, retryable: false };
  const { message, type, code, param } = error;
  const named = code ?? type;
  return { code: CODES.get(named) ?? named, message, retryable: PASSING.has(type), ...(param != null && { param }) };
}

const CODES: ReadonlyMap<string, string> = new Map([
  ["config_error", "config"],
  ["unsupported_protocol", "version"],
]);

/** A retry may help. */
const PASSING: ReadonlySet<string> = new Set(["rate_limit_error", "server_error", "overloaded_error"]);
