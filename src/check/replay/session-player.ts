/**
 * Plays what was recorded of one session. It goes on by itself up to the place where the recording waited for the host: a prompt, an
 * answer, an interrupt. Words of the host that the recording does not have are answered as well as can be.
 */
import type { Event, EventOf } from "../../core/event.js";
import type { Op, OpOf } from "../../core/op.js";
import type { Item } from "../tape/tape.js";
import { OpenWork } from "./open-work.js";
import { pause, type Pace } from "./pace.js";

export type Recorded = Extract<Item, { kind: "op" | "event" }>;

export interface Playing {
  pace: Pace;
  emit(event: Event): Promise<void> | undefined;
  /** The host said something else than in the recording, whose line is `n`. */
  differs(n: number, what: string): void;
  /** Aborted when the replay is over. */
  signal: AbortSignal;
}

/** The ops that the recording waits for. Others were answered at once, and are answered anew here. */
const WAITED: ReadonlySet<Op["type"]> = new Set([
  "session.open",
  "session.close",
  "turn.prompt",
  "turn.interrupt",
  "approval.answer",
  "host.answer",
]);

export class SessionPlayer {
  readonly #items: readonly Recorded[];
  readonly #playing: Playing;
  /** The handle of the session that plays. */
  readonly #session: string | undefined;
  #at = 0;
  #lastAt: number | undefined;
  /** The number of the last event that was told. */
  #seq = 0;
  #stamp = 0;
  readonly #work = new OpenWork();
  /** Ids of the host's ops and turns, by those of the recording. */
  readonly #ids = new Map<string, string | undefined>();
  readonly #turns = new Map<string, string>();
  /** Recorded ops that were passed over: their answers are, too. */
  readonly #skipped = new Set<string>();
  /** Calls whose approval was answered otherwise than in the recording. */
  readonly #parted = new Set<string>();
  readonly #inbox: Op[] = [];
  readonly #answers = new Map<string, "allow" | "deny">();
  #wake: () => void = () => {};
  #isCut = false;
  #isDrained = false;

  constructor(items: readonly Recorded[], open: OpOf<"session.open">, playing: Playing) {
    this.#items = items;
    this.#session = open.session;
    this.#playing = playing;
    this.#inbox.push(open);
  }

  /** Whether it waits for the host, with nothing under way. */
  get isIdle(): boolean {
    return this.#work.turn === undefined && this.#inbox.length === 0;
  }

  /** Ends when the session does. */
  async play(): Promise<void> {
    for (; this.#at < this.#items.length && !this.#isOver; this.#at++) {
      const item = this.#items[this.#at];
      if (item === undefined) continue;
      if (item.kind === "op") await this.#meet(item.n, item.op);
      else await this.#tell(item.event, item.at);
      if (this.#isCut) await this.#cut();
    }
    await this.#end("failed", "the recording ends here");
    await this.#afterwards();
  }

  take(op: Op): void {
    if (op.type === "approval.answer") for (const { call, decision } of op.answers) this.#answers.set(call, decision);
    if (op.type === "turn.interrupt" && this.#work.turn !== undefined && !this.#interruptFollows()) this.#isCut = true;
    else if (WAITED.has(op.type)) this.#inbox.push(op);
    else void this.#answerAtOnce(op);
    this.#wake();
  }

  /** Lets the running turn end, and nothing more begin. */
  drain(): void {
    this.#isDrained = true;
    this.#wake();
  }

  get #isOver(): boolean {
    return this.#playing.signal.aborted || (this.#isDrained && this.isIdle);
  }

  // --- the host ---

  /** Waits until the host says what it said in the recording. */
  async #meet(n: number, op: Op): Promise<void> {
    if (!WAITED.has(op.type)) return void this.#skipped.add(op.id ?? "");
    if (op.type === "approval.answer") return this.#meetAnswers(n, op);
    for (;;) {
      const said = await this.#next();
      if (said === undefined || this.#isCut) return;
      if (said.type === op.type) return this.#matched(op, said);
      if (said.type === "approval.answer") continue;
      this.#playing.differs(n, `the host said ${said.type} where the recording has ${op.type}`);
      await this.#answerAtOnce(said);
    }
  }

  #matched(recorded: Op, said: Op): void {
    if (recorded.id !== undefined) this.#ids.set(recorded.id, said.id);
    if (recorded.type === "turn.prompt" && said.type === "turn.prompt" && recorded.turn !== undefined && said.turn !== undefined)
      this.#turns.set(recorded.turn, said.turn);
  }

  async #meetAnswers(n: number, op: OpOf<"approval.answer">): Promise<void> {
    for (const { call, decision } of op.answers) {
      while (!this.#answers.has(call) && !this.#isCut && !this.#isOver) await this.#woken();
      const said = this.#answers.get(call);
      if (said === undefined || said === decision) continue;
      this.#playing.differs(n, `the host says ${said} about the call ${call}, where the recording has ${decision}`);
      await this.#deny(call);
    }
    this.#drop("approval.answer");
  }

  /** A call that was answered otherwise did not run. */
  async #deny(call: string): Promise<void> {
    if (!this.#work.has(call)) return;
    this.#parted.add(call);
    const { turn } = this.#work;
    await this.#say({ type: "tool.ended", call, ...(turn !== undefined && { turn }), status: "denied", reason: "denied by the host" });
  }

  #drop(type: Op["type"]): void {
    const at = this.#inbox.findIndex((op) => op.type === type);
    if (at !== -1) this.#inbox.splice(at, 1);
  }

  async #next(): Promise<Op | undefined> {
    while (this.#inbox.length === 0 && !this.#isOver && !this.#isCut) await this.#woken();
    return this.#inbox.shift();
  }

  #woken(): Promise<void> {
    return new Promise((resolve) => {
      const { signal } = this.#playing;
      const wake = (): void => {
        signal.removeEventListener("abort", wake);
        resolve();
      };
      signal.addEventListener("abort", wake);
      this.#wake = wake;
    });
  }

  /** Whether the recording has an interrupt before the running turn ends. */
  #interruptFollows(): boolean {
    for (const item of this.#items.slice(this.#at)) {
      if (item.kind === "op" && item.op.type === "turn.interrupt") return true;
      if (item.kind === "event" && item.event.type === "turn.ended") return false;
    }
    return false;
  }

  async #answerAtOnce(op: Op): Promise<void> {
    const answer = (status: "ok" | "noop" | "error", more: Partial<EventOf<"reply">> = {}): Promise<void> | undefined =>
      this.#say({ type: "reply", to: op.type, status, ...(op.id !== undefined && { parent: op.id }), ...more });
    switch (op.type) {
      case "session.configure":
        return await this.#say({ type: "session.updated", config: op.patch, ...(op.id !== undefined && { parent: op.id }) });
      case "ping":
      case "provider.set":
      case "session.seed":
      case "session.watch":
        return await answer("ok");
      case "session.list":
        return await answer("ok", { data: { sessions: [], stored: [] } });
      case "command.suggest":
        return await answer("ok", { data: { suggestions: [] } });
      case "turn.steer":
      case "turn.interrupt":
      case "approval.answer":
      case "host.answer":
        return await answer("noop");
      case "turn.prompt":
        return this.#failedTurn(op);
      case "session.open":
      case "session.close":
      case "session.rewind":
      case "session.delete":
      case "session.mark":
      case "shutdown":
      case "other":
        return await answer("error", {
          fault: { code: "unsupported", message: `A recording cannot do ${op.type}`, retryable: false },
        });
      default:
        op satisfies never;
    }
  }

  async #failedTurn({ id, turn = `replayed-${this.#stamp}` }: OpOf<"turn.prompt">): Promise<void> {
    const address = { turn, ...(id !== undefined && { parent: id }) };
    const reason = "The recording is over: there is no answer to this prompt";
    await this.#say({ type: "turn.started", ...address });
    await this.#say({ type: "error", ...address, fault: { code: "replay", message: reason, retryable: false } });
    await this.#say({ type: "turn.ended", ...address, outcome: "failed", reason });
  }

  // --- the recording ---

  async #tell(event: Event, at: number): Promise<void> {
    const parent = event.parent;
    if (parent !== undefined && this.#skipped.has(parent) && (event.type === "reply" || event.type === "session.updated")) return;
    if ("call" in event && typeof event.call === "string" && this.#parted.has(event.call)) return;
    await pause(at - (this.#lastAt ?? at), this.#playing.pace, this.#playing.signal);
    this.#lastAt = at;
    await this.#emit({ ...event, ...this.#renamed(event) });
  }

  #renamed({ parent, turn }: Event): { session?: string; parent?: string | undefined; turn?: string | undefined } {
    return {
      ...(this.#session !== undefined && { session: this.#session }),
      ...(parent !== undefined && this.#ids.has(parent) && { parent: this.#ids.get(parent) }),
      ...(turn !== undefined && this.#turns.has(turn) && { turn: this.#turns.get(turn) }),
    };
  }

  /** The host has interrupted a turn that was not interrupted in the recording: the rest of it is passed over. */
  async #cut(): Promise<void> {
    this.#isCut = false;
    await this.#end("interrupted", "interrupted by the host");
    while (this.#at < this.#items.length) {
      const item = this.#items[this.#at];
      if (item?.kind === "op") this.#skipped.add(item.op.id ?? "");
      if (item?.kind === "event" && item.event.type === "turn.ended") return;
      this.#at++;
    }
  }

  async #end(outcome: "interrupted" | "failed", reason: string): Promise<void> {
    for (const event of this.#work.ending(outcome, reason)) await this.#say(event);
  }

  /** An event that the recording does not have: it follows the last one. */
  #say(event: Event): Promise<void> | undefined {
    const session = this.#session === undefined ? {} : { session: this.#session };
    return this.#emit({ ...event, ...session, at: this.#stamp, seq: this.#seq + 1 });
  }

  #emit(event: Event): Promise<void> | undefined {
    this.#seq = event.seq ?? this.#seq + 1;
    this.#stamp = event.at ?? this.#stamp;
    this.#work.follow(event);
    return this.#playing.emit({ ...event, seq: this.#seq, at: this.#stamp });
  }

  /** Behind the recording each prompt fails with the reason. */
  async #afterwards(): Promise<void> {
    while (!this.#isOver) {
      const op = await this.#next();
      if (op === undefined) break;
      if (op.type === "session.close") break;
      this.#playing.differs(this.#items.at(-1)?.n ?? 0, `the host said ${op.type} where the recording is over`);
      await this.#answerAtOnce(op);
    }
    if (this.#items.at(-1)?.kind !== "event" || !this.#hasEnded) await this.#say({ type: "session.ended" });
  }

  get #hasEnded(): boolean {
    return this.#items.some((item) => item.kind === "event" && item.event.type === "session.ended");
  }
}
