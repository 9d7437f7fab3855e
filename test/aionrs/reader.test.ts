/** A law: whatever a driven agent of the family says, and in whatever order, what its host hears is grammatical. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Event } from "../../src/core/event.js";
import { Grammar } from "../../src/core/grammar.js";
import type { Op } from "../../src/core/op.js";
import { aionrs, aionrsLater } from "../../src/dialects/aionrs/index.js";
import type { Dialect } from "../../src/dialects/dialect.js";
import { wayland } from "../../src/dialects/wayland/index.js";

/** Ids of messages that were asked for, one that was not, and none at all. */
const msg_id = fc.constantFrom<unknown>("m1", "m2", "m3", "strange", "", undefined, null);
const call_id = fc.constantFrom<unknown>("c1", "c2", "", undefined);
const count = fc.constantFrom<unknown>(1, 0, -5, 1.5, Infinity, null, "7", undefined);
const tool = fc.constantFrom<unknown>({ name: "Write", category: "edit", args: {}, description: "" }, { name: "X" }, null, undefined);
const said = fc.oneof(
  of("ready", { version: fc.constantFrom("0.1.0", "0.2.0"), session_id: fc.constant("s1"), capabilities: fc.constant({}) }),
  of("stream_start", { msg_id }),
  of("text_delta", { msg_id, text: fc.constantFrom<unknown>("a", "", null) }),
  of("thinking", { msg_id, text: fc.constantFrom<unknown>("h", "") }),
  of("tool_request", { msg_id, call_id, tool }),
  of("call_announced", { msg_id, call_id, tool }),
  of("tool_running", { msg_id, call_id, tool_name: fc.constant("Write") }),
  of("tool_chunk", { msg_id, call_id, tool_name: fc.constant("Write"), chunk: fc.constant("x") }),
  of("tool_result", {
    msg_id,
    call_id,
    tool_name: fc.constant("Write"),
    status: fc.constantFrom("success", "error"),
    output: fc.constant(""),
  }),
  of("tool_cancelled", { msg_id, call_id, reason: fc.constant("no") }),
  of("tool_panicked", { msg_id, call_id, tool_name: fc.constant("Write"), panic_message: fc.constant("!") }),
  of("approval_required", { call_id, resume_token: fc.constantFrom("", "t") }),
  of("sub_agent_event", { parent_call_id: call_id, agent_name: fc.constant("a"), inner: fc.constant({ type: "text_delta", text: "x" }) }),
  of("stream_end", { msg_id, usage: fc.record({ input_tokens: count, output_tokens: count, cache_read_tokens: count }) }),
  of("error", {
    msg_id,
    error: fc.record({ code: fc.constantFrom("provider_error", "tool_error", "engine_error"), message: fc.constant("") }),
  }),
  of("info", { msg_id, message: fc.constant("hm") }),
);

function of(type: string, fields: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<{ type: string }> {
  return fc.record({ type: fc.constant(type), ...fields });
}

const done = fc.constantFrom<Op>(
  { type: "turn.prompt", session: "s", parts: [] },
  { type: "turn.interrupt", session: "s" },
  { type: "approval.answer", session: "s", answers: [{ call: "c1", decision: "allow" }] },
  { type: "approval.answer", session: "s", answers: [{ call: "c1", decision: "deny" }] },
);
const step = fc.oneof({ weight: 4, arbitrary: said.map((rec) => ({ rec })) }, { weight: 1, arbitrary: done.map((op) => ({ op })) });

describe.each([aionrs, aionrsLater, wayland])("$id", (dialect) => {
  test("each turn begins and ends once, with every block and call in it closed, and with counts that can be written", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 24 }), (steps) => {
        const heard = play(dialect, steps);
        const grammar = new Grammar();
        expect([...heard.flatMap((event) => grammar.event(event)), ...grammar.end()]).toEqual([]);
        for (const event of heard)
          if (event.type === "turn.ended")
            expect(Object.values(event.usage ?? {}).filter((value) => !(value >= 0 && value < Infinity))).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });
});

/** What the host of an agent hears that says all this and is gone then. A prompt goes out when the turn before it has ended, as the link sees to. */
function play(dialect: Dialect, steps: readonly ({ rec: { type: string; msg_id?: unknown } } | { op: Op })[]): Event[] {
  const stamp = { id: "made-up", at: 0 };
  const side = dialect.hostSide({ stamp: () => stamp });
  const heard: Event[] = [];
  let prompts = 0;
  const open: Op = { type: "session.open", id: "o", session: "s", open: "new" };
  heard.push(...side.write(open).in, ...side.read({ rec: { type: "ready", version: dialect.version, capabilities: {} } }).in);
  for (const step of steps) {
    if ("rec" in step && isOfLater(step.rec, prompts)) continue;
    if ("rec" in step) heard.push(...side.read(step).in);
    else if (step.op.type !== "turn.prompt") heard.push(...side.write(step.op).in);
    else if (heard.filter(({ type, parent }) => type === "turn.ended" && parent?.startsWith("p")).length === prompts) {
      prompts++;
      heard.push(...side.write({ ...step.op, id: `p${prompts}`, turn: `m${prompts}` }).in);
    }
  }
  return [...heard, ...side.end({ code: 0 }).in];
}

/** Nobody can guess the id of a message that is not asked yet. */
function isOfLater(rec: { msg_id?: unknown }, prompts: number): boolean {
  return typeof rec.msg_id === "string" && Number(/^m(\d)$/.exec(rec.msg_id)?.[1] ?? 0) > prompts;
}
