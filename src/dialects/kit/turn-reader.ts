/**
 * Reads one turn of a driven agent. Wires leave out, repeat or delay parts of a turn; the events of a TurnReader
 * are grammatical: blocks are closed, a call is requested before it is mentioned and ends once, and the end of the
 * turn closes everything open.
 */
import type { Call, Event, EventOf, Usage } from "../../core/event.js";
import { categoryOf } from "../../core/names.js";
import { addUsage } from "../../core/usage.js";

export interface TurnAddress {
  session: string;
  turn: string;
  parent?: string;
}

export interface KnownCall {
  /** Our id. If the wire uses an id again, the later call gets an id of its own. */
  readonly id: string;
  /** The id on the wire. */
  readonly wireId: string;
  call: Call;
  now: "requested" | "started" | "ended";
  readonly under: string | undefined;
}

export interface TurnReaderOptions {
  /** The wire tells the start of a call: an end without one means that the call never started. */
  readonly saysStarts?: boolean;
  /** The turn's start is missing: its first block may have begun before, and calls may have been requested. */
  readonly isCut?: boolean;
}

export interface CloseOptions {
  /** The end of a call that is still open. */
  readonly abandoned?: (call: KnownCall) => CallEnd;
  /** The fault has been reported already: no `error` is emitted for it. */
  readonly isFaultTold?: boolean;
}

type BlockKind = "text" | "thinking";
type CallEnd = Omit<EventOf<"tool.ended">, "type" | "call">;
type TurnEnd = Pick<EventOf<"turn.ended">, "outcome" | "finish" | "reason" | "fault" | "usage" | "ext">;

export class TurnReader {
  readonly address: TurnAddress;
  readonly #saysStarts: boolean;
  /** The calls by their id on the wire: the open ones, or the last ended one. */
  readonly #named = new Map<string, KnownCall[]>();
  /** The calls by our id, in the order of their requests. */
  readonly #calls = new Map<string, KnownCall>();
  readonly #blocks = new Map<string, { kind: BlockKind; text: string; isCut?: boolean }>();
  readonly #isCut: boolean;
  /** In a cut turn: the Spawn calls whose first block is closed; "" for the turn itself. */
  readonly #passedCut = new Set<string>();
  #usage: Usage | undefined;

  constructor(address: TurnAddress, { saysStarts = false, isCut = false }: TurnReaderOptions = {}) {
    this.address = address;
    this.#isCut = isCut;
    this.#saysStarts = saysStarts;
  }

  start(): Event[] {
    return [{ type: "turn.started", ...this.address }];
  }

  // --- text and thinking ---

  piece(kind: BlockKind, text: string, under?: string): Event[] {
    if (text === "") return [];
    const [announced, meta] = this.#under(under);
    const closed = this.#blocks.get(under ?? "")?.kind === kind ? [] : this.closeBlock(under);
    const block = this.#blocks.get(under ?? "") ?? { kind, text: "", isCut: this.#mayBeCut(under) };
    block.text += text;
    this.#blocks.set(under ?? "", block);
    return [...announced, ...closed, { type: `${kind}.delta`, ...meta, text }];
  }

  /** The whole text, after its deltas or instead of them. */
  whole(kind: BlockKind, text: string, under?: string): Event[] {
    const block = this.#blocks.get(under ?? "");
    if (block?.kind === kind && block.isCut === true) {
      block.text = text;
      return this.closeBlock(under);
    }
    if (block?.kind === kind) {
      const rest = text.startsWith(block.text) ? this.piece(kind, text.slice(block.text.length), under) : [];
      return [...rest, ...this.closeBlock(under)];
    }
    if (text === "") return this.closeBlock(under);
    const [announced, meta] = this.#under(under);
    this.#passedCut.add(under ?? "");
    return [...announced, ...this.closeBlock(under), { type: `${kind}.done`, ...meta, text }];
  }

  /** Deltas of this block came before the cut, as its whole text shows. */
  streamedBeforeCut(kind: BlockKind, under?: string): void {
    if (this.#mayBeCut(under) && !this.#blocks.has(under ?? "")) this.#blocks.set(under ?? "", { kind, text: "", isCut: true });
  }

  #mayBeCut(under = ""): boolean {
    return this.#isCut && !this.#passedCut.has(under);
  }

  closeBlock(under?: string): Event[] {
    const block = this.#blocks.get(under ?? "");
    if (block === undefined) return [];
    this.#passedCut.add(under ?? "");
    this.#blocks.delete(under ?? "");
    return [{ type: `${block.kind}.done`, ...this.#under(under)[1], text: block.text, streamed: true }];
  }

  // --- calls ---

  /** The call for an id on the wire: the first open one, or the last ended one. */
  callOf(wireId: string): KnownCall | undefined {
    return this.openCalls(wireId)[0] ?? this.#named.get(wireId)?.at(-1);
  }

  /** The open calls of an id: several if the wire gives one id to simultaneous calls. */
  openCalls(wireId: string): readonly KnownCall[] {
    return this.#named.get(wireId)?.filter(({ now }) => now !== "ended") ?? [];
  }

  /** The call for an id of ours. */
  byId(id: string): KnownCall | undefined {
    return this.#calls.get(id);
  }

  get calls(): readonly KnownCall[] {
    return [...this.#calls.values()];
  }

  /** An open call is not requested again. A call with the id of an ended call is another call. */
  request(call: Call, above?: string): Event[] {
    return this.openCalls(call.id).length > 0 ? [] : this.requestAnother(call, above);
  }

  /** Requests a call whose id may be that of an open call. */
  requestAnother(call: Call, above?: string): Event[] {
    // A call cannot be under itself.
    const under = above === call.id ? undefined : above;
    const before = this.#named.get(call.id);
    const known: KnownCall = { id: this.#freeId(call.id), wireId: call.id, call, now: "requested", under };
    known.call = known.id === call.id ? call : { ...call, id: known.id };
    const [announced, meta] = this.#under(under);
    // Text under the earlier call of this id belongs to that call.
    const below = before === undefined ? [] : this.closeBlock(call.id);
    this.#named.set(call.id, [...this.openCalls(call.id), known]);
    this.#calls.set(known.id, known);
    return [...announced, ...below, ...this.closeBlock(under), { type: "tool.requested", ...meta, call: known.call }];
  }

  /** Requests a call that the wire mentions without a request: only its name is known. */
  known(wireId: string, name = ""): Event[] {
    return this.#named.has(wireId) ? [] : this.request({ id: wireId, name, category: categoryOf(name) });
  }

  /** Adds a call that was requested before the cut: the host knows it and gets no request. */
  knownBeforeCut(call: Call, now: "requested" | "started"): void {
    if (this.#named.has(call.id)) return;
    const known: KnownCall = { id: call.id, wireId: call.id, call, now, under: undefined };
    this.#named.set(call.id, [known]);
    this.#calls.set(call.id, known);
  }

  begin(wireId: string, args?: Record<string, unknown>): Event[] {
    return this.beginCall(this.callOf(wireId), args);
  }

  beginCall(known: KnownCall | undefined, args?: Record<string, unknown>): Event[] {
    if (known?.now !== "requested") return [];
    known.now = "started";
    return [{ type: "tool.started", ...this.#under(known.under)[1], call: known.id, ...(args !== undefined && { args }) }];
  }

  /** A call that makes progress has started. */
  progress(wireId: string, parts: Pick<EventOf<"tool.progress">, "text" | "channel" | "parts">): Event[] {
    const known = this.callOf(wireId);
    if (known === undefined || known.now === "ended") return [];
    const begun = this.#saysStarts ? [] : this.beginCall(known);
    return [...begun, { type: "tool.progress", ...this.#under(known.under)[1], call: known.id, ...parts }];
  }

  /** A call with a result has started, unless the wire tells starts itself. */
  end(wireId: string, ended: CallEnd): Event[] {
    const known = this.callOf(wireId);
    if (known === undefined || known.now === "ended") return [];
    const isStart = !this.#saysStarts && (ended.status === "ok" || ended.status === "failed");
    return [...(isStart ? this.beginCall(known) : []), this.#ended(known, ended)];
  }

  // --- the end ---

  spent(usage: Usage): Event[] {
    this.#usage = addUsage(this.#usage, usage);
    return [{ type: "usage", ...this.address, scope: "call", usage }];
  }

  /** Ends the turn and everything open in it. A fault also gets an `error` event. */
  close(end: TurnEnd, { abandoned, isFaultTold = false }: CloseOptions = {}): Event[] {
    const blocks = [...this.#blocks.keys()].flatMap((under) => this.closeBlock(under === "" ? undefined : under));
    const reason = end.outcome === "completed" ? "the turn ended without a word of it" : (end.reason ?? "the turn ended");
    const open = [...this.#calls.values()].filter(({ now }) => now !== "ended");
    const calls = open.map((known) => this.#ended(known, abandoned?.(known) ?? { status: "cancelled", reason }));
    const error: Event[] = end.fault === undefined || isFaultTold ? [] : [{ type: "error", ...this.address, fault: end.fault }];
    const usage = end.usage ?? this.#usage;
    return [...blocks, ...calls, ...error, { type: "turn.ended", ...this.address, ...end, ...(usage !== undefined && { usage }) }];
  }

  #ended(known: KnownCall, ended: CallEnd): Event {
    known.now = "ended";
    return { type: "tool.ended", ...this.#under(known.under)[1], call: known.id, ...ended };
  }

  /** The wire's id for the first call with it, numbered ids for later ones. */
  #freeId(wireId: string): string {
    let id = wireId;
    for (let nth = 2; this.#calls.has(id); nth++) id = `${wireId}#${nth}`;
    return id;
  }

  /** The address of an event under a call, and that call's request if the wire left it out. */
  #under(under: string | undefined): [Event[], TurnAddress & { under?: string }] {
    if (under === undefined) return [[], this.address];
    const announced = this.known(under, "Spawn");
    return [announced, { ...this.address, under: this.callOf(under)?.id ?? under }];
  }
}
