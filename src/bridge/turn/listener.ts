/** What a turn's events are to a user: pieces at once, a reply at the end, questions in between. */
import type { Call, Event, EventOf } from "../../core/event.js";
import type { Answer } from "../../core/op.js";
import type { Profile } from "../profile/profile.js";
import { EXT } from "../protocol.js";
import { CappedStream } from "./reply.js";
import type { PermissionAnswer, TurnEvents } from "./turn.js";

/** Between two blocks that an agent says in one turn, as before and after it used a tool. */
const APART = "\n\n";

export interface ListenerOptions {
  profile: Profile;
  on: TurnEvents;
  cap: number | undefined;
  /** When a question is denied, whoever is asked, in milliseconds since the epoch. */
  deadline(): number;
  answer(answers: Answer[]): Promise<void>;
}

export class Listener {
  ended: EventOf<"turn.ended"> | undefined;
  /** The agent's own name of the session, as last heard. */
  sessionId: string | undefined;
  /** As the agent told it, where its wire has one. */
  usage: unknown;
  readonly #options: ListenerOptions;
  readonly #stream: CappedStream;
  /** Whole blocks that nobody has seen yet. */
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

  /** Somebody has yet to take what was said, or to answer it. */
  get isBehind(): boolean {
    return this.#isHearing || this.#waiting.size > 0;
  }

  /** Resolves when whoever listens has taken it. One at a time. */
  async hear(event: Event): Promise<void> {
    this.#isHearing = true;
    try {
      await this.#take(event);
    } finally {
      this.#isHearing = false;
    }
  }

  /** What is told again of earlier turns was heard then. */
  async #take(event: Event): Promise<void> {
    if (event.replay === true && event.type !== "session.ready") return;
    switch (event.type) {
      case "session.ready":
      case "session.updated":
        if (event.sessionId) this.sessionId = event.sessionId;
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
      default:
        return;
    }
  }

  /** Nobody will answer any more. */
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

  /** AgentProc says itself where a line ends; other agents say blocks. */
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

  /** A listener that fails, or answers nothing, says no. */
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
