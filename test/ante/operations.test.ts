/** Cases 1 to 24, 67, 68 and 73 of the wire, over both lines: what an operation's line must look like, and what is said about one that does not. */
import { describe, expect, it } from "vitest";
import { nameOf } from "./client.js";
import { LINES } from "./lines.js";

const U = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
const ID = `op_${U}`;
const line = (op: unknown, id: unknown = ID): string => JSON.stringify({ op, id });
const start = (fields: Record<string, unknown>): unknown => ({ StartSession: { model: "rehearsal", provider: "rehearsal", ...fields } });

const BAD: [string, string, RegExp][] = [
  ["N1: not JSON", "not json", /JSON/],
  ["N1: half of it", '{"op":"Inter', /JSON/],
  ["an array, which another parser would take", `["Interrupt","${ID}"]`, /missing field `id`/],
  ["a number", "42", /a number/],
  ["N7: thinking in small letters", line(start({ thinking: "deep" })), /thinking: .*"Deep"/],
  ["N6: a policy that there is not", line(start({ policy: "Yolo" })), /policy/],
  ["N9: tools that are no list", line(start({ allowed_tools: "Read" })), /allowed_tools: Expected Array/],
  ["a session without a model", line({ StartSession: { provider: "rehearsal", streaming: true } }), /model/],
  ["a session without a provider", line({ StartSession: { model: "x", streaming: true } }), /provider/],
  ["streaming that is no boolean", line(start({ streaming: "yes" })), /streaming/],
  ["N11: an id without a ULID", line("Interrupt", "op_001"), /invalid ULID; an id looks like op_01ARZ/],
  ["N12: an id without a prefix", line("Interrupt", U), /missing separator/],
  ["N15: an id with a letter that a ULID has not", line("Interrupt", `op_${U.slice(0, -1)}U`), /invalid ULID/],
  ["N15: an id that is too short", line("Interrupt", `op_${U.slice(1)}`), /invalid ULID/],
  ["N16: an id that is a number", line("Interrupt", 7), /id: expected a string, not a number/],
  ["N17: no id", '{"op":"Interrupt"}', /missing field `id`/],
  ["N17: no op", `{"id":"${ID}"}`, /missing field `op`/],
  ["N19: something in what has nothing in it", line({ Interrupt: {} }), /Invalid Interrupt/],
  ["N20: small letters", line("interrupt"), /unknown variant `interrupt`; there are StartSession/],
  ["N21: nothing in what has something in it", line("UserInput"), /UserInput needs something in it/],
  ["N22: two in one", line({ UserInput: "a", Steer: "b" }), /exactly one variant, not 2/],
  ["N23: none", line({}), /exactly one variant, not 0/],
  ["N24: input that is a number", line({ UserInput: 42 }), /Invalid UserInput/],
  ["N24: input that is null", line({ UserInput: null }), /Invalid UserInput/],
  ["an op that is null", line(null), /op: expected a variant, not null/],
  ["N39: an answer of one word", line({ ApprovalResponse: { turn_id: `step_${U}`, responses: [["a"]] } }), /ApprovalResponse/],
  ["N39: an answer of three", line({ ApprovalResponse: { turn_id: `step_${U}`, responses: [["a", "Skip", "c"]] } }), /ApprovalResponse/],
  ["N40: a decision that there is not", line({ ApprovalResponse: { turn_id: `step_${U}`, responses: [["a", "Deny"]] } }), /"Accept"/],
  ["a turn_id that is no id", line({ ApprovalResponse: { turn_id: "t1", responses: [] } }), /turn_id 't1': missing separator/],
  ["N51: an update of nothing", line({ UpdateSession: {} }), /UpdateSession: .*model/],
  ["a model without a name", line({ UpdateSession: { model: { temperature: 0.2 } } }), /name is missing/],
  ["N53: a session_id that is no id", line({ ResumeSession: { session_id: "ses_target" } }), /Failed to resume session: .*invalid ULID/],
  ["N59: a command without a name", line({ SlashCommand: { args: "" } }), /SlashCommand/],
  ["N60: a port that is too large", line({ RegisterLocalProvider: { port: 70_000 } }), /port/],
  ["N60: a port below zero", line({ RegisterLocalProvider: { port: -1 } }), /port/],
  ["N61: a restored provider that was never registered", line("RestoreLocalProvider"), /no local provider was registered/],
  ["a later operation", line({ Compact: {} }), /unknown variant `Compact`/],
];

describe.each(LINES)("over $over", ({ launch, started }) => {
  it(`a line that is no operation is answered by an Error, and the session is unaffected: ${BAD.map(([name]) => name).join("; ")}`, async () => {
    const client = await started();
    for (const [name, text, why] of BAD) {
      const before = client.of("Error").length;
      client.raw(text);
      await client.settled();
      const [error, ...others] = client.of("Error").slice(before, -1);
      expect(error?.fields, name).toMatch(why);
      // An id that could be read is the parent.
      expect([null, ID], name).toContain(error?.parent);
      expect(others, name).toEqual([]);
    }
    const op = client.input("say still here");
    await client.turn(op);
    expect(client.text(op)).toBe("still here");
    expect(await client.shutdown()).toBe(0);
  });

  describe("what is tolerated", () => {
    it("N2: empty lines are nothing; N65: CRLF ends a line; N10: unknown keys around an operation, N8: and in one, are ignored", async () => {
      const client = launch();
      client.raw("\n\r\n   ");
      client.raw(`${JSON.stringify({ later: 1, op: start({ streaming: true, unknown: { a: 1 }, cwd: null }), id: ID, x: null })}\r`);
      await client.next("SessionStart");
      expect(await client.shutdown()).toBe(0);
      expect(client.of("Error")).toEqual([]);
    });

    it("N5: a session without `streaming` streams", async () => {
      const client = launch();
      client.raw(line(start({})));
      await client.next("SessionStart");
      await client.say("say one two");
      expect(client.of("MessageDelta").length).toBeGreaterThan(1);
    });

    it("N6: every policy and null, by either name; N7: every level of thinking and null", async () => {
      const client = launch();
      const policies = ["default", "yolo", "strict", "auto", "Ask", "Auto", "Deny", null];
      const levels = ["Disabled", "Enabled", "Deep", "Max", null];
      for (const policy of policies) client.send(start({ policy }));
      for (const permission_mode of policies) client.send(start({ permission_mode }));
      for (const thinking of levels) client.send(start({ thinking }));
      await client.shutdown();
      expect(client.of("Error")).toEqual([]);
      const told = client.of("SessionStart").map(({ fields }) => fields.model.thinking ?? null);
      expect(told.slice(-levels.length)).toEqual(levels);
      expect(told).toHaveLength(2 * policies.length + levels.length);
    });

    it("N13: a ULID in small letters comes back in capitals; N14: of a long prefix four bytes are left", async () => {
      const client = launch();
      client.send("Probe", `op_${U.toLowerCase()}`);
      client.send("Probe", `operation_${U}`);
      client.send("Probe", `_${U}`);
      await client.shutdown();
      expect(client.of("Error").map(({ parent }) => parent)).toEqual([`op_${U}`, `oper_${U}`, `_${U}`]);
    });

    it('N18: {"Interrupt": null} is Interrupt', async () => {
      const client = await started();
      const op = client.input("wait forever");
      await client.next("TurnStart");
      client.send({ Interrupt: null });
      expect(await client.status(op)).toEqual({ Interrupted: { reason: "turn cancelled" } });
    });

    it("N68: U+2028, NUL and lone surrogates in a text: one line each, and the text comes back", async () => {
      const client = await started({ responses: [{ expect: { lastUser: "/\\u2028.\\u0000/" }, say: "a\u2028b\u0085c" }] });
      client.raw(`{"op":{"UserInput":"a\u2028 \\u0000 \\ud800"},"id":"${ID}"}`);
      await client.turn(ID);
      expect(client.text(ID)).toBe("a\u2028b\u0085c");
      expect(client.of("AgentMessage")).toHaveLength(1);
    });
  });

  describe("much", () => {
    it("N67: an input of 5 MB", async () => {
      const client = await started({ responses: ["got it"] });
      const op = client.input("x".repeat(5 * 1024 * 1024));
      await client.turn(op);
      expect(client.text(op)).toBe("got it");
    });

    it("N73: a thousand operations at once are served in order", async () => {
      const client = launch();
      const updates = Array.from({ length: 998 }, (_, at) => ({
        op: { UpdateSession: { model: { name: "rehearsal", temperature: at } } },
      }));
      const ops = [
        { op: start({}), id: ID },
        ...updates.map((update, at) => ({ ...update, id: `op_${U.slice(0, 22)}${String(1000 + at)}` })),
        { op: { UserInput: "say end" }, id: `op_${U.slice(0, 22)}9999` },
      ];
      for (const { op, id } of ops) client.send(op, id);
      await client.next("TurnEnd");
      expect(client.of("SessionUpdated").map(({ fields }) => fields.model.temperature)).toEqual(updates.map((_, at) => at));
      expect(client.names().at(-1)).toBe("TurnEnd");
    });
  });

  it("N3: Shutdown without a session: Goodbye alone, exit code 0, and nothing more is answered", async () => {
    const client = launch();
    client.raw(line("Shutdown"));
    client.raw("garbage");
    expect(await client.closed).toBe(0);
    expect(client.msgs.map((msg) => [nameOf(msg), msg.parent])).toEqual([["Goodbye", ID]]);
  });
});
