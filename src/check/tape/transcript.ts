/** A tape as a text for people: prompts, texts, calls, answers and times. */
import { oneLine } from "./one-line.js";
import type { Event } from "../../core/event.js";
import type { Op } from "../../core/op.js";
import type { Item, Tape } from "./tape.js";

export function transcript(tape: Tape): string {
  const { version, side, dialect, as, drive } = tape.start;
  const first = tape.items[0]?.at ?? 0;
  const wires = dialect ?? `${as ?? "?"} host, ${drive ?? "?"} agent`;
  const head = `${wires}; recorded at the ${side ?? "unknown"} side by Parley ${version ?? "?"}`;
  const lines = tape.items.flatMap((item) => {
    const words = wordsOf(item);
    return words === undefined
      ? []
      : [`${((item.at - first) / 1000).toFixed(3).padStart(9)}  ${item.conn === "" ? "" : `${item.conn} `}${words}`];
  });
  return `${[head, ...lines].join("\n")}\n`;
}

/** One line about an item; undefined for items that the transcript leaves out: deltas, and the wire. */
function wordsOf(item: Item): string | undefined {
  if (item.kind === "breach") return `breach    ${item.why}`;
  if (item.kind === "wire") return item.bad === undefined ? undefined : `unread    ${item.bad}`;
  return item.kind === "op" ? opWords(item.op) : eventWords(item.event);
}

function opWords(op: Op): string | undefined {
  if (op.type === "turn.prompt") return `user      ${oneLine(textOf(op.parts))}`;
  if (op.type === "turn.steer") return `steer     ${oneLine(textOf(op.parts))}`;
  if (op.type === "approval.answer")
    return `answer    ${op.answers.map(({ call, decision, grant }) => `${decision} ${call}${grant === undefined ? "" : ` (${grant})`}`).join(", ")}`;
  if (op.type === "host.answer") return `answer    ${op.request} ${op.ok ? "ok" : "failed"}`;
  if (op.type === "turn.interrupt") return "interrupt";
  return `asked     ${op.type}`;
}

function eventWords(event: Event): string | undefined {
  switch (event.type) {
    case "text.done":
      return `agent     ${oneLine(event.text)}`;
    case "thinking.done":
      return `thinking  ${oneLine(event.text)}`;
    case "tool.requested":
      return `call      ${event.call.id} ${event.call.name} ${oneLine(JSON.stringify(event.call.args ?? {}))}`;
    case "tool.ended":
      return `result    ${event.call} ${event.status} ${oneLine(textOf(event.output ?? []))}`.trimEnd();
    case "approval.requested":
      return `approve?  ${event.calls.map(({ id, name }) => `${id} ${name}`).join(", ")}`;
    case "host.request":
      return `request   ${event.request} ${event.kind}`;
    case "turn.started":
      return `turn      ${event.turn ?? ""}`;
    case "turn.ended":
      return `end       ${event.turn ?? ""} ${event.outcome}${event.reason === undefined ? "" : `: ${event.reason}`}`;
    case "error":
      return `error     ${event.fault.message}`;
    case "notice":
      return `${event.level.padEnd(9)} ${oneLine(event.text)}`;
    case "reply":
      return event.status === "error" ? `refused   ${event.to}: ${event.fault?.message ?? ""}` : undefined;
    case "session.ready":
      return `ready     ${event.sessionId ?? event.session ?? ""}`;
    case "session.ended":
      return "ended";
    case "closed":
      return `closed    ${event.reason ?? event.signal ?? event.code ?? ""}`.trimEnd();
    case "session.updated":
    case "session.changed":
    case "text.delta":
    case "thinking.delta":
    case "user.message":
    case "tool.delta":
    case "tool.started":
    case "tool.progress":
    case "approval.settled":
    case "host.settled":
    case "usage":
    case "compaction":
    case "catalog.updated":
    case "other":
      return undefined;
    default:
      event satisfies never;
      return undefined;
  }
}

function textOf(parts: readonly { type: string; text?: unknown }[]): string {
  return parts.map((part) => (typeof part.text === "string" ? part.text : `[${part.type}]`)).join("\n");
}
