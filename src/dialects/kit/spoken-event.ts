/** The events of a turn that say something in one piece, for wires that have few kinds of lines. */
import type { Event } from "../../core/event.js";

export type SpokenEvent = Extract<Event, { type: "text.done" | "thinking.done" | "tool.requested" | "tool.ended" | "notice" | "error" }>;

/** Undefined for an event that says nothing, or says it in pieces. */
export function spoken(event: Event): SpokenEvent | undefined {
  switch (event.type) {
    case "text.done":
    case "thinking.done":
    case "tool.requested":
    case "tool.ended":
    case "notice":
    case "error":
      return event;
    case "session.ready":
    case "session.updated":
    case "session.ended":
    case "session.changed":
    case "closed":
    case "turn.started":
    case "turn.ended":
    case "text.delta":
    case "thinking.delta":
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
      return event satisfies never;
  }
}
