/** Agent → client, written: the events of a turn, live or replayed, as `session/update`. */
import { plainText } from "../../../core/content.js";
import type { Event, EventOf } from "../../../core/event.js";
import { addUsage } from "../../../core/usage.js";
import { isRecord } from "../../../core/values/json-object.js";
import type { Out, SideEnv } from "../../dialect.js";
import { childNote } from "../../kit/children.js";
import { blockOf } from "../wire/content.js";
import { update } from "./lines.js";
import { endCall, progressCall, requestCall, startCall } from "./write-calls.js";
import type { AgentState, ClientSession } from "./state.js";

/** Writes events that answer no request; write-events.ts writes the others. */
export function updatesOf(event: Event, session: ClientSession, state: AgentState, env: SideEnv): Out[] {
  if (event.under !== undefined) return ofChild(event, event.under, session, state);
  switch (event.type) {
    case "text.delta":
      return chunk("text", event.text, session, env);
    case "thinking.delta":
      return chunk("thinking", event.text, session, env);
    case "text.done":
      return whole("text", event, session, env);
    case "thinking.done":
      return whole("thinking", event, session, env);
    case "user.message":
      return userMessage(event, session);
    case "tool.requested":
      return requestCall(event.call, event, session, state);
    case "tool.started":
      return startCall(event, session);
    case "tool.progress":
      return progressCall(event.call, event.text ?? plainText(event.parts ?? []), session);
    case "tool.ended":
      return endCall(event, session);
    case "usage":
      return usage(event, session);
    case "compaction":
      return compaction(event, session, state, env);
    case "notice":
      return notice(event, session, state);
    case "catalog.updated":
      return commands(event, session);
    case "error":
      return errorNotice(event, session, state);
    case "other":
      return passedOn(event, session);
    case "session.ready":
    case "session.updated":
    case "session.ended":
    case "session.changed":
    case "closed":
    case "turn.started":
    case "turn.ended":
    case "tool.delta":
    case "approval.requested":
    case "approval.settled":
    case "host.request":
    case "host.settled":
    case "reply":
      return [];
    default:
      event satisfies never;
      return [];
  }
}

/** Events of a sub-agent become progress of its Spawn call; its calls that need an approval become calls of the turn. */
function ofChild(event: Event, under: string, session: ClientSession, state: AgentState): Out[] {
  if (event.type === "approval.requested")
    return event.calls.flatMap((call) => (session.calls.has(call.id) ? [] : requestCall(call, event, session, state)));
  if (event.type === "usage") return usage(event, session);
  if ((event.type === "tool.started" || event.type === "tool.ended") && session.calls.has(event.call))
    return event.type === "tool.started" ? startCall(event, session) : endCall(event, session);
  const note = childNote(event);
  return note === undefined ? [] : progressCall(under, `${note}\n`, session);
}

// --- words ---

/** All deltas of one block share one message id. */
function chunk(kind: "text" | "thinking", text: string, session: ClientSession, env: SideEnv): Out[] {
  if (text === "") return [];
  if (session.message?.kind !== kind) session.message = { kind, id: env.stamp().id };
  return [words(kind, text, session.message.id, session)];
}

function whole(
  kind: "text" | "thinking",
  { text, streamed }: EventOf<"text.done" | "thinking.done">,
  session: ClientSession,
  env: SideEnv,
): Out[] {
  session.message = undefined;
  return streamed === true || text === "" ? [] : [words(kind, text, env.stamp().id, session)];
}

function words(kind: "text" | "thinking", text: string, messageId: string, session: ClientSession): Out {
  const name = kind === "text" ? "agent_message_chunk" : "agent_thought_chunk";
  return update(session, name, { messageId, content: { type: "text", text } });
}

function userMessage({ parts }: EventOf<"user.message">, session: ClientSession): Out[] {
  return parts.flatMap((part) => {
    const content = blockOf(part);
    return content === undefined ? [] : [update(session, "user_message_chunk", { content })];
  });
}

// --- the session ---

/** `used` counts the tokens in the model's window; the cost is that of the whole session. */
function usage({ scope, usage: counts, context, cost, replay }: EventOf<"usage">, session: ClientSession): Out[] {
  if (scope === "turn" || replay === true) return [];
  const isWhole = scope === "session";
  const before = isWhole ? undefined : session.used;
  const sum = cost === undefined ? before?.cost : (before?.cost ?? 0) + cost;
  session.used = { usage: addUsage(before?.usage, counts), cost: sum };
  const limit = session.capabilities["contextLimit"];
  const size = context?.limit ?? (typeof limit === "number" ? limit : undefined);
  if (size === undefined || (isWhole && context === undefined)) return [];
  const used = context?.used ?? counts.input + counts.output + (counts.cacheRead ?? 0) + (counts.cacheWrite ?? 0);
  return [update(session, "usage_update", { used, size, ...(sum !== undefined && { cost: { amount: sum, currency: "USD" } }) })];
}

const COMPACTION = { started: "in_progress", ended: "completed", failed: "failed" } as const;

function compaction({ phase, summary }: EventOf<"compaction">, session: ClientSession, { client }: AgentState, env: SideEnv): Out[] {
  if (client.session?.compaction == null) return [];
  const compactionId = session.compaction ?? env.stamp().id;
  session.compaction = phase === "started" ? compactionId : undefined;
  const told = summary === undefined ? {} : { summary: [{ type: "text", text: summary }] };
  return [update(session, "compaction_update", { compactionId, status: COMPACTION[phase], ...told })];
}

/** Warnings and errors for a client without notices go to stderr. */
function notice({ level, text, replay }: EventOf<"notice">, session: ClientSession, { client }: AgentState): Out[] {
  if (level === "debug" || replay === true || text === "") return [];
  if (client.session?.notices == null) return level === "info" ? [] : [{ log: text }];
  const [title = "", ...rest] = text.split("\n");
  const description = rest.join("\n").trim();
  return [update(session, "notice", { severity: level, title, ...(description !== "" && { description }) })];
}

/** Errors of a turn are left out, as the answer to the prompt has them; errors of tools become notices. */
function errorNotice(event: EventOf<"error">, session: ClientSession, state: AgentState): Out[] {
  if (event.turn !== undefined && event.fault.code !== "tool") return [];
  return notice(
    { type: "notice", level: "error", text: event.fault.message, ...(event.replay === true && { replay: true }) },
    session,
    state,
  );
}

function commands({ commands: listed, skills }: EventOf<"catalog.updated">, session: ClientSession): Out[] {
  if (listed === undefined && skills === undefined) return [];
  const all = [...(listed ?? []), ...(skills ?? [])];
  const names = new Set(all.map(({ name }) => name));
  session.commands = names;
  const availableCommands = [...names].map((name) => {
    const { description = "", argumentHint } = all.find((entry) => entry.name === name) ?? {};
    return { name, description, ...(argumentHint !== undefined && { input: { hint: argumentHint } }) };
  });
  return [update(session, "available_commands_update", { availableCommands })];
}

/** Passes on an update of an unknown kind from a driven ACP agent unchanged. */
function passedOn({ ext }: EventOf<"other">, session: ClientSession): Out[] {
  const said = ext?.["acp"];
  return isRecord(said) && typeof said["sessionUpdate"] === "string" ? [update(session, said["sessionUpdate"], said)] : [];
}
