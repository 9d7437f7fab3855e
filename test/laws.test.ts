/** Laws that hold for every dialect in the registry, on generated values. */
import fc from "fast-check";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { Event } from "../src/core/event.js";
import { Grammar } from "../src/core/grammar.js";
import { Op, type OpOf } from "../src/core/op.js";
import type { Frame } from "../src/core/wire.js";
import type { Dialect, Side, SideEnv, Step } from "../src/dialects/dialect.js";
import { dialectIds, loadDialect } from "../src/dialects/index.js";
import { FrameReader, encodeLine } from "../src/os/lines.js";
import { legalTurn, type Entry } from "./support/streams.js";
import { arbitrary } from "./support/vocabulary.js";

const dialects = await Promise.all(dialectIds.map(loadDialect));

describe.each(dialects)("$id", (dialect) => {
  test("what an agent tells in a turn arrives in grammatical order, with every word, call and end", () => {
    fc.assert(
      fc.property(fc.array(legalTurn(), { minLength: 1, maxLength: 3 }), (turns) => {
        const wire = new Wire(dialect);
        const told = turns.map((turn) => wire.play(turn));
        expect(wire.violations()).toEqual([]);
        for (const [turn, heard] of told.entries()) expect(gist(heard, dialect)).toEqual(gist(events(turns[turn] ?? []), dialect));
      }),
      { numRuns: 60 },
    );
  });

  test("whatever a peer sends, both sides stand it and answer in words", () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.jsonValue(), arbitrary(dialect.wire.op), arbitrary(dialect.wire.event)), { maxLength: 8 }),
        (records) => {
          const [agent, host] = [dialect.agentSide(counting()), dialect.hostSide(counting())];
          agent.read({ launch: { argv: [], env: {} } });
          for (const rec of records) {
            for (const op of agent.read({ rec }).in) expect(v.is(Op, op)).toBe(true);
            for (const event of host.read({ rec }).in) expect(v.is(Event, event)).toBe(true);
            agent.read({ bad: "The line is not JSON", line: JSON.stringify(rec) });
            host.read({ bad: "The line is not JSON", line: JSON.stringify(rec) });
          }
          agent.end({});
          host.end({});
        },
      ),
      { numRuns: 100 },
    );
  });
});

/** Dialects whose wire is the vocabulary itself say everything exactly. */
describe.each(dialects.filter(({ wire }) => wire.op === Op && wire.event === Event))("$id says everything:", (dialect) => {
  test.each(Op.options.map((option) => [option.entries.type.literal, option] as const))("%s", (_type, schema) => {
    law(dialect, schema, dialect.hostSide(counting()), dialect.agentSide(counting()), { id: "1" });
  });

  // That an agent is gone is said by the link, once its process is.
  const told = Event.options.filter((option) => option.entries.type.literal !== "closed");
  test.each(told.map((option) => [option.entries.type.literal, option] as const))("%s", (_type, schema) => {
    law(dialect, schema, dialect.agentSide(counting()), dialect.hostSide(counting()), {});
  });
});

/** read(write(x)) = x, through bytes that are cut anywhere. */
function law(dialect: Dialect, schema: v.GenericSchema, from: Side<unknown, never>, to: Side<unknown, never>, meta: object): void {
  fc.assert(
    fc.property(arbitrary(schema), fc.integer({ min: 1, max: 7 }), (value, size) => {
      const whole: unknown = { ...(value as object), ...meta };
      const { out } = from.write(whole as never);
      const bytes = Buffer.from(out.map((each) => ("rec" in each ? encodeLine(dialect.framing, each.rec) : "")).join(""));
      const frames = cut(bytes, size, new FrameReader(dialect.framing));
      expect(frames.flatMap((frame) => to.read(frame).in)).toEqual([whole]);
    }),
    { numRuns: 40 },
  );
}

/** Both sides of a dialect, back to back, without a link between them. */
class Wire {
  readonly #agent: Side<Op, Event>;
  readonly #host: Side<Event, Op>;
  readonly #heard: Event[] = [];
  readonly #ops: Op[] = [];
  #turns = 0;

  constructor(dialect: Dialect) {
    this.#agent = dialect.agentSide(counting("a"));
    this.#host = dialect.hostSide(counting("h"));
    this.#say({ type: "session.open", id: "open", session: "s", open: "new", config: { provider: "p", model: "m" } });
    const opened = this.#ops.find((op) => op.type === "session.open");
    const session = opened?.session ?? "s";
    this.#tell({ type: "session.ready", session, sessionId: "stored", parent: opened?.id, capabilities: {} });
    this.#tell({ type: "catalog.updated", session, whole: true });
  }

  /** Prompts, plays the turn as the agent heard it asked for, and returns what the host heard of it. */
  play(entries: readonly Entry[]): Event[] {
    const from = this.#heard.length;
    const number = ++this.#turns;
    this.#say({ type: "turn.prompt", id: `p${number}`, session: "s", turn: `t${number}`, parts: [{ type: "text", text: "go" }] });
    const asked = this.#ops.findLast((op): op is OpOf<"turn.prompt"> => op.type === "turn.prompt");
    const address = {
      session: asked?.session ?? "s",
      turn: asked?.turn ?? `t${number}`,
      ...(asked?.id !== undefined && { parent: asked.id }),
    };
    for (const entry of entries) {
      if ("op" in entry) this.#say({ ...entry.op, id: `op${number}`, session: "s" });
      else this.#tell({ ...entry.event, ...address });
    }
    return this.#heard.slice(from);
  }

  violations(): string[] {
    const grammar = new Grammar();
    return [...this.#heard.flatMap((event) => grammar.event(event)), ...grammar.end()];
  }

  #say(op: Op): void {
    this.#toAgent(this.#host.write(op));
  }

  #tell(event: Event): void {
    this.#toHost(this.#agent.write(event));
  }

  #toAgent(step: Step<Event>): void {
    this.#heard.push(...step.in);
    for (const out of step.out) if ("rec" in out || "launch" in out) this.#toHost(this.#agent.read(passed(out)));
  }

  #toHost(step: Step<Op>): void {
    this.#ops.push(...step.in);
    // What a wire asks of its session by itself is granted at once.
    for (const op of step.in)
      if (op.type === "session.configure") this.#tell({ type: "session.updated", session: op.session, parent: op.id, config: op.patch });
    for (const out of step.out) {
      if ("rec" in out) this.#toAgent(this.#host.read(passed(out)));
      else if ("exit" in out) this.#toAgent(this.#host.end({ code: out.exit }));
    }
  }
}

/** As JSON would carry it. */
function passed(out: Extract<Frame, { rec: unknown } | { launch: unknown }>): Frame {
  return "rec" in out ? { rec: JSON.parse(JSON.stringify(out.rec)) as unknown } : out;
}

/**
 * What must survive any wire: the words, how the turn ended, and what became of each call where the wire tells of calls at all. Where it
 * tells nothing between two pieces of text, a blank line may stand there instead.
 */
function gist(heard: readonly Event[], { coverage }: Dialect): object {
  const [tellsEnds, asks] = [coverage["tool.ended"] !== "none", coverage["approval.requested"] !== "none"];
  return {
    text: heard.map((event) => (event.type === "text.done" ? event.text.replaceAll("\n", "") : "")).join(""),
    calls: heard.flatMap((event) => (event.type === "tool.ended" && tellsEnds ? [[event.call, event.status]] : [])),
    asked: !asks ? [] : heard.flatMap((event) => (event.type === "approval.requested" ? event.calls.map((call) => call.id) : [])),
    ends: heard.flatMap((event) => (event.type === "turn.ended" ? [event.outcome] : [])),
  };
}

function events(entries: readonly Entry[]): Event[] {
  return entries.flatMap((entry) => ("event" in entry ? [entry.event] : []));
}

function cut(bytes: Buffer, size: number, reader: FrameReader): Frame[] {
  const frames: Frame[] = [];
  for (let at = 0; at < bytes.length; at += size) frames.push(...reader.push(bytes.subarray(at, at + size)));
  return [...frames, ...reader.end()];
}

function counting(name = ""): SideEnv {
  let made = 0;
  return { stamp: () => ({ id: `${name}${++made}`, at: 0 }) };
}
