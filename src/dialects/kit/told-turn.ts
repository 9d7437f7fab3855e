/**
 * One turn of a driven agent as its wire tells it. Whatever the wire leaves out, says twice or says too late, what comes out of here is
 * grammatical: blocks are closed, calls are announced before they are mentioned and end once, and the turn ends with all of it closed.
 */
import type { Call, Event, EventOf, Usage } from "../../core/event.js";
import { categoryOf } from "../../core/names.js";
import { addUsage } from "../../core/usage.js";

export interface Address {
  session: string;
  turn: string;
  parent?: string;
}

export interface ToldCall {
  /** Ours. Where the wire uses an id again, the later calls have ids of their own. */
  readonly id: string;
  /** As the wire names it. */
  readonly wireId: string;
  call: Call;
  now: "requested" | "started" | "ended";
  readonly under: string | undefined;
}

type Kind = "text" | "thinking";
type Ended = Omit<EventOf<"tool.ended">, "type" | "call">;
type End = Pick<EventOf<"turn.ended">, "outcome" | "finish" | "reason" | "fault" | "usage">;

export class ToldTurn {
  readonly address: Address;
  /** By the wire's names, the newest of each name. */
  readonly #calls = new Map<string, ToldCall>();
  readonly #all: ToldCall[] = [];
  readonly #blocks = new Map<string, { kind: Kind; text: string }>();
  #usage: Usage | undefined;

  constructor(address: Address) {
    this.address = address;
  }

  start(): Event[] {
    return [{ type: "turn.started", ...this.address }];
  }

  // --- words ---

  piece(kind: Kind, text: string, under?: string): Event[] {
    if (text === "") return [];
    const [announced, meta] = this.#under(under);
    const closed = this.#blocks.get(under ?? "")?.kind === kind ? [] : this.closeBlock(under);
    const block = this.#blocks.get(under ?? "") ?? { kind, text: "" };
    block.text += text;
    this.#blocks.set(under ?? "", block);
    return [...announced, ...closed, { type: `${kind}.delta`, ...meta, text }];
  }

  /** The whole text: behind its pieces, which the host has, or instead of them. */
  whole(kind: Kind, text: string, under?: string): Event[] {
    const block = this.#blocks.get(under ?? "");
    if (block?.kind === kind) {
      const rest = text.startsWith(block.text) ? this.piece(kind, text.slice(block.text.length), under) : [];
      return [...rest, ...this.closeBlock(under)];
    }
    if (text === "") return this.closeBlock(under);
    const [announced, meta] = this.#under(under);
    return [...announced, ...this.closeBlock(under), { type: `${kind}.done`, ...meta, text }];
  }

  closeBlock(under?: string): Event[] {
    const block = this.#blocks.get(under ?? "");
    if (block === undefined) return [];
    this.#blocks.delete(under ?? "");
    return [{ type: `${block.kind}.done`, ...this.#under(under)[1], text: block.text, streamed: true }];
  }

  // --- calls ---

  callOf(wireId: string): ToldCall | undefined {
    return this.#calls.get(wireId);
  }

  /** By our own id. */
  byId(id: string): ToldCall | undefined {
    return this.#all.find((told) => told.id === id);
  }

  get calls(): readonly ToldCall[] {
    return this.#all;
  }

  /** A call that is open already is not requested again; one that has ended lends its name to another. */
  request(call: Call, above?: string): Event[] {
    // Nothing happens under itself.
    const under = above === call.id ? undefined : above;
    const before = this.#calls.get(call.id);
    if (before !== undefined && before.now !== "ended") return [];
    const again = this.#all.filter(({ wireId }) => wireId === call.id).length;
    const own = again === 0 ? call : { ...call, id: `${call.id}#${again + 1}` };
    const [announced, meta] = this.#under(under);
    // What was said under the earlier one is its own.
    const below = before === undefined ? [] : this.closeBlock(call.id);
    const told: ToldCall = { id: own.id, wireId: call.id, call: own, now: "requested", under };
    this.#calls.set(call.id, told);
    this.#all.push(told);
    return [...announced, ...below, ...this.closeBlock(under), { type: "tool.requested", ...meta, call: own }];
  }

  /** Mentioned without a request: what is known of it is its name on the wire. */
  known(wireId: string, name = ""): Event[] {
    return this.#calls.has(wireId) ? [] : this.request({ id: wireId, name, category: categoryOf(name) });
  }

  begin(wireId: string, args?: Record<string, unknown>): Event[] {
    const told = this.#calls.get(wireId);
    if (told?.now !== "requested") return [];
    told.now = "started";
    return [{ type: "tool.started", ...this.#under(told.under)[1], call: told.id, ...(args !== undefined && { args }) }];
  }

  progress(wireId: string, parts: Pick<EventOf<"tool.progress">, "text" | "channel" | "parts">): Event[] {
    const told = this.#calls.get(wireId);
    if (told === undefined || told.now === "ended") return [];
    const begun = this.begin(wireId);
    return [...begun, { type: "tool.progress", ...this.#under(told.under)[1], call: told.id, ...parts }];
  }

  /** What came to something had begun. */
  end(wireId: string, ended: Ended): Event[] {
    const told = this.#calls.get(wireId);
    if (told === undefined || told.now === "ended") return [];
    const begun = ended.status === "ok" || ended.status === "failed" ? this.begin(wireId) : [];
    told.now = "ended";
    return [...begun, { type: "tool.ended", ...this.#under(told.under)[1], call: told.id, ...ended }];
  }

  // --- the end ---

  spent(usage: Usage): Event[] {
    this.#usage = addUsage(this.#usage, usage);
    return [{ type: "usage", ...this.address, scope: "call", usage }];
  }

  /** A fault is told by itself, too. */
  close(end: End): Event[] {
    const blocks = [...this.#blocks.keys()].flatMap((under) => this.closeBlock(under === "" ? undefined : under));
    const status = end.outcome === "completed" ? "the turn ended without a word of it" : (end.reason ?? "the turn ended");
    const calls = this.#all.filter(({ now }) => now !== "ended").flatMap((told) => this.#abandon(told, status));
    const error: Event[] = end.fault === undefined ? [] : [{ type: "error", ...this.address, fault: end.fault }];
    const usage = end.usage ?? this.#usage;
    return [...blocks, ...calls, ...error, { type: "turn.ended", ...this.address, ...end, ...(usage !== undefined && { usage }) }];
  }

  #abandon(told: ToldCall, reason: string): Event[] {
    told.now = "ended";
    return [{ type: "tool.ended", ...this.#under(told.under)[1], call: told.id, status: "cancelled", reason }];
  }

  /** The address of what happens under a call, and that call's request where the wire forgot it. */
  #under(under: string | undefined): [Event[], Address & { under?: string }] {
    if (under === undefined) return [[], this.address];
    const announced = this.known(under, "Spawn");
    return [announced, { ...this.address, under: this.#calls.get(under)?.id ?? under }];
  }
}
