/** Whatever an agent does in a turn and whatever a host says between, the lines keep the wire's order, and each prompt has one result. */
import fc from "fast-check";
import * as v from "valibot";
import { expect, test } from "vitest";
import type { Event } from "../../src/core/event.js";
import type { Op, OpOf } from "../../src/core/op.js";
import type { Side, Step } from "../../src/dialects/dialect.js";
import { qwenShipped } from "../../src/dialects/qwen-shipped/index.js";
import { uuidOf } from "../../src/dialects/kit/stream-json/uuid.js";
import { mintId } from "../../src/core/ids.js";
import { AgentLine } from "../../src/dialects/qwen-shipped/wire/event-records.js";
import { legalTurn, type Entry } from "../support/streams.js";
import type { Line } from "./host.js";
import { Order } from "./order.js";

type Said = { turn: Entry[] } | { bad: string } | { controls: string };

const said: fc.Arbitrary<Said> = fc.oneof(
  legalTurn().map((turn) => ({ turn })),
  fc.constantFrom("{not json", "[]", '{"foo":1}').map((bad) => ({ bad })),
  fc.constantFrom("interrupt", "supported_commands", "mcp_server_status", "nonsense").map((controls) => ({ controls })),
);

test("the lines of any conversation are in order, and there are as many results as prompts", () => {
  fc.assert(
    fc.property(fc.array(said, { maxLength: 6 }), fc.boolean(), (all, isPartial) => {
      const talk = new Talk(isPartial);
      for (const one of all) {
        if ("turn" in one) talk.turn(one.turn);
        else if ("bad" in one) talk.line({ bad: "The line is not JSON", line: one.bad });
        else talk.control(one.controls);
      }
      expect(talk.order.violations).toEqual([]);
      expect(talk.order.results).toBe(all.filter((one) => "turn" in one).length);
      if (!isPartial) expect(talk.lines.filter(({ type }) => type === "stream_event")).toEqual([]);
    }),
    { numRuns: 150 },
  );
});

test("ids are UUIDs, each another, in the order in which they were made", () => {
  const ids = Array.from({ length: 2000 }, () => uuidOf(mintId()));
  expect(new Set(ids).size).toBe(ids.length);
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});

/** One side, its agent played, its lines held against schema and order. */
class Talk {
  readonly order = new Order();
  readonly lines: Line[] = [];
  readonly #side: Side<Op, Event>;
  #asked = 0;

  constructor(isPartial: boolean) {
    let made = 0;
    this.#side = qwenShipped.agentSide({ stamp: () => ({ id: `id-${++made}`, at: made }) });
    this.#hear(
      this.#side.read({
        launch: { argv: isPartial ? ["--include-partial-messages"] : [], env: {}, open: { open: "new", sessionId: "s" } },
      }),
    );
    this.#hear(
      this.#side.write({
        type: "session.ready",
        session: "s",
        sessionId: "s",
        capabilities: { catalog: true },
        config: { model: "m", cwd: "/" },
      }),
    );
    this.#hear(this.#side.write({ type: "catalog.updated", session: "s", whole: true, mcpServers: [], commands: [] }));
    this.control("initialize");
  }

  turn(entries: readonly Entry[]): void {
    const ops = this.line({ rec: { type: "user", message: { role: "user", content: "go" } } });
    const prompt = ops.find((op): op is OpOf<"turn.prompt"> => op.type === "turn.prompt");
    if (prompt?.turn === undefined) return expect.fail("the prompt did not reach the agent");
    // Answers are the agent's own affair here: what it does is written already.
    for (const entry of entries)
      if ("event" in entry) this.#hear(this.#side.write({ ...entry.event, session: "s", turn: prompt.turn, parent: prompt.id ?? "" }));
  }

  control(subtype: string): void {
    const request_id = `ask-${++this.#asked}`;
    this.order.request(request_id);
    const ops = this.line({ rec: { type: "control_request", request_id, request: { subtype } } });
    for (const op of ops)
      if (op.type === "session.configure") this.#hear(this.#side.write({ type: "session.updated", session: "s", parent: op.id ?? "" }));
  }

  line(frame: { rec: unknown } | { bad: string; line: string }): Op[] {
    return this.#hear(this.#side.read(frame));
  }

  #hear({ in: ops, out }: Step<Op>): Op[] {
    for (const item of out) {
      if (!("rec" in item)) continue;
      const line = v.parse(AgentLine, JSON.parse(JSON.stringify(item.rec)));
      this.lines.push(line);
      this.order.line(line);
    }
    return ops;
  }
}
