/** The work of a sub-agent as text for its Spawn call, on wires that show one conversation. */
import type { Event } from "../../core/event.js";

/** Undefined for events without a text: deltas, and successful ends. */
export function childNote(event: Event): string | undefined {
  switch (event.type) {
    case "text.done":
      return event.text === "" ? undefined : event.text;
    case "tool.requested":
      return event.call.title ?? event.call.name;
    case "tool.ended":
      return event.status === "ok" ? undefined : `${event.status}${event.reason ? `: ${event.reason}` : ""}`;
    case "notice":
      return event.text;
    case "error":
      return event.fault.message;
    case "session.ready":
    case "session.updated":
    case "session.ended":
    case "session.changed":
    case "closed":
    case "turn.started":
    case "turn.ended":
    case "text.delta":
    case "thinking.delta":
    case "thinking.done":
    case "user.message":
    case "tool.delta":
    case "tool.started":
    case "tool.progress":
    case "approval.requested":
    case "approval.settled":
    case "host.request":
    case "host.settled":
    case "usage":
    case "compaction":
    case "catalog.updated":
    case "reply":
    case "other":
      return undefined;
    default:
      event satisfies never;
      return undefined;
  }
}
