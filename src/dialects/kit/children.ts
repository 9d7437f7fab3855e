/** The work of a sub-agent as text for its Spawn call, on wires that show one conversation. */
import type { Event } from "../../core/event.js";
import { spoken } from "./spoken-event.js";

/** Undefined for events without a text: deltas, and successful ends. */
export function childNote(given: Event): string | undefined {
  const event = spoken(given);
  switch (event?.type) {
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
    case "thinking.done":
    case undefined:
      return undefined;
    default:
      return event satisfies never;
  }
}
