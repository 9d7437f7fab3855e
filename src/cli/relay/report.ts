/** The report of a relay: counts ops and events at the seam, and judges them by the coverage of both dialects. */
import type { Event } from "../../core/event.js";
import type { Op } from "../../core/op.js";
import type { Covers, Dialect } from "../../dialects/index.js";

interface Line {
  type: string;
  count: number;
  how: string;
}

export class RelayReport {
  readonly #as: Dialect;
  readonly #drive: Dialect;
  readonly #ops = new Map<string, Line>();
  readonly #events = new Map<string, Line>();

  constructor(as: Dialect, drive: Dialect) {
    this.#as = as;
    this.#drive = drive;
  }

  op(op: Op): void {
    count(this.#ops, op.type, opWords(this.#drive.coverage[op.type]));
  }

  event(event: Event): void {
    const made = this.#drive.coverage[event.type] === "none" ? "made up by the link; " : "";
    count(this.#events, event.type, `${made}${eventWords(this.#as.coverage[event.type])}`);
  }

  json(): string {
    return JSON.stringify({ as: this.#as.id, drive: this.#drive.id, ops: [...this.#ops.values()], events: [...this.#events.values()] });
  }

  text(): string {
    return [
      `ops, ${this.#as.id} host to ${this.#drive.id} agent:`,
      ...rows(this.#ops),
      `events, ${this.#drive.id} agent to ${this.#as.id} host:`,
      ...rows(this.#events),
    ].join("\n");
  }
}

function count(lines: Map<string, Line>, type: string, how: string): void {
  const line = lines.get(type) ?? { type, count: 0, how };
  line.count++;
  lines.set(type, line);
}

function opWords(covers: Covers): string {
  if (covers === "exact") return "exact";
  return covers === "none" ? "not on the wire: answered by the link" : `partly on the wire: ${covers.only.join(", ")}`;
}

function eventWords(covers: Covers): string {
  if (covers === "exact") return "exact";
  return covers === "none" ? "lost: the host's wire has no word for it" : `partly said: ${covers.only.join(", ")}`;
}

function rows(lines: Map<string, Line>): string[] {
  if (lines.size === 0) return ["  none"];
  return [...lines.values()].map(({ type, count: times, how }) => `  ${type.padEnd(20)} ${String(times).padStart(6)}  ${how}`);
}
