/**
 * Requests of an agent for permission, and their answers, written in the order of the requests. The wire
 * has no end of an allowed call: it counts as done when the agent goes on writing, or exits well.
 */
import type { Event } from "../../../core/event.js";
import { QUEUE_LIMIT } from "../../../core/limits.js";
import type { Answer } from "../../../core/op.js";
import type { Out } from "../../dialect.js";
import type { TurnReader } from "../../kit/turn-reader.js";
import type { Said } from "./read-events.js";
import { RESPONSE, type PermissionAnswer } from "../wire/records.js";

interface Asked {
  id: string;
  /** The host was asked. */
  isCall: boolean;
  answer: PermissionAnswer | undefined;
}

export class Permissions {
  readonly #reader: TurnReader;
  /** Oldest first; the first one has no answer yet. */
  readonly #waiting: Asked[] = [];

  constructor(reader: TurnReader) {
    this.#reader = reader;
  }

  get isFull(): boolean {
    return this.#waiting.length >= QUEUE_LIMIT;
  }

  get isWaiting(): boolean {
    return this.#waiting.length > 0;
  }

  /** `late`: the turn has failed already, and the host is not asked. */
  ask(said: Extract<Said, { is: "request" | "bad request" }>, asRecords: boolean, late: boolean): { in: Event[]; out: Out[] } {
    if (said.is === "bad request") return this.#refuse(said.id, `malformed request: ${said.why}`, asRecords);
    const { request_id: id, tool_name: name, input, description } = said.request;
    if (late) return this.#refuse(id, "the turn has failed", asRecords);
    if (this.#reader.callOf(id) !== undefined) return this.#refuse(id, "malformed request: its id was used before", asRecords);
    this.#waiting.push({ id, isCall: true, answer: undefined });
    const call = { id, name, args: input, ...(description !== undefined && { title: description }) };
    const message = description === undefined ? {} : { message: description };
    const asked: Event = { type: "approval.requested", ...this.#reader.address, calls: [call], ...message };
    return { in: [...this.#reader.request(call), asked], out: [] };
  }

  answer(answers: readonly Answer[], asRecords: boolean): { in: Event[]; out: Out[] } {
    for (const answer of answers) {
      const asked = this.#waiting.find(({ id, isCall }) => isCall && id === answer.call);
      if (asked !== undefined) asked.answer ??= wireAnswer(answer);
    }
    return this.#flush(asRecords);
  }

  /** The agent goes on: its allowed calls count as done. */
  ran(): Event[] {
    return this.#endRunning("ok");
  }

  end(status: "ok" | "cancelled"): Event[] {
    const waiting = this.#waiting.splice(0).filter(({ isCall }) => isCall);
    return [...this.#endRunning(status), ...waiting.flatMap(({ id }) => this.#reader.end(id, { status: "cancelled" }))];
  }

  #endRunning(status: "ok" | "cancelled"): Event[] {
    const running = this.#reader.calls.filter(({ now }) => now === "started");
    return running.flatMap(({ wireId }) => this.#reader.end(wireId, { status }));
  }

  /** Denies a request without asking the host, after the requests before it. */
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
      if (first.isCall) step.in.push(...this.#settled(first.id, answer));
    }
    return step;
  }

  #settled(id: string, { behavior, updated_input, message }: PermissionAnswer): Event[] {
    if (behavior === "allow") return this.#reader.begin(id, updated_input);
    return this.#reader.end(id, { status: "denied", ...(message !== undefined && { reason: message }) });
  }
}

function wireAnswer({ call, decision, args, reason }: Answer): PermissionAnswer {
  if (decision === "deny") return { request_id: call, behavior: "deny", ...(reason !== undefined && { message: reason }) };
  return { request_id: call, behavior: "allow", ...(args !== undefined && { updated_input: args }) };
}
