/** Shows a turn's events to the user: pieces at once, a reply at the end, questions in between. */
import type { Call, Event, EventOf } from "../../core/event.js";
import type { Answer } from "../../core/op.js";
import type { Profile } from "../profile/profile.js";
import { EXT } from "../protocol.js";
import { CappedStream } from "./reply.js";
import type { PermissionAnswer, TurnEvents } from "./turn.js";

/** The separator of two blocks of one turn, as before and after a tool. */
const APART = "\n\n";

export interface ListenerOptions {
  profile: Profile;
  on: TurnEvents;
  cap: number | undefined;
  /** The time when a question is denied, in milliseconds since the epoch. */
  deadline(): number;
  answer(answers: Answer[]): Promise<void>;
}

export class Listener {
  ended: EventOf<"turn.ended"> | undefined;
  /** The agent's own name of the session. */
  sessionId: string | undefined;
  /** The agent itself named its session in this turn. */
  isNamed = false;
  /** The usage in the form of the agent's wire, where it has one. */
  usage: unknown;
  readonly #options: ListenerOptions;
  readonly #stream: CappedStream;
  /** Whole blocks that were not streamed. */
  readonly #blocks: string[] = [];
  readonly #waiting = new Set<string>();
  #isBetween = false;
  #isHearing = false;

  constructor(options: ListenerOptions) {
    this.#options = options;
    this.#stream = new CappedStream(options.cap, options.profile.truncationSuffix);
  }

  get reply(): string {
    return this.#blocks.join(APART);
  }

  get streamTruncated(): boolean {
    return this.#stream.truncated;
  }

  /** The user still has to take an event, or to answer a question. */
  get isBehind(): boolean {
    return this.#isHearing || this.#waiting.size > 0;
  }

  /** Resolves when the user has taken the event. One call at a time. */
  async hear(event: Event): Promise<void> {
    this.#isHearing = true;
    try {
      await this.#take(event);
    } finally {
      this.#isHearing = false;
    }
  }

  /** Skips replayed events: an earlier turn showed them. */
  async #take(event: Event): Promise<void> {
    if (event.replay === true && event.type !== "session.ready") return;
    switch (event.type) {
      case "session.ready":
      case "session.updated":
        if (event.sessionId) this.sessionId = event.sessionId;
        this.isNamed ||= event.type === "session.updated" && event.sessionId !== undefined;
        return;
      case "text.delta":
        return this.#piece(event, "output");
      case "thinking.delta":
        return this.#piece(event, "thinking");
      case "text.done":
        return this.#block(event);
      case "notice":
        return this.#notice(event);
      case "usage":
        this.usage = event.ext?.[EXT];
        return;
      case "approval.requested":
        for (const call of event.calls) void this.#ask(call, event);
        return;
      case "tool.started":
      case "tool.ended":
        this.#waiting.delete(event.call);
        return;
      case "turn.ended":
        this.ended = event;
        this.usage ??= event.usage;
        return;
      case "session.ended":
      case "session.changed":
      case "closed":
      case "turn.started":
      case "thinking.done":
      case "user.message":
      case "tool.requested":
      case "tool.delta":
      case "tool.progress":
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

  /** Denies all open questions, because no answer will come. */
  async deny(message: string): Promise<void> {
    const answers = [...this.#waiting].map((call): Answer => ({ call, decision: "deny", reason: message }));
    this.#waiting.clear();
    if (answers.length > 0) await this.#options.answer(answers);
  }

  // --- words ---

  async #piece(event: EventOf<"text.delta" | "thinking.delta">, role: "output" | "thinking"): Promise<void> {
    if (!this.#options.profile.streaming || event.under !== undefined) return;
    if (role === "thinking") return this.#options.on.partial(event.text, role);
    const apart = this.#isBetween ? APART : "";
    this.#isBetween = false;
    for (const piece of this.#stream.push(apart + event.text)) await this.#options.on.partial(piece, role);
  }

  /** AgentProc has its own line ends in pieces; other agents have blocks. */
  #block({ text, streamed, under }: EventOf<"text.done">): void {
    if (under !== undefined) return;
    if (streamed === true && this.#options.profile.streaming) this.#isBetween = this.#options.profile.dialect !== undefined;
    else this.#blocks.push(text);
  }

  async #notice({ level, text, kind }: EventOf<"notice">): Promise<void> {
    if (kind === "partial") return this.#options.on.partial(text, "other");
    if (level === "warning" || level === "error") this.#options.on.warning(text);
  }

  // --- questions ---

  async #ask({ id, name, args = {}, title }: Call, { message, deadline }: EventOf<"approval.requested">): Promise<void> {
    this.#waiting.add(id);
    const description = message ?? title;
    const request = { id, tool: name, input: args, deadline: deadline ?? this.#options.deadline() };
    const answer = await this.#answerTo({ ...request, ...(description !== undefined && { description }) });
    if (this.#waiting.delete(id)) await this.#options.answer([answer]);
  }

  /** A failed or missing answer counts as no. */
  async #answerTo(request: Parameters<TurnEvents["permission"]>[0]): Promise<Answer> {
    try {
      return asAnswer(request.id, await this.#options.on.permission(request));
    } catch (error) {
      this.#options.on.warning(`Nobody could be asked about ${request.tool}: ${String(error)}`);
      return asAnswer(request.id, { behavior: "deny", message: "nobody could be asked" });
    }
  }
}

function asAnswer(call: string, answer: PermissionAnswer): Answer {
  if (answer.behavior === "allow") {
    return { call, decision: "allow", ...(answer.updatedInput !== undefined && { args: answer.updatedInput }) };
  }
  return { call, decision: "deny", reason: answer.message ?? "the user said no" };
}
