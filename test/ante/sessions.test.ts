/** Cases 4, 49 to 61 and 81 of the wire, over both lines: sessions that begin, follow one another, change and are resumed. */
import { existsSync, realpathSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { scratch } from "../process/harness.js";
import { modelServer } from "../support/model-server.js";
import { nameOf, type AnteClient } from "./client.js";
import { LINES } from "./lines.js";

const UNKNOWN = "ses_01ARZ3NDEKTSV4RRFFQ69G5FAV";
const idOf = (client: AnteClient, nth = 0): string => client.of("SessionStart")[nth]?.fields.session_id ?? "";

describe.each(LINES)("over $over", ({ launch, started }) => {
  describe("StartSession", () => {
    it("N4: SessionStart, then ExtensionRefreshed without servers, both with the op as parent; then once more when all is there", async () => {
      const cwd = scratch();
      const client = launch({ cwd });
      const op = client.send({ StartSession: { model: "rehearsal", provider: "rehearsal", streaming: true } });
      await client.next("ExtensionRefreshed", ({ id }) => client.of("ExtensionRefreshed")[1]?.id === id);
      expect(client.names(op)).toEqual(["SessionStart", "ExtensionRefreshed", "ExtensionRefreshed"]);
      expect(client.of("SessionStart")[0]?.fields).toMatchObject({
        model: { name: "rehearsal" },
        provider: "rehearsal",
        session_id: expect.stringMatching(/^ses_/),
        cwd: realpathSync(cwd),
      });
      expect(client.of("ExtensionRefreshed")[0]?.fields).toMatchObject({ session_id: idOf(client), mcp_servers: [] });
      await client.shutdown();
      expect(client.names().slice(-2)).toEqual(["SessionEnd", "Goodbye"]);
    });

    it("every field counts: cwd, system prompts, the lists of tools, thinking", async () => {
      const cwd = scratch();
      const client = launch({
        responses: [
          { expect: { system: "/^Be brief\\.[^]*And kind\\./", tools: ["Read", "Bash"] }, call: { tool: "Grep", args: {}, id: "g" } },
          "ok",
        ],
      });
      const { model, cwd: told } = await client.start({
        cwd,
        system_prompt: "Be brief.",
        append_system_prompt: "And kind.",
        allowed_tools: ["read", "BASH", "Glob"],
        disallowed_tools: ["glob"],
        thinking: "Max",
      });
      expect([told, model.thinking]).toEqual([realpathSync(cwd), "Max"]);
      const op = client.input();
      expect(await client.status(op)).toBe("Completed");
      expect(client.of("ToolEnd")[0]?.fields).toMatchObject({
        status: "Failed",
        result_json: { content: expect.stringContaining("There are: Read, Bash") },
      });
    });

    it("a pattern in a list of tools leaves only such calls of the tool, or forbids them", async () => {
      const calls = ["git status", "ls", "echo no"].map((command, at) => ({ tool: "Bash", args: { command }, id: `c${at}` }));
      const client = launch({ responses: [{ calls }, "ok"], then: "repeat" });
      await client.start({ policy: "yolo", allowed_tools: ["Bash(git *)", "bash(ls)", "Agent(explore)"] });
      await client.say();
      await client.start({ policy: "yolo", disallowed_tools: ["Bash(echo *)"] });
      await client.say();
      const statuses = client.of("ToolEnd").map(({ fields }) => [fields.tool_use_id.slice(0, 2), fields.status]);
      expect(statuses.filter(([, status]) => status === "Denied").map(([call]) => call)).toEqual(["c2", "c2"]);
    });

    it.each([
      ["a key that is missing", { provider: "anthropic", model: "claude-sonnet-4-6" }, /ANTHROPIC_API_KEY not set/],
      ["a provider that there is not", { provider: "nobody", model: "x" }, /nobody/],
      ["a folder that there is not", { cwd: "/nowhere/at/all" }, /\/nowhere\/at\/all/],
      ["a list of tools that cannot be read", { allowed_tools: ["Bash("] }, /Bash\(/],
    ])("%s is an Error that names it; the process and the live session go on", async (_name, wrong, why) => {
      const client = await started();
      const op = client.send({ StartSession: { model: "rehearsal", provider: "rehearsal", streaming: true, ...wrong } });
      // Behind it: it waits for the outcome, and is for the session that is still live.
      const input = client.input("say still me");
      expect(await client.error(op)).toMatch(why);
      await client.turn(input);
      expect(client.text(input)).toBe("still me");
      expect([client.of("SessionStart").length, await client.shutdown()]).toEqual([1, 0]);
    });

    it("N81: a second one ends the first: the turn, SessionEnd, then SessionStart with a new id; what comes behind is for the new one", async () => {
      const client = await started();
      const running = client.input("wait forever");
      await client.next("TurnStart");
      const op = client.send({ StartSession: { model: "rehearsal", provider: "rehearsal", streaming: true } });
      const next = client.input("say new");
      await client.turn(next);
      expect(client.names().slice(client.names().indexOf("TurnStart")).join(" ")).toMatch(
        /^TurnStart TurnEnd SessionEnd SessionStart ExtensionRefreshed ExtensionRefreshed TurnStart MessageDelta AgentMessage UsageUpdate TurnEnd$/,
      );
      expect(await client.status(running)).toEqual({ Interrupted: { reason: "the session was closed" } });
      expect(client.msgs.find((msg) => nameOf(msg) === "SessionEnd")?.parent).toBe(op);
      expect(idOf(client, 1)).not.toBe(idOf(client));
    });

    it("an Interrupt while the first one ends is nothing: it is interrupted already", async () => {
      const client = await started({ session: { policy: "yolo" } });
      client.input("run `trap '' TERM; echo up; sleep 300; sleep 300`");
      await client.next("ToolUpdate", ({ fields }) => fields.seq === 1);
      const op = client.send({ StartSession: { model: "rehearsal", provider: "rehearsal", streaming: true } });
      const interrupts: string[] = [];
      while (!client.names(op).includes("SessionStart")) {
        interrupts.push(client.send("Interrupt"));
        await client.settled();
      }
      expect(client.of("Error").filter(({ parent }) => interrupts.includes(parent ?? ""))).toEqual([]);
    });
  });

  describe("ResumeSession", () => {
    it("N52: an unknown id: an Error with the words that clients look for; the live session is still usable", async () => {
      const client = await started();
      const op = client.resume(UNKNOWN);
      expect(await client.error(op)).toMatch(/^Failed to resume session: .*No such file or directory/);
      const input = client.input("say here");
      await client.turn(input);
      expect([client.text(input), client.names().includes("SessionEnd")]).toEqual(["here", false]);
    });

    it("the live session, which is not saved: an Error, and it goes on", async () => {
      const client = await started({ args: ["--no-session"] });
      const op = client.resume(idOf(client));
      expect(await client.error(op)).toMatch(/^Failed to resume session: .*not saved/);
      const input = client.input("say here");
      await client.turn(input);
      expect([client.text(input), client.names().includes("SessionEnd")]).toEqual(["here", false]);
    });

    it("the live session, whose log somebody has deleted: an Error, and it goes on", async () => {
      const home = scratch();
      const client = await started({ home });
      await client.say("say hello");
      rmSync(join(home, "sessions"), { recursive: true });
      const op = client.resume(idOf(client));
      const input = client.input("what did I say first?");
      expect(await client.error(op)).toMatch(/^Failed to resume session: .*it goes on as it is.*No such file or directory/);
      await client.turn(input);
      expect(client.text(input)).toContain("say hello");
      expect(client.names()).not.toContain("SessionEnd");
    });

    it("N55, N57, N58: a fresh process: no SessionEnd; what was told is told again, byte for byte, without deltas and progress, and with the inputs", async () => {
      const home = scratch();
      const cwd = scratch({ "a.txt": "alpha\n" });
      const first = await started({ home, cwd, session: { policy: "default", disallowed_tools: ["WebFetch"], thinking: "Deep" } });
      const id = idOf(first);
      await first.say("think about birds, then read a.txt");
      const asked = first.input("run `echo hi`");
      const { turn, tools } = await first.pause(asked);
      first.answer(turn, [tools[0] ?? "", "Accept"]);
      await first.turn(asked);
      first.send({ UpdateSession: { model: { name: "rehearsal", temperature: 0.5 } } });
      await first.next("SessionUpdated");
      await first.say("ask a sub-agent to say deep");
      await first.say("say one, then fail with a 429");
      await first.shutdown();
      expect(first.names()).not.toContain("UserInput");

      const again = launch({ home });
      const op = again.resume(id);
      const end = again.input("say back");
      await again.turn(end);
      expect(again.names().slice(0, 2)).toEqual(["SessionStart", "ExtensionRefreshed"]);
      expect(again.of("SessionStart")[0]).toMatchObject({
        parent: op,
        fields: { session_id: id, cwd: realpathSync(cwd), model: { temperature: 0.5, thinking: "Deep" } },
      });
      const replayed = again.lines.filter((_, at) => ![op, end].includes(again.msgs[at]?.parent ?? ""));
      const isInput = (line: string): boolean => line.includes('"event":{"UserInput":');
      const isKept = (_: string, at: number): boolean =>
        !/Delta|ToolUpdate|Session(Start|End)|ExtensionRefreshed|Goodbye/.test(first.names()[at] ?? "") && first.msgs[at]?.parent !== null;
      expect(replayed.filter((line) => !isInput(line))).toEqual(first.lines.filter(isKept));
      expect(again.of("UserInput").map(({ fields }) => fields)).toEqual([
        "think about birds, then read a.txt",
        "run `echo hi`",
        "ask a sub-agent to say deep",
        "say one, then fail with a 429",
      ]);
      expect(again.text(end)).toBe("back");
      // The session's total goes on where it was.
      const totals = [...first.of("UsageUpdate"), ...again.of("UsageUpdate")].map(({ fields }) => fields.session_usage?.output_tokens ?? 0);
      expect(totals.at(-1)).toBeGreaterThan(first.of("UsageUpdate").at(-1)?.fields.session_usage?.output_tokens ?? 0);
    });

    it("N54: with a live session: SessionEnd, SessionStart of the target, ExtensionRefreshed, the replay; policy and tools are what they were", async () => {
      const home = scratch();
      const first = await started({ home, session: { policy: "yolo", disallowed_tools: ["Read"] } });
      const id = idOf(first);
      await first.say("say hello");
      await first.shutdown();
      const second = await started({ home });
      const op = second.resume(id);
      await second.next("UserInput");
      const from = second.names().indexOf("SessionEnd");
      expect(second.names().slice(from, from + 5)).toEqual(["SessionEnd", "SessionStart", "ExtensionRefreshed", "TurnStart", "UserInput"]);
      expect(second.msgs[from]?.parent).toBe(op);
      expect(idOf(second, 1)).toBe(id);
      await second.say("run `true`");
      expect(second.of("TurnPause")).toEqual([]);
      await second.say('call the tool Read with {"file_path": "a.txt"}');
      expect(second.of("ToolEnd")).toHaveLength(1);
      expect(second.of("AgentMessage").at(-1)?.fields).toMatch(/Read/);
    });

    it("of the session that is live: it ends, and begins again with its replay", async () => {
      const client = await started();
      const input = client.input("say hello");
      await client.turn(input);
      const op = client.resume(idOf(client));
      await client.next("UserInput");
      const again = client.input("what did I say first?");
      await client.turn(again);
      expect(client.names(op)).toEqual(["SessionEnd", "SessionStart", "ExtensionRefreshed", "ExtensionRefreshed"]);
      expect([idOf(client, 1), client.of("UserInput")[0]?.parent]).toEqual([idOf(client), input]);
      expect(client.text(again)).toContain("say hello");
    });

    it("N56: of more than 350 records exactly the 200 newest", async () => {
      const home = scratch();
      const first = await started({
        home,
        responses: [{ calls: Array.from({ length: 90 }, (_, at) => ({ tool: "TodoWrite", args: TODOS, id: `t${at}` })) }, "ok"],
        then: "repeat",
      });
      await first.say();
      await first.say();
      const kept = first.lines.filter((line) => !/Delta|ToolUpdate|Session|Extension/.test(line));
      expect(kept.length).toBeGreaterThan(350);
      await first.shutdown();
      const again = launch({ home });
      const op = again.resume(idOf(first));
      await again.settled();
      await again.next("ExtensionRefreshed", ({ id }) => again.of("ExtensionRefreshed")[1]?.id === id);
      const replayed = again.lines.filter((_, at) => again.msgs[at]?.parent !== op && nameOf(again.msgs[at] ?? NOTHING) !== "Error");
      expect(replayed).toHaveLength(200);
      expect(replayed.at(-1)).toBe(kept.at(-1));
    });
  });

  describe("SlashCommand", () => {
    it("N59: of a skill is a turn, of another command an Info, of none an Error; `args` may be missing", async () => {
      const client = await started();
      const unknown = client.send({ SlashCommand: { name: "nosuch", args: "" } });
      expect(await client.error(unknown)).toContain("nosuch");
      const help = client.send({ SlashCommand: { name: "help" } });
      expect((await client.next("Info", ({ parent }) => parent === help)).fields).toContain("/");
      const op = client.input("say fine");
      await client.turn(op);
      expect(client.of("TurnStart")).toHaveLength(1);
    });
  });

  describe("the local provider", () => {
    it("N60: a registered port is where a session of `local` goes; a pinned model beats StartSession's; N61: it can be restored", async () => {
      const server = await modelServer("local", [{ text: ["from "] }, { text: ["home"] }]);
      const port = Number(new URL(server.url).port);
      const client = launch();
      const plain = client.send({ RegisterLocalProvider: { port, model: null } });
      expect((await client.next("Info", ({ parent }) => parent === plain)).fields).toMatch(/local provider/);
      expect((await client.start({ provider: "local", model: "own" })).model.name).toBe("own");
      await client.say("hi");
      const pinned = client.send({ RegisterLocalProvider: { port, model: { name: "pinned", temperature: 0.3 } } });
      await client.next("Info", ({ parent }) => parent === pinned);
      expect((await client.start({ provider: "local", model: "other" })).model).toMatchObject({ name: "pinned", temperature: 0.3 });
      await client.start({ provider: "rehearsal", model: "rehearsal" });
      const restored = client.send("RestoreLocalProvider");
      expect(await client.next("SessionUpdated", ({ parent }) => parent === restored)).toMatchObject({
        fields: { provider: "local", model: { name: "pinned" } },
      });
      await client.say("hi again");
      expect(server.requests.map(({ body }) => body)).toMatchObject([{ model: "own" }, { model: "pinned", temperature: 0.3 }]);
      expect(await client.shutdown()).toBe(0);
    });
  });

  it("a session leaves nothing behind in the folder that it works in", async () => {
    const cwd = scratch();
    const client = await started({ cwd });
    await client.say("say hi");
    await client.shutdown();
    expect(existsSync(join(cwd, ".parley"))).toBe(false);
  });
});

const TODOS = { todos: [{ content: "x", activeForm: "x", status: "pending" }] };
const NOTHING = { timestamp: "", id: "", event: "Goodbye" as const, parent: null };
