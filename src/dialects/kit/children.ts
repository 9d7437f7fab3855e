/** The work of a sub-agent, in words for the call that it works under, on wires that show one conversation. */
import type { Event } from "../../core/event.js";

/** Undefined where there is nothing to tell: pieces of what comes whole later, and what went well. */
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
    default:
      return undefined;
  }
}
