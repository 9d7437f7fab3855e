/**
 * Requests of an agent for permission, and their answers: written in the order of asking, whatever the order of answering. The wire does
 * not tell what became of a call that was allowed: it counts as done when the agent goes on talking, or ends well.
 */
import type { Call, Event } from "../../../core/event.js";
import { QUEUE_LIMIT } from "../../../core/limits.js";
import type { Answer } from "../../../core/op.js";
import type { Out } from "../../dialect.js";
import type { Address } from "./blocks.js";
import type { Said } from "./read-lines.js";
import { RESPONSE, type PermissionAnswer } from "../wire/records.js";

interface Asked {
  id: string;
  /** The host was told of it. */
  isCall: boolean;
  answer: PermissionAnswer | undefined;
}

export class Permissions {
  readonly #address: Address;
  /** Oldest first; the first one is not answered yet. */
  readonly #waiting: Asked[] = [];
  readonly #known = new Set<string>();
  readonly #running = new Set<string>();

  constructor(address: Address) {
    this.#address = address;
  }

  get isFull(): boolean {
    return this.#waiting.length >= QUEUE_LIMIT;
  }

  get isWaiting(): boolean {
    return this.#waiting.length > 0;
  }

  /** `late`: the turn has failed already, and nobody is asked. */
  ask(said: Extract<Said, { is: "request" | "bad request" }>, asRecords: boolean, late: boolean): { in: Event[]; out: Out[] } {
    if (said.is === "bad request") return this.#refuse(said.id, `malformed request: ${said.why}`, asRecords);
    const { request_id: id, tool_name: name, input, description } = said.request;
    if (late) return this.#refuse(id, "the turn has failed", asRecords);
    if (this.#known.has(id)) return this.#refuse(id, "malformed request: its id was used before", asRecords);
    this.#known.add(id);
    this.#waiting.push({ id, isCall: true, answer: undefined });
    const call: Call = { id, name, args: input, ...(description !== undefined && { title: description }) };
    const message = description === undefined ? {} : { message: description };
    return {
      in: [
        { type: "tool.requested", ...this.#address, call },
        { type: "approval.requested", ...this.#address, calls: [call], ...message },
      ],
      out: [],
    };
  }

  answer(answers: readonly Answer[], asRecords: boolean): { in: Event[]; out: Out[] } {
    for (const answer of answers) {
      const asked = this.#waiting.find(({ id, isCall }) => isCall && id === answer.call);
      if (asked !== undefined) asked.answer ??= wireAnswer(answer);
    }
    return this.#flush(asRecords);
  }

  /** It goes on: what it was allowed is done. */
  ran(): Event[] {
    return this.#endRunning("ok");
  }

  end(status: "ok" | "cancelled"): Event[] {
    const waiting = this.#waiting.splice(0).flatMap(({ id, isCall }) => (isCall ? [this.#ended(id, "cancelled")] : []));
    return [...this.#endRunning(status), ...waiting];
  }

  #endRunning(status: "ok" | "cancelled"): Event[] {
    const events = [...this.#running].map((id) => this.#ended(id, status));
    this.#running.clear();
    return events;
  }

  /** Without asking anybody, in its place behind those that wait. */
  #refuse(id: string, message: string, asRecords: boolean): { in: Event[]; out: Out[] } {
    const answer: PermissionAnswer = { request_id: id, behavior: "deny", message };
    this.#waiting.push({ id, isCall: false, answer });
    return this.#flush(asRecords);
  }

  #flush(asRecords: boolean): { in: Event[]; out: Out[] } {
    const step: { in: Event[]; out: Out[] } = { in: [], out: [] };
    for (let first = this.#waiting[0]; first?.answer !== undefined; first = this.#waiting[0]) {
      this.#waiting.shift();
      const { answer } = first;
      step.out.push({ rec: asRecords ? { type: "permission_response", ...answer } : `${RESPONSE}${JSON.stringify(answer)}` });
      if (first.isCall) step.in.push(this.#settled(first.id, answer));
    }
    return step;
  }

  #settled(id: string, { behavior, updated_input, message }: PermissionAnswer): Event {
    if (behavior === "deny") return this.#ended(id, "denied", message);
    this.#running.add(id);
    return { type: "tool.started", ...this.#address, call: id, ...(updated_input !== undefined && { args: updated_input }) };
  }

  #ended(call: string, status: "ok" | "cancelled" | "denied", reason?: string): Event {
    return { type: "tool.ended", ...this.#address, call, status, ...(reason !== undefined && { reason }) };
  }
}

function wireAnswer({ call, decision, args, reason }: Answer): PermissionAnswer {
  if (decision === "deny") return { request_id: call, behavior: "deny", ...(reason !== undefined && { message: reason }) };
  return { request_id: call, behavior: "allow", ...(args !== undefined && { updated_input: args }) };
}
