/** For tests: sessions as a live run writes them, entry by entry, and what must be true of any conversation that comes out of a log. */
import fc from "fast-check";
import type { Part } from "../../core/content.js";
import type { Event } from "../../core/event.js";
import { tailStart } from "../turn/compaction/cut.js";
import type { AssistantBlock, CallResult, Message, ModelCall } from "../models/model.js";
import type { Entry } from "./entry.js";

interface CallPlan {
  tool: string;
  /** Told at once that it cannot run; denied; run, and then how it ended. */
  fate: "refused" | "denied" | "ok" | "failed";
  output: string;
  /** Calls of a sub-agent that run inside it. */
  inner: string[];
}

type NamedCall = CallPlan & { id: string };

interface ResponsePlan {
  thinking: string | undefined;
  /** Pieces of each text block; all but the last were long enough in the making to be in the log by themselves. */
  texts: string[][];
  calls: CallPlan[];
  /** Said into the turn while this response ran. */
  steered: string[];
}

interface TurnPlan {
  /** Empty: it brings no message, but perhaps calls; or it goes on from what was. */
  prompt: string;
  /** Calls that the host asks for in the model's place. */
  asked: CallPlan[];
  responses: ResponsePlan[];
  outcome: "completed" | "interrupted" | "failed";
}

const words = fc.string({ minLength: 1, maxLength: 12, unit: "grapheme" });
const call: fc.Arbitrary<CallPlan> = fc.record({
  tool: fc.constantFrom("Bash", "Read", "Spawn"),
  fate: fc.constantFrom("refused" as const, "denied" as const, "ok" as const, "ok" as const, "failed" as const),
  output: words,
  inner: fc.array(words, { maxLength: 2 }),
});
const response: fc.Arbitrary<ResponsePlan> = fc.record({
  thinking: fc.option(words, { nil: undefined }),
  texts: fc.array(fc.array(words, { minLength: 1, maxLength: 3 }), { maxLength: 2 }),
  calls: fc.array(call, { maxLength: 3 }),
  steered: fc.array(words, { maxLength: 2 }),
});
const turn: fc.Arbitrary<TurnPlan> = fc.record({
  prompt: fc.oneof({ weight: 3, arbitrary: words }, { weight: 1, arbitrary: fc.constant("") }),
  asked: fc.oneof({ weight: 2, arbitrary: fc.constant<CallPlan[]>([]) }, { weight: 1, arbitrary: fc.array(call, { maxLength: 2 }) }),
  responses: fc.array(response, { minLength: 1, maxLength: 3 }),
  outcome: fc.constantFrom("completed" as const, "completed" as const, "interrupted" as const, "failed" as const),
});

/** The log of a few turns; `dice` say in which order parallel calls go. */
export function writtenLog(): fc.Arbitrary<Entry[]> {
  return fc
    .record({ turns: fc.array(turn, { minLength: 1, maxLength: 3 }), dice: fc.infiniteStream(fc.nat()) })
    .map(({ turns, dice }) => new LiveRun(dice).write(turns));
}

class LiveRun {
  readonly #entries: Entry[] = [];
  readonly #dice: Iterator<number>;
  #seq = 1;
  #calls = 0;
  #texts = 0;
  #turn = "";

  constructor(dice: Iterable<number>) {
    this.#dice = dice[Symbol.iterator]();
  }

  write(turns: readonly TurnPlan[]): Entry[] {
    this.#entries.push({ kind: "opened", at: 1, id: "s", cwd: "/w", config: { model: "m" } });
    for (const [index, plan] of turns.entries()) this.#runTurn(plan, `t${index}`);
    return this.#entries;
  }

  #runTurn({ prompt, asked, responses, outcome }: TurnPlan, id: string): void {
    this.#turn = id;
    this.#told({ type: "turn.started" });
    this.#told({ type: "user.message", parts: prompt === "" ? [] : text(prompt) });
    const calls = this.#named(asked);
    if (calls.length > 0) this.#entries.push({ kind: "asked", calls: calls.map(modelCall) });
    if (prompt !== "") this.#said({ role: "user", parts: text(prompt) });
    if (calls.length > 0) {
      this.#said({ role: "assistant", blocks: calls.map((one) => ({ type: "call", call: modelCall(one) })) });
      this.#runCalls(calls);
    }
    let waiting: string[] = [];
    for (const [index, plan] of responses.entries()) {
      if (waiting.length > 0) this.#takeSteering(waiting);
      waiting = [];
      const isLast = index === responses.length - 1;
      this.#respond({ ...plan, calls: isLast && outcome === "completed" ? [] : plan.calls }, (steer) => {
        if (!isLast || outcome === "interrupted") waiting.push(steer);
        return !isLast || outcome === "interrupted";
      });
    }
    this.#told({ type: "turn.ended", outcome, usage: { input: responses.length, output: responses.length } });
  }

  #takeSteering(steered: readonly string[]): void {
    const parts = steered.flatMap(text);
    this.#told({ type: "user.message", parts });
    this.#said({ role: "user", parts });
  }

  #respond(plan: ResponsePlan, takesSteer: (text: string) => boolean): void {
    const blocks: AssistantBlock[] = [];
    if (plan.thinking !== undefined) {
      this.#entries.push({ kind: "partial", turn: this.#turn, block: "thinking", text: plan.thinking });
      this.#told({ type: "thinking.done", text: plan.thinking });
      blocks.push({ type: "thinking", text: plan.thinking, meta: { vendor: { signature: plan.thinking } } });
    }
    for (const words of plan.texts) {
      // No two blocks are alike, nor is one the beginning of another.
      const pieces = [`${++this.#texts}:`, ...words];
      for (const piece of pieces.slice(0, -1)) this.#entries.push({ kind: "partial", turn: this.#turn, block: "text", text: piece });
      this.#told({ type: "text.done", text: pieces.join("") });
      blocks.push({ type: "text", text: pieces.join("") });
    }
    const calls = this.#named(plan.calls);
    for (const one of calls) blocks.push({ type: "call", call: modelCall(one), meta: one.id });
    if (blocks.length > 0) this.#said({ role: "assistant", blocks });
    this.#told({ type: "usage", scope: "call", usage: { input: 1, output: 1 } });
    for (const steer of plan.steered) if (takesSteer(steer)) this.#entries.push({ kind: "steered", parts: text(steer) });
    if (calls.length > 0) this.#runCalls(calls);
  }

  #named(calls: readonly CallPlan[]): NamedCall[] {
    return calls.map((one) => ({ ...one, id: `c${++this.#calls}` }));
  }

  #runCalls(calls: readonly NamedCall[]): void {
    for (const { id, tool } of calls) this.#told({ type: "tool.requested", call: { id, name: tool, title: `${tool} ${id}` } });
    const scripts = calls.map((one) => this.#script(one));
    for (let rest = scripts; rest.length > 0; rest = rest.filter((script) => script.length > 0)) {
      const next = rest[(this.#dice.next().value ?? 0) % rest.length]?.shift();
      if (next !== undefined) this.#told(next);
    }
    const results = calls.map(({ id, tool, fate, output }): CallResult => ({
      call: id,
      name: tool,
      parts: text(output),
      failed: fate !== "ok",
    }));
    this.#said({ role: "tool", results });
  }

  #script({ id, fate, output, inner }: NamedCall): Event[] {
    if (fate === "refused") return [ended(id, "failed", output)];
    if (fate === "denied") return [ended(id, "denied", output)];
    const children = inner.flatMap((word): Event[] => {
      const child = `c${++this.#calls}`;
      return [
        { type: "tool.requested", call: { id: child, name: "Bash", title: `Bash ${child}` }, under: id },
        { type: "tool.started", call: child, under: id },
        { ...ended(child, "ok", word), under: id },
        { type: "text.done", text: word, under: id },
      ];
    });
    return [{ type: "tool.started", call: id }, ...children, ended(id, fate, output)];
  }

  #told(event: Event): void {
    this.#entries.push({
      kind: "event",
      event: { ...event, session: "h", turn: this.#turn, parent: `op-${this.#turn}`, at: this.#seq, seq: this.#seq++ },
    });
  }

  #said(message: Message): void {
    this.#entries.push({ kind: "message", message });
  }
}

function modelCall({ id, tool }: NamedCall): ModelCall {
  return { id, name: tool, args: { constructor: id } };
}

function ended(call: string, status: "ok" | "failed" | "denied", output: string): Event {
  return { type: "tool.ended", call, status, output: text(output) };
}

function text(words: string): Part[] {
  return [{ type: "text", text: words }];
}

/** The same log, with the conversation summed up here and there, as it is before a request to the model. */
export function compactedLog(): fc.Arbitrary<Entry[]> {
  return fc.record({ log: writtenLog(), keep: fc.infiniteStream(fc.nat(20)) }).map(({ log, keep }) => {
    const entries: Entry[] = [];
    for (const entry of log) {
      entries.push(entry);
      const [tokens = 0] = [...keep.take(1)];
      if (entry.kind !== "message" || entry.message.role === "assistant" || tokens % 2 === 0) continue;
      const messages = messagesIn(entries);
      const tail = messages.slice(tailStart(messages, tokens));
      entries.push({ kind: "reset", messages: [{ role: "user", parts: text("summary") }, ...tail] });
    }
    return entries;
  });
}

export function messagesIn(entries: readonly Entry[]): Message[] {
  return entries.reduce<Message[]>((messages, entry) => {
    if (entry.kind === "reset") return [...entry.messages];
    return entry.kind === "message" ? [...messages, entry.message] : messages;
  }, []);
}

export function eventsIn(entries: readonly Entry[]): Event[] {
  return entries.flatMap((entry) => (entry.kind === "event" ? [entry.event] : []));
}

/** Checks the rules that every vendor has for a conversation; returns a sentence for each breach. */
export function unsound(messages: readonly Message[]): string[] {
  return messages.flatMap((message, index) => {
    const before = messages[index - 1];
    const after = messages[index + 1];
    if (message.role === "tool" && callsOf(before).length === 0) return [`results without calls at ${index}`];
    const calls = callsOf(message);
    const results = after?.role === "tool" ? after.results.map(({ call }) => call) : [];
    return calls.join() === results.join() || calls.length === 0
      ? []
      : [`calls ${calls.join()} have the results ${results.join()} at ${index}`];
  });
}

function callsOf(message: Message | undefined): string[] {
  return message?.role === "assistant" ? message.blocks.flatMap((block) => (block.type === "call" ? [block.call.id] : [])) : [];
}
