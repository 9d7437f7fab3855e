/** Agent → host: the events of a turn, as lines of either format. */
import { plainText } from "../../../core/content.js";
import type { Event, EventOf } from "../../../core/event.js";
import { addUsage } from "../../../core/usage.js";
import type { Out } from "../../dialect.js";
import { askApproval, expire } from "./questions.js";
import { confirmationOf, display, ENDS, endDisplay, partDisplay, runningDisplay } from "./displays.js";
import { endTurn } from "./write-turns.js";
import { wireError } from "./faults.js";
import { chunk, completion, recoverable, spoken, type Said } from "./lines.js";
import { scopeOf, shownCall, type AgentState, type ClientSession, type Scope, type ShownCall, type Turn } from "./state.js";
import { resultCommand } from "./write-replies.js";
import { styledPatch, terminal, type Styled } from "./terminal.js";
import type { Annotation } from "../wire/event-records.js";
import type { CommandRef } from "../wire/op-records.js";
import { hostRequest, writeLoose } from "./write-loose.js";

type Call = EventOf<"tool.requested">["call"];

export function writeTurn(event: Event, session: ClientSession, turn: Turn, state: AgentState): Out[] {
  const scope = scopeOf(turn, event.under);
  const said: Said = { at: event.at ?? 0, session, turn, under: event.under };
  switch (event.type) {
    case "turn.started":
      return startTurn(said, turn, state);
    case "text.delta":
      return textDelta(event, said, scope, state);
    case "thinking.delta":
      return [];
    case "tool.delta":
      return state.chunks ? toolDelta(event, said, turn, scope) : [];
    case "text.done":
      answered(turn, event, scope);
      return [...flush(said, scope, state), ...textDone(event, said, scope, state)];
    case "thinking.done":
      answered(turn, event, scope);
      return [...flush(said, scope, state), thought(event.text, said, state)];
    case "usage":
      return usage(event, said, turn, scope, state);
    case "tool.requested":
      return requested(event.call, said, turn, scope, state);
    case "approval.requested":
      return [...flush(said, scope, state, event.calls), ...event.calls.flatMap((call) => confirm(call, event.message, said, turn, state))];
    case "tool.started":
      return [...flush(said, scope, state), ...started(event, said, turn, state)];
    case "tool.progress":
      return [...flush(said, scope, state), ...progress(event, said, turn, state)];
    case "tool.ended":
      return [...flush(said, scope, state), ...flushChild(event.call, said, turn, state), ...ended(event, said, turn, state)];
    case "host.request":
      return [...flush(said, scope, state), ...hostRequest(event, said, state)];
    case "error":
      // A fault that ends the turn is written at its end.
      if (event.fault.code === "tool") return [...flush(said, scope, state), recoverable(state, said, wireError(event.fault))];
      turn.fault = event.fault;
      return [];
    case "turn.ended":
      return [
        ...[...turn.scopes.values()].flatMap((open) => flush({ ...said, under: open.under }, open, state)),
        ...endTurn(event, said, turn, state),
      ];
    default:
      return writeLoose(event, said, state);
  }
}

// --- the turn ---

function startTurn(said: Said, turn: Turn, state: AgentState): Out[] {
  const { session } = said;
  turn.startedAt = said.at;
  session.live = turn;
  session.lastPrompt = turn.promptId;
  const command = turn.command ?? unanswered(turn, state);
  const told =
    command === undefined ? [] : [resultCommand(session, turn.promptId, command, { type: "submit_prompt", auto_submitted: true })];
  const hasRole = session.hasRole;
  session.hasRole = false;
  return state.chunks && !hasRole ? [...told, chunk(said, { role: "assistant" })] : told;
}

/** A driven agent may start the turn of a command without announcing it: the command is then treated as a prompt. */
function unanswered({ id }: Turn, { asked }: AgentState): CommandRef | undefined {
  const prompt = asked.get(id);
  if (prompt?.kind !== "prompt" || prompt.command === undefined) return undefined;
  asked.delete(id);
  return prompt.command;
}

/** Model calls: each begins with its first output after the results of the one before. */
function count(turn: Turn, { under }: Event): void {
  if (under !== undefined || turn.isCounted) return;
  turn.calls++;
  turn.isCounted = true;
}

/** A response ends with its usage: later text is another response, which the usage does not include. */
function answered(turn: Turn, event: Event, scope: Scope): void {
  if (event.under === undefined && turn.isMeasured) turn.isCounted = turn.isMeasured = false;
  count(turn, event);
  scope.usage = undefined;
}

function usage(event: EventOf<"usage">, said: Said, turn: Turn, scope: Scope, state: AgentState): Out[] {
  if (event.scope === "turn") turn.usage = event.usage;
  if (event.scope !== "call") return [];
  turn.usage = addUsage(turn.usage, event.usage);
  if (event.under === undefined) {
    // Two usages in a row without a tool between them: the host steered.
    if (turn.isMeasured) turn.isCounted = false;
    count(turn, event);
    turn.isMeasured = true;
  }
  scope.usage = event.usage;
  return scope.text === undefined ? [] : flush(said, scope, state);
}

// --- text ---

function textDelta(event: EventOf<"text.delta">, said: Said, scope: Scope, state: AgentState): Out[] {
  if (!state.chunks) return scope.text === undefined ? [] : flush(said, scope, state);
  if (!said.session.showsTerminal) return [chunk(said, { content: event.text })];
  const styled = scope.ansi.read(event.text);
  return styled.content === "" && styled.ansi.length === 0 ? [] : [chunk(said, styledMessage(styled, said))];
}

/** In message mode the text waits for its usage, which follows at once. */
function textDone(event: EventOf<"text.done">, said: Said, scope: Scope, state: AgentState): Out[] {
  if (!state.chunks) {
    scope.text = event.text;
    return [];
  }
  if (said.session.showsTerminal) {
    const rest = scope.ansi.read(event.streamed === true ? "" : event.text, true);
    return rest.content === "" && rest.ansi.length === 0 ? [] : [chunk(said, styledMessage(rest, said))];
  }
  return event.streamed === true || event.text === "" ? [] : [chunk(said, { content: event.text })];
}

function styledMessage(styled: Styled, said: Said): { content: string; annotations: Annotation[] } {
  return { content: styled.content, annotations: [terminal(said, { channel: "stdout", source: "assistant" }, styled)] };
}

/** Models put the subject of their thinking in bold. */
function thought(text: string, said: Said, state: AgentState): Out {
  const [bold, subject = ""] = /\*\*(.+?)\*\*/s.exec(text) ?? [];
  const description = (bold === undefined ? text : text.replace(bold, "")).trim();
  return spoken(state, said, { annotations: [{ type: "x-qwen-thought", subject: subject.trim(), description }] });
}

/** Writes the buffered output: its kind is known now. */
function flush(said: Said, scope: Scope, state: AgentState, asked: readonly Call[] = []): Out[] {
  const out: Out[] = [];
  const { text } = scope;
  if (text !== undefined) {
    scope.text = undefined;
    const message = said.session.showsTerminal ? styledMessage(scope.ansi.read(text, true), said) : { content: text };
    out.push(completion(said, message, { usage: scope.usage }));
    scope.usage = undefined;
  }
  if (scope.calls.length === 0) return out;
  const calls = scope.calls.splice(0);
  out.push(...(state.chunks ? callChunks(calls, said, scope) : [callLine(calls, said, scope)]));
  scope.usage = undefined;
  const waiting = calls.filter(({ id }) => !asked.some((call) => call.id === id));
  return [...out, ...waiting.map(({ id }) => spoken(state, said, { annotations: [display(said, id, "pending")] }))];
}

/** The last output of a sub-agent comes before the end of the call that it works under. */
function flushChild(call: string, said: Said, turn: Turn, state: AgentState): Out[] {
  const child = turn.scopes.get(call);
  return child === undefined ? [] : flush({ ...said, under: call }, child, state);
}

// --- calls ---

function requested(call: Call, said: Said, turn: Turn, scope: Scope, state: AgentState): Out[] {
  count(turn, { type: "tool.requested", call, under: said.under });
  const out = scope.text === undefined ? [] : flush(said, scope, state);
  const shown = shownCall(call, said.under);
  turn.shown.set(call.id, shown);
  scope.calls.push(call);
  return [...out, ...ofParent(shown, "executing", said, turn, state)];
}

function callLine(calls: readonly Call[], said: Said, scope: Scope): Out {
  const tool_calls = calls.map(({ id, name, args = {} }) => ({
    id,
    type: "function" as const,
    function: { name, arguments: JSON.stringify(args) },
  }));
  return completion(said, { tool_calls }, { finish: "tool_calls", usage: scope.usage });
}

/** Calls that were not streamed are written whole; then the model waits for them. */
function callChunks(calls: readonly Call[], said: Said, scope: Scope): Out[] {
  const out: Out[] = [];
  for (const { id, name, args = {} } of calls) {
    const pieces = scope.pieces.get(id);
    if (pieces?.isNamed === true) continue;
    const piece = { index: pieces?.index ?? scope.pieces.size, id, type: "function", function: { name, arguments: JSON.stringify(args) } };
    scope.pieces.set(id, { index: piece.index, isNamed: true, held: "" });
    out.push(chunk(said, { tool_calls: [piece] }));
  }
  scope.pieces.clear();
  return [...out, chunk(said, {}, { finish: "tool_calls", usage: scope.usage })];
}

/** Only the first delta of a call has its id and name; arguments that arrive before the name wait for it. */
function toolDelta(event: EventOf<"tool.delta">, said: Said, turn: Turn, scope: Scope): Out[] {
  answered(turn, event, scope);
  let pieces = scope.pieces.get(event.call);
  if (pieces === undefined) {
    pieces = { index: scope.pieces.size, isNamed: false, held: "" };
    scope.pieces.set(event.call, pieces);
  }
  const { index } = pieces;
  if (pieces.isNamed) return [chunk(said, { tool_calls: [{ index, function: { arguments: event.text } }] })];
  pieces.held += event.text;
  if (event.name === undefined) return [];
  pieces.isNamed = true;
  const fields = { name: event.name, arguments: pieces.held };
  return [chunk(said, { tool_calls: [{ index, id: event.call, type: "function", function: fields }] })];
}

function confirm(call: Call, message: string | undefined, said: Said, turn: Turn, state: AgentState): Out[] {
  const shown = turn.shown.get(call.id);
  if (shown !== undefined) shown.status = "confirming";
  const annotation = display(said, call.id, "confirming", { confirmation: confirmationOf(call) });
  return [spoken(state, said, { annotations: [annotation] }), ...askApproval(state, said, call, message)];
}

function started(event: EventOf<"tool.started">, said: Said, turn: Turn, state: AgentState): Out[] {
  const shown = turn.shown.get(event.call);
  if (shown === undefined) return [];
  shown.status = "executing";
  shown.changed = event.args;
  const result = runningDisplay(shown);
  return [spoken(state, said, { annotations: [display(said, event.call, "executing", result === undefined ? {} : { result })] })];
}

function progress(event: EventOf<"tool.progress">, said: Said, turn: Turn, state: AgentState): Out[] {
  const shown = turn.shown.get(event.call);
  if (shown === undefined) return [];
  const channel = event.channel ?? "stdout";
  const text = event.text ?? plainText(event.parts ?? []);
  if (said.session.showsTerminal && event.text !== undefined) return toolOutput(shown.ansi[channel].read(text), channel, said, state);
  const result = partDisplay(event.parts ?? [], shown) ?? runningDisplay(shown, text);
  return result === undefined ? [] : [spoken(state, said, { annotations: [display(said, event.call, "executing", { result })] })];
}

function toolOutput(styled: Styled, channel: "stdout" | "stderr", said: Said, state: AgentState): Out[] {
  if (styled.content === "" && styled.ansi.length === 0) return [];
  const annotation = terminal(said, { channel, source: "tool", log_scope: "tool" }, styled);
  return [spoken(state, said, { content: styled.content, annotations: [annotation] })];
}

function ended(event: EventOf<"tool.ended">, said: Said, turn: Turn, state: AgentState): Out[] {
  if (said.under === undefined) turn.isCounted = turn.isMeasured = false;
  said.session.hostCalls.delete(event.call);
  said.session.earlyResponses.delete(event.call);
  expire(state, said.session, event.call, event.reason ?? "denied", event.status !== "denied");
  const shown = turn.shown.get(event.call);
  const status = ENDS[event.status];
  const patch = event.output?.find((part) => part.type === "diff")?.patch;
  const out = said.session.showsTerminal && patch !== undefined ? toolOutput(styledPatch(patch), "stdout", said, state) : [];
  if (shown !== undefined) shown.status = "ended";
  out.push(spoken(state, said, { annotations: [display(said, event.call, status, { result: endDisplay(event, shown) })] }));
  return shown === undefined ? out : [...out, ...ofParent(shown, status, said, turn, state)];
}

/** Calls of a sub-agent are also shown in its Spawn call. */
function ofParent(shown: ShownCall, status: string, said: Said, turn: Turn, state: AgentState): Out[] {
  const parent = shown.under === undefined ? undefined : turn.shown.get(shown.under);
  if (parent === undefined) return [];
  parent.children.set(shown.call.id, { name: shown.call.name, status });
  const result = runningDisplay(parent);
  if (result === undefined) return [];
  const above = { ...said, under: parent.under };
  return [spoken(state, above, { annotations: [display(above, parent.call.id, "executing", { result })] })];
}
