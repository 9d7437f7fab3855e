/** Laws of the agent's side, on generated conversations: the order holds, no word is lost, and whatever a host says is stood. */
import fc from "fast-check";
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import type { Event } from "../../src/core/event.js";
import { Op, type OpOf } from "../../src/core/op.js";
import type { Side, Step } from "../../src/dialects/dialect.js";
import { qwen } from "../../src/dialects/qwen/index.js";
import { AnsiReader, type Styled } from "../../src/dialects/qwen/agent/terminal.js";
import { EventLine } from "../../src/dialects/qwen/wire/event-records.js";
import { OpLine } from "../../src/dialects/qwen/wire/op-records.js";
import { legalTurn } from "../support/streams.js";
import { arbitrary } from "../support/vocabulary.js";
import { heardIn, type Heard } from "./heard.js";
import { requestId, type Format } from "./host.js";
import { Order } from "./order.js";

const FORMATS: Format[] = ["stream-json", "stream-chunk-json"];

/** The agent's side after its receipt, with an order that watches. */
class Agent {
  readonly heard: Heard[] = [];
  readonly ops: Op[] = [];
  readonly order = new Order();
  readonly #side: Side<Op, Event>;

  constructor(output: Format) {
    let made = 0;
    this.#side = qwen.agentSide({ stamp: () => ({ id: `id-${++made}`, at: made }) });
    const open = { open: "new" as const, sessionId: "s" };
    this.#take(this.#side.read({ launch: { argv: ["--output-format", output], env: {}, open } }));
    this.tell({ type: "session.ready", session: "s", sessionId: "s", at: 1, config: { model: "m" } });
  }

  say(rec: unknown): void {
    this.#take(this.#side.read({ rec }));
  }

  tell(event: Event): void {
    this.#take(this.#side.write(event));
  }

  #take(step: Step<Op>): void {
    this.ops.push(...step.in);
    for (const out of step.out) {
      if (!("rec" in out)) continue;
      v.assert(EventLine, out.rec);
      const line = heardIn(JSON.stringify(out.rec));
      this.heard.push(line);
      this.order.heard(line);
    }
  }
}

const words = (text: string, terminal: boolean): object => ({
  session_id: "s",
  input: { parts: [{ text }] },
  ...(terminal && { metadata: { required_capabilities: ["annotations.terminal"] } }),
});

describe.each(FORMATS)("%s", (output) => {
  it("a turn keeps the order, and every word, call and end of it is told", () => {
    fc.assert(
      fc.property(fc.array(legalTurn(), { minLength: 1, maxLength: 3 }), fc.boolean(), (turns, terminal) => {
        const agent = new Agent(output);
        let texts = "";
        const calls: string[] = [];
        for (const entries of turns) {
          agent.say(words("go", terminal));
          const turn = agent.ops.findLast((op): op is OpOf<"turn.prompt"> => op.type === "turn.prompt")?.turn ?? "";
          for (const entry of entries) {
            if ("op" in entry) {
              // Whoever is asked answers; the stream goes on as if it had been heard.
              for (const line of agent.heard) if (line.word === "control_request:can_use_tool") agent.order.answered(requestId(line));
              continue;
            }
            // Call ids are unique in a session, and these streams are all alike.
            const event: Event = JSON.parse(JSON.stringify({ ...entry.event, turn, at: 5 }).replaceAll("t-t-", `${turn}-t-`)) as Event;
            if (event.type === "text.done") texts += event.text;
            if (event.type === "tool.requested") calls.push(event.call.id);
            agent.tell(event);
          }
        }
        agent.order.end();
        expect(agent.order.violations).toEqual([]);
        const said = agent.heard.filter(({ word }) => word === "text" || word === "delta");
        expect(said.map(({ content = "" }) => content).join("")).toBe(terminal ? new AnsiReader().read(texts, true).content : texts);
        expect(agent.heard.flatMap((line) => line.calls.flatMap(({ id }) => id ?? []))).toEqual(calls);
        expect(agent.heard.filter(({ word }) => word === "summary")).toHaveLength(turns.length);
      }),
      { numRuns: 150 },
    );
  });

  it("whatever a host says is stood, and means something or is answered", () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(arbitrary(OpLine), fc.jsonValue()), { maxLength: 8 }), (records) => {
        const agent = new Agent(output);
        for (const record of records) agent.say(record);
        for (const op of agent.ops) expect(v.is(Op, op), JSON.stringify(op)).toBe(true);
        expect(agent.order.violations).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });
});

describe("escape sequences", () => {
  const piece = fc.oneof(
    fc.constantFrom(
      "\u001b[32m",
      "\u001b[0m",
      "\u001b[1;31m",
      "\u001b[39m",
      "\u001b[2K",
      "\u001b]0;title\u0007",
      "\u001b",
      "[",
      "m",
      "👍",
      "\n",
    ),
    fc.string({ maxLength: 4 }),
  );

  /** Spans over the whole text, adjoining ones of one colour as one. */
  function together(parts: readonly Styled[]): { content: string; spans: [number, number, string][]; codes: [number, string][] } {
    let content = "";
    const spans: [number, number, string][] = [];
    const codes: [number, string][] = [];
    for (const part of parts) {
      for (const { offset, code } of part.ansi) codes.push([content.length + offset, code]);
      for (const { start, end, style } of part.spans) {
        const last = spans.at(-1);
        if (last?.[1] === content.length + start && last[2] === style.theme_token) last[1] = content.length + end;
        else spans.push([content.length + start, content.length + end, style.theme_token]);
      }
      content += part.content;
    }
    return { content, spans, codes };
  }

  it("are the same wherever the text is cut, and the text can be put together again", () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), fc.array(fc.nat(60), { maxLength: 6 }), (pieces, cuts) => {
        const text = pieces.join("");
        const whole = together([new AnsiReader().read(text, true)]);
        const reader = new AnsiReader();
        const at = [0, ...cuts.map((cut) => cut % (text.length + 1)).toSorted((a, b) => a - b), text.length];
        const parts = at.slice(1).map((end, index) => reader.read(text.slice(at[index], end)));
        const cut = together([...parts, reader.read("", true)]);
        expect(cut).toEqual(whole);
        const again = whole.codes.reduceRight((sum, [offset, code]) => sum.slice(0, offset) + code + sum.slice(offset), whole.content);
        expect(again).toBe(text);
      }),
      { numRuns: 500 },
    );
  });
});
