/** The outcome of one prompt as one value, gathered from its events. */
import type { Fault } from "../core/errors.js";
import type { Event, EventOf, Usage } from "../core/event.js";
import { isRecord } from "../core/values/json-object.js";

/** A tool call of a turn. */
export interface CallOutcome {
  tool: string;
  status: EventOf<"tool.ended">["status"];
}

/** `sessionId` is null without a session, `cost` (in US dollars) is there where the prices of every model that answered are known. */
export interface TurnResult {
  text: string;
  outcome: EventOf<"turn.ended">["outcome"];
  finish?: string;
  sessionId: string | null;
  usage: Usage;
  cost?: number;
  calls: CallOutcome[];
  error?: { code: string; message: string };
}

export class ResultOfEvents {
  #outcome: TurnResult["outcome"] = "failed";
  #finish: string | undefined;
  #sessionId: string | undefined;
  #usage: Usage = { input: 0, output: 0 };
  #cost: number | "unknown" | undefined;
  #fault: Fault | undefined;
  readonly #calls: CallOutcome[] = [];
  readonly #tools = new Map<string, string>();
  readonly #texts: string[] = [];
  /** The number of texts before the running answer of the model, which may be dropped and asked for again. */
  #before = 0;
  #isBetweenAnswers = true;

  constructor(sessionId?: string) {
    this.#sessionId = sessionId;
  }

  see(event: Event): void {
    if (event.type === "usage" && event.scope === "call") this.#addCost(event.cost);
    if (event.under !== undefined) return;
    switch (event.type) {
      case "session.ready":
        this.#sessionId = event.sessionId;
        return;
      case "text.delta":
      case "thinking.delta":
      case "thinking.done":
        return this.#begin();
      case "text.done":
        this.#begin();
        return void this.#texts.push(event.text);
      case "tool.requested":
        this.#begin();
        return void this.#tools.set(event.call.id, event.call.name);
      case "tool.ended":
        this.#isBetweenAnswers = true;
        return void this.#calls.push({ tool: this.#tools.get(event.call) ?? event.call, status: event.status });
      case "usage":
        this.#isBetweenAnswers = true;
        return;
      case "notice":
        if (isRecord(event.data) && event.data["dropped"] === true) this.#drop();
        return;
      case "turn.ended":
        this.#outcome = event.outcome;
        this.#finish = event.finish;
        this.#usage = event.usage ?? this.#usage;
        this.#fault = event.fault;
        return;
      case "session.updated":
      case "session.ended":
      case "session.changed":
      case "closed":
      case "turn.started":
      case "user.message":
      case "tool.delta":
      case "tool.started":
      case "tool.progress":
      case "approval.requested":
      case "approval.settled":
      case "host.request":
      case "host.settled":
      case "compaction":
      case "catalog.updated":
      case "reply":
      case "error":
      case "other":
        return;
      default:
        event satisfies never;
        return;
    }
  }

  fail(fault: Fault): void {
    this.#outcome = "failed";
    this.#fault = fault;
  }

  /** The result of a turn that was interrupted before it began. */
  interrupted(): TurnResult {
    this.#outcome = "interrupted";
    return this.value();
  }

  value(): TurnResult {
    const fault = this.#fault;
    return {
      text: this.#texts.join("\n"),
      outcome: this.#outcome,
      ...(this.#finish !== undefined && { finish: this.#finish }),
      sessionId: this.#sessionId ?? null,
      usage: this.#usage,
      ...(typeof this.#cost === "number" && { cost: this.#cost }),
      calls: this.#calls,
      ...(fault !== undefined && { error: { code: fault.code, message: fault.message } }),
    };
  }

  #begin(): void {
    if (this.#isBetweenAnswers) this.#before = this.#texts.length;
    this.#isBetweenAnswers = false;
  }

  #drop(): void {
    this.#texts.length = this.#before;
    this.#isBetweenAnswers = true;
  }

  #addCost(cost: number | undefined): void {
    if (cost === undefined || this.#cost === "unknown") this.#cost = "unknown";
    else this.#cost = (this.#cost ?? 0) + cost;
  }
}
