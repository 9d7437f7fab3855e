/** Agent → client, written: tool calls, from their request to their end. */
import { plainText, type Part } from "../../../core/content.js";
import type { Call, Event, EventOf } from "../../../core/event.js";
import { categoryOf } from "../../../core/names.js";
import type { Out } from "../../dialect.js";
import { absolute, contentOf, kindOf, locationsOf, textContent } from "../wire/calls.js";
import { showsTerminals } from "../wire/sessions.js";
import { update } from "./lines.js";
import type { AgentState, ClientSession } from "./state.js";

/** Each update repeats the content of its call; of a long output it repeats this much of the end. */
const TAIL_CHARS = 2000;

export function requestCall(call: Call, { turn, replay }: Event, session: ClientSession, { client }: AgentState): Out[] {
  const isCommand = (call.category ?? categoryOf(call.name)) === "exec";
  const showsTerminal = isCommand && replay !== true && showsTerminals(client) && client.terminal !== true;
  session.calls.set(call.id, { call, turn, tail: "", showsTerminal, terminal: undefined });
  return [update(session, "tool_call", { ...toolCall(call, session), status: "pending", ...terminal(call, showsTerminal, session) })];
}

/** The fields of a call that `tool_call` and `session/request_permission` share. */
export function toolCall(call: Call, { config: { cwd = "" } }: ClientSession): Record<string, unknown> {
  const locations = locationsOf(call, cwd);
  const content = contentOf(call.preview ?? [], cwd);
  return {
    toolCallId: call.id,
    name: call.name,
    title: call.title ?? call.name,
    kind: kindOf(call),
    ...(call.args !== undefined && { rawInput: call.args }),
    ...(content.length > 0 && { content }),
    ...(locations.length > 0 && { locations }),
  };
}

function terminal({ id, args }: Call, isShown: boolean, { config: { cwd = "" } }: ClientSession): Record<string, unknown> {
  if (!isShown) return {};
  const folder = typeof args?.["cwd"] === "string" ? absolute(args["cwd"], cwd) : cwd;
  return {
    content: [{ type: "terminal", terminalId: id }],
    _meta: { terminal_info: { terminal_id: id, ...(folder !== "" && { cwd: folder }) } },
  };
}

export function startCall({ call, args }: EventOf<"tool.started">, session: ClientSession): Out[] {
  const changed = args === undefined ? {} : { rawInput: args };
  return [update(session, "tool_call_update", { toolCallId: call, status: "in_progress", ...changed })];
}

export function progressCall(id: string, text: string, session: ClientSession): Out[] {
  const open = session.calls.get(id);
  if (open === undefined || text === "") return [];
  if (open.showsTerminal) {
    open.terminal = id;
    return [update(session, "tool_call_update", { toolCallId: id, _meta: { terminal_output: { terminal_id: id, data: text } } })];
  }
  // The client sees in its own terminal what the command prints.
  if (open.terminal !== undefined) return [];
  open.tail = `${open.tail}${text}`.slice(-TAIL_CHARS).toWellFormed();
  return [update(session, "tool_call_update", { toolCallId: id, status: "in_progress", content: textContent(open.tail) })];
}

/**
 * The content of an update replaces what was there, so a terminal that the client shows is named again, and the text of the output goes
 * beside it. The wire has no status for a denied or cancelled call: its status is `failed`, and `_meta.parley` has ours.
 */
export function endCall({ call, status, output = [], reason }: EventOf<"tool.ended">, session: ClientSession): Out[] {
  const open = session.calls.get(call);
  session.calls.delete(call);
  const { cwd = "" } = session.config;
  const shown = open?.terminal;
  const content = [
    ...(shown === undefined ? contentOf(output, cwd) : [{ type: "terminal", terminalId: shown }]),
    ...(output.length === 0 ? textContent(reason ?? "") : []),
  ];
  const plan = status === "ok" ? planOf(output) : undefined;
  const raw =
    output.find((part) => part.type === "json")?.data ??
    (shown === undefined || output.length === 0 ? undefined : { output: plainText(output) });
  const meta = {
    ...(open?.showsTerminal === true && { terminal_exit: { terminal_id: call, exit_code: exitOf(output) } }),
    ...((status === "denied" || status === "cancelled") && { parley: { status } }),
  };
  return [
    ...(plan === undefined ? [] : [update(session, "plan", plan)]),
    update(session, "tool_call_update", {
      toolCallId: call,
      status: status === "ok" ? "completed" : "failed",
      ...(content.length > 0 && { content }),
      ...(raw !== undefined && { rawOutput: raw }),
      ...(Object.keys(meta).length > 0 && { _meta: meta }),
    }),
  ];
}

function exitOf(output: readonly Part[]): number | null {
  return output.find((part) => part.type === "terminal")?.exitCode ?? null;
}

function planOf(parts: readonly Part[]): Record<string, unknown> | undefined {
  const todo = parts.find((part) => part.type === "todo");
  return todo && { entries: todo.items.map(({ text, status }) => ({ content: text, priority: "medium", status })) };
}
