/** Cases 25 to 48 and 82 to 85 of the wire, over both lines: turns, tools and approvals. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { processesWith, scratch, until } from "../process/harness.js";
import { LINES } from "./lines.js";

const write = (file: string, id: string, content = "x") => ({ tool: "Write", args: { file_path: file, content }, id });
const bash = (command: string, id: string) => ({ tool: "Bash", args: { command }, id });
const read = (file: string, id: string) => ({ tool: "Read", args: { file_path: file }, id });
const mark = () => `parley-ante-${process.pid}-${Math.random().toString(36).slice(2)}`;
/** What real clients wait for the end of a turn that they interrupted. */
const INTERRUPT_MS = 750;

describe.each(LINES)("over $over", ({ launch, started }) => {
  describe("without a session or a turn", () => {
    it("N25: UserInput is an Error and begins nothing; so are SlashCommand, Steer, UpdateSession and ApprovalResponse", async () => {
      const client = launch();
      const turn_id = "step_01ARZ3NDEKTSV4RRFFQ69G5FAV";
      const ops = [
        { UserInput: "hi" },
        { SlashCommand: { name: "help", args: "" } },
        { Steer: "left" },
        { UpdateSession: { model: { name: "x" } } },
        { ApprovalResponse: { turn_id, responses: [] } },
      ].map((op) => client.send(op));
      await client.shutdown();
      expect(client.of("Error").map(({ parent }) => parent)).toEqual(ops);
      expect(client.of("Error")[0]?.fields).toBe("UserInput: there is no session; send StartSession first");
      expect(client.of("TurnStart")).toEqual([]);
    });

    it("N26: Interrupt is nothing, with a session and without", async () => {
      const client = launch();
      client.send("Interrupt");
      await client.start();
      client.send("Interrupt");
      await client.shutdown();
      expect([...new Set(client.names())]).toEqual(["SessionStart", "ExtensionRefreshed", "SessionEnd", "Goodbye"]);
    });

    it("N27: Steer is told by an Info and begins no turn", async () => {
      const client = await started();
      const op = client.send({ Steer: "left" });
      expect(await client.next("Info", ({ parent }) => parent === op)).toMatchObject({
        fields: expect.stringContaining("nothing to steer"),
      });
      await client.shutdown();
      expect([client.of("TurnStart"), client.of("Error")]).toEqual([[], []]);
    });
  });

  describe("a turn", () => {
    it("N28, N30, N84, N85: in the document's order, every record with the UserInput as its parent, each block whole behind its deltas", async () => {
      const usage = { input: 100, output: 20, cacheRead: 30, cacheWrite: 40, reasoning: 5 };
      const client = await started({
        responses: [
          { think: { pieces: ["Let me", " see."] }, say: { pieces: ["I'll ", "look."] }, call: read("a.txt", "c1"), usage },
          { say: "done", usage },
        ],
        cwd: scratch({ "a.txt": "alpha\n" }),
      });
      const op = client.input();
      const turn = await client.turn(op);
      expect(turn.map(({ event }) => event)).toEqual([
        { TurnStart: { turn_id: expect.stringMatching(/^step_/) } },
        { ThinkingDelta: "Let me" },
        { ThinkingDelta: " see." },
        { Thinking: "Let me see." },
        { MessageDelta: "I'll " },
        { MessageDelta: "look." },
        { AgentMessage: "I'll look." },
        { UsageUpdate: { usage: USED, session_usage: USED } },
        { ToolStart: { id: "c1", name: "Read", input: { file_path: "a.txt" }, args: { file_path: "a.txt" } } },
        { ToolUpdate: { tool_use_id: "c1", seq: 0, message: "Read a.txt" } },
        {
          ToolEnd: {
            tool_use_id: "c1",
            status: "Completed",
            result_json: { content: expect.stringContaining("alpha") },
            is_error: false,
          },
        },
        { MessageDelta: "done" },
        { AgentMessage: "done" },
        {
          UsageUpdate: {
            usage: USED,
            session_usage: { input_tokens: 340, output_tokens: 50, cache_read_tokens: 60, cache_creation_tokens: 80 },
          },
        },
        { TurnEnd: { turn_id: expect.stringMatching(/^step_/), status: "Completed" } },
      ]);
      expect(await client.shutdown()).toBe(0);
    });

    it("N29: without streaming no delta", async () => {
      const client = await started({ session: { streaming: false }, responses: [{ think: "hm", say: "one two three" }] });
      const op = client.input();
      await client.turn(op);
      expect(client.names(op)).toEqual(["TurnStart", "Thinking", "AgentMessage", "UsageUpdate", "TurnEnd"]);
    });

    it("N47: input during a turn waits; there are never two at once, and the order is kept", async () => {
      const client = await started({ responses: [{ call: bash("true", "c1") }, "one", "two", "three"] });
      const first = client.input();
      const { turn } = await client.pause(first);
      const [second, third] = [client.input(), client.input()];
      client.answer(turn, ["c1", "Accept"]);
      await client.turn(third);
      expect([first, second, third].map((op) => client.text(op))).toEqual(["one", "two", "three"]);
    });

    it("of which 64 may wait; the next one is an Error", async () => {
      const client = await started();
      const first = client.input("wait forever");
      await client.next("TurnStart");
      const ops = Array.from({ length: 65 }, () => client.input("say hi"));
      expect(await client.error(ops[64] ?? "")).toMatch(/64 prompts wait already/);
      client.send("Interrupt");
      await client.turn(first);
      await client.turn(ops[63] ?? "");
      expect(client.of("TurnEnd")).toHaveLength(65);
    });

    it("N48: Steer begins no turn, and its words reach the next request", async () => {
      const client = await started({ responses: [{ call: bash("true", "c1") }, { expect: { lastUser: "look left" }, say: "ok" }] });
      const op = client.input();
      const { turn } = await client.pause(op);
      client.send({ Steer: "look left" });
      await client.settled();
      client.answer(turn, ["c1", "Accept"]);
      expect(await client.status(op)).toBe("Completed");
      expect(client.of("TurnStart")).toHaveLength(1);
    });

    it("a Steer that its turn had no request left for begins the next one, and is its parent", async () => {
      const responses = [{ call: bash("true", "c1") }, { expect: { lastUser: "look left" }, say: "ok" }];
      const client = await started({ responses, args: ["--max-turns", "1"] });
      const op = client.input();
      const { turn } = await client.pause(op);
      const steer = client.send({ Steer: "look left" });
      await client.settled();
      client.answer(turn, ["c1", "Accept"]);
      expect(await client.status(op)).toBe("Completed");
      expect(await client.status(client.of("TurnStart")[1]?.parent ?? steer)).toBe("Completed");
      expect(client.text(steer)).toBe("ok");
    });

    it("N49: UpdateSession in a turn does not end it and counts from the next one on; N50: another key in it is ignored", async () => {
      const client = await started({ session: { model: "rehearsal" } });
      const { session_id } = client.of("SessionStart")[0]?.fields ?? {};
      const first = client.input("run `true`");
      const { turn, tools } = await client.pause(first);
      const model = { name: "rehearsal", temperature: 0.2, top_p: 0.9, top_k: 40, max_tokens: 500, stop_sequences: ["END"] };
      const op = client.send({
        UpdateSession: { model: { ...model, context_limit: 9000, thinking: "Deep", description: "x" }, provider: "x" },
      });
      const updated = await client.next("SessionUpdated");
      expect(updated).toMatchObject({
        parent: op,
        fields: { session_id, provider: "rehearsal", model: { ...model, context_limit: 9000, thinking: "Deep" }, cwd: expect.any(String) },
      });
      client.answer(turn, ...tools.map((id): [string, string] => [id, "Accept"]));
      expect(await client.status(first)).toBe("Completed");
    });

    it("N83: a provider that refuses the key ends the turn with an Error status, and no Error event", async () => {
      const client = await started({ responses: [{ fail: { status: 401, message: "invalid API key" } }, "fine"] });
      const op = client.input();
      expect(await client.status(op)).toEqual({ Error: { message: expect.stringContaining("invalid API key"), kind: "auth" } });
      expect(client.of("Error")).toEqual([]);
      expect(client.text((await client.say(), client.of("TurnEnd")[1]?.parent) ?? "")).toBe("fine");
    });

    it("N82: updates are numbered from 0, call by call; a command that fails says so in its end", async () => {
      const client = await started({
        session: { policy: "yolo" },
        responses: [{ calls: [bash("echo a; sleep 0.3; echo b; exit 3", "c1"), bash("echo c", "c2")] }, "ok"],
      });
      await client.say();
      const numbers = (call: string) => client.of("ToolUpdate").flatMap(({ fields }) => (fields.tool_use_id === call ? [fields.seq] : []));
      for (const call of ["c1", "c2"]) expect(numbers(call)).toEqual(numbers(call).map((_, index) => index));
      expect(numbers("c1").length).toBeGreaterThan(1);
      expect(client.of("ToolEnd").find(({ fields }) => fields.tool_use_id === "c1")?.fields).toMatchObject({
        status: "Failed",
        is_error: true,
        result_json: { content: expect.stringContaining("a\nb") },
      });
    });

    it("a sub-agent is progress of its call; a call of it that must be asked for comes up as one of the turn", async () => {
      const cwd = scratch({ "a.txt": "alpha\n" });
      const client = await started({
        cwd,
        responses: [
          { call: { tool: "Spawn", args: { tasks: [{ name: "one", prompt: "go" }] }, id: "s" } },
          { say: "I look", calls: [read("a.txt", "r"), write("b.txt", "w")] },
          "found",
          "done",
        ],
      });
      const op = client.input();
      const { turn, tools } = await client.pause(op);
      expect(tools).toEqual(["w"]);
      client.answer(turn, ["w", "Accept"]);
      expect(await client.status(op)).toBe("Completed");
      expect([client.story("s"), client.story("r"), client.story("w")]).toEqual([
        "ToolStart ToolEnd:Completed",
        "",
        "ToolStart TurnPause ToolEnd:Completed",
      ]);
      const told = client.of("ToolUpdate").flatMap(({ fields }) => (fields.tool_use_id === "s" ? [fields.message] : []));
      for (const words of ["I look", "Read a.txt", "found"]) expect(told).toContain(words);
      expect(client.text(op)).toBe("done");
      expect(existsSync(join(cwd, "b.txt"))).toBe(true);
    });
  });

  describe("approval", () => {
    it("N31, N32, N42: ToolStart, TurnPause and nothing more until it is accepted; then the end, still with the UserInput as parent", async () => {
      const cwd = scratch();
      const client = await started({ cwd, responses: [{ call: write("a.txt", "c1") }, "done"] });
      const op = client.input();
      const { turn, tools, message } = await client.pause(op);
      expect([tools, message]).toEqual([["c1"], "Allow Write to a.txt?"]);
      expect(turn).toBe(client.of("TurnStart")[0]?.fields.turn_id);
      await client.settled();
      expect([client.story("c1"), existsSync(join(cwd, "a.txt"))]).toEqual(["ToolStart TurnPause", false]);
      client.answer(turn, ["c1", "Accept"]);
      expect(await client.status(op)).toBe("Completed");
      const [end] = client.of("ToolEnd");
      expect(end).toMatchObject({
        parent: op,
        fields: { status: "Completed", is_error: false, result_json: { file_path: expect.any(String) } },
      });
      expect(readFileSync(join(cwd, "a.txt"), "utf8")).toBe("x");
    });

    it("N33: Skip denies the call, and the turn goes on", async () => {
      const client = await started({
        responses: [{ call: bash("true", "c1") }, { expect: { toolResult: "skipped by the user" }, say: "I see" }],
      });
      const op = client.input();
      client.answer((await client.pause(op)).turn, ["c1", "Skip"]);
      expect(await client.status(op)).toBe("Completed");
      expect(client.of("ToolEnd")).toMatchObject([{ fields: { status: "Denied", is_error: true } }]);
      expect(client.text(op)).toBe("I see");
    });

    it("N34: Abort cancels what waits and interrupts the turn; the next one works", async () => {
      const client = await started({ responses: [{ calls: [bash("true", "c1"), bash("true", "c2")] }, "after"] });
      const op = client.input();
      client.answer((await client.pause(op)).turn, ["c1", "Accept"], ["c2", "Abort"]);
      expect(await client.status(op)).toEqual({ Interrupted: { reason: "aborted by the user" } });
      expect(client.of("ToolEnd").map(({ fields }) => fields.status)).toEqual(["Cancelled", "Cancelled"]);
      const next = client.input();
      await client.turn(next);
      expect(client.text(next)).toBe("after");
    });

    it("N35: AcceptForSession covers the whole tool, no other one and no other session", async () => {
      const client = await started({
        responses: [{ call: bash("true", "c1") }, { call: bash("echo other", "c2") }, { call: write("a", "c3") }, "ok"],
      });
      const op = client.input();
      client.answer((await client.pause(op)).turn, ["c1", "AcceptForSession"]);
      const { turn, tools } = await client.pause(op, 2);
      expect([tools, client.story("c2")]).toEqual([["c3"], "ToolStart ToolEnd:Completed"]);
      client.answer(turn, ["c3", "Skip"]);
      await client.turn(op);
      await client.start();
      const again = client.input();
      expect((await client.pause(again)).tools).toEqual(["c1"]);
    });

    it("N36, N41: a wrong turn_id, N38: no answers, N37: an unknown call: no Error, the rest counts, what has no answer waits", async () => {
      const client = await started({ responses: [{ calls: [bash("true", "c1"), bash("true", "c2")] }, "ok"] });
      const op = client.input();
      const { turn, tools } = await client.pause(op);
      expect(tools).toEqual(["c1", "c2"]);
      client.answer("step_01ARZ3NDEKTSV4RRFFQ69G5FAV", ["c1", "Accept"]);
      client.answer(turn);
      await client.settled();
      expect(client.story("c1")).toBe("ToolStart TurnPause");
      client.answer(turn, ["nobody", "Accept"], ["c1", "Accept"]);
      await client.next("ToolEnd");
      expect([client.story("c1"), client.story("c2")]).toEqual(["ToolStart TurnPause ToolEnd:Completed", "ToolStart TurnPause"]);
      client.answer(turn, ["c2", "Skip"]);
      // Once more, and the other way round.
      client.answer(turn, ["c1", "Skip"], ["c2", "Accept"]);
      expect(await client.status(op)).toBe("Completed");
      client.answer(turn, ["c2", "Accept"]);
      await client.settled();
      expect(client.story("c2")).toBe("ToolStart TurnPause ToolEnd:Denied");
      expect(client.of("Error").map(({ fields }) => fields)).toEqual([expect.stringContaining("Probe"), expect.stringContaining("Probe")]);
    });

    it("N43: yolo never pauses; what never asks by default does not either", async () => {
      const cwd = scratch({ "a.txt": "alpha\n" });
      const calls = [
        read("a.txt", "r"),
        { tool: "Glob", args: { pattern: "*" }, id: "g" },
        { tool: "Grep", args: { pattern: "a" }, id: "s" },
      ];
      const todo = { tool: "TodoWrite", args: { todos: [{ content: "x", activeForm: "x", status: "pending" }] }, id: "t" };
      const client = await started({ cwd, responses: [{ calls: [...calls, todo] }, "ok", { call: bash("true", "b") }, "ok"] });
      await client.say();
      await client.start({ policy: "yolo", model: "rehearsal" });
      await client.say("run `true` then write 'x' to b.txt");
      expect(client.of("TurnPause")).toEqual([]);
      expect(client.of("ToolEnd").map(({ fields }) => fields.status)).toEqual(Array.from({ length: 6 }, () => "Completed"));
    });

    it("the policy Deny denies what would ask, without a pause, also once the session is resumed", async () => {
      const home = scratch();
      const client = await started({ home, session: { policy: "Deny" } });
      const { session_id = "" } = client.of("SessionStart")[0]?.fields ?? {};
      await client.say("run `true`");
      expect(client.of("ToolEnd").map(({ fields }) => fields.status)).toEqual(["Denied"]);
      await client.shutdown();
      const again = launch({ home });
      again.resume(session_id);
      const op = again.input("run `true`");
      await again.turn(op);
      expect([again.of("TurnPause"), again.of("ToolEnd").at(-1)?.fields.status]).toEqual([[], "Denied"]);
      expect(again.text(op)).toContain("denied by the session's policy");
    });

    it("auto runs edits unasked and asks for commands", async () => {
      const client = await started({
        session: { permission_mode: "auto" },
        responses: [{ calls: [write("a", "w"), bash("true", "b")] }, "ok"],
      });
      const op = client.input();
      expect((await client.pause(op)).tools).toEqual(["b"]);
    });
  });

  describe("Interrupt", () => {
    it("N44: in the middle of a stream: one TurnEnd, in time, and the next input works", async () => {
      const client = await started();
      const op = client.input("count to 3 then wait forever");
      await client.next("MessageDelta");
      const before = Date.now();
      client.send("Interrupt");
      expect(await client.status(op)).toEqual({ Interrupted: { reason: "turn cancelled" } });
      expect(Date.now() - before).toBeLessThan(INTERRUPT_MS * 4);
      const next = client.input("say on");
      await client.turn(next);
      expect(client.text(next)).toBe("on");
    });

    it("N45: while it is paused: the calls that wait are cancelled", async () => {
      const client = await started();
      const op = client.input("run `true`");
      const { turn, tools } = await client.pause(op);
      client.send("Interrupt");
      expect(await client.status(op)).toEqual({ Interrupted: { reason: "turn cancelled" } });
      expect(client.of("ToolEnd")).toMatchObject([{ fields: { status: "Cancelled", is_error: true } }]);
      client.answer(turn, [tools[0] ?? "", "Accept"]);
      await client.settled();
      expect(client.of("ToolEnd")).toHaveLength(1);
    });

    it("N46: while a command runs, and its children: they are gone", async () => {
      const client = await started({ session: { policy: "yolo" } });
      const name = mark();
      const op = client.input(`run \`export MARK=${name}; sleep 300 & sleep 301\``);
      await until(() => processesWith(name).length >= 2);
      client.send("Interrupt");
      expect(await client.status(op)).toEqual({ Interrupted: { reason: "turn cancelled" } });
      await until(() => processesWith(name).length === 0);
    });

    it("behind everything that was sent in one write: the turn that it stands behind is interrupted", async () => {
      const client = launch();
      client.send({ StartSession: { model: "rehearsal", provider: "rehearsal", streaming: true } });
      const op = client.input("wait forever");
      client.send("Interrupt");
      expect(await client.status(op)).toMatchObject({ Interrupted: {} });
      expect(await client.shutdown()).toBe(0);
    });
  });
});

const USED = { input_tokens: 170, output_tokens: 25, cache_read_tokens: 30, cache_creation_tokens: 40 };
