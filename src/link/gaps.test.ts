import { describe, expect, test } from "vitest";
import { quiet } from "../../test/support/wires.js";
import type { Op, OpOf } from "../core/op.js";
import { lacking, driven, running, ended } from "../../test/support/driven-agent.js";

describe("what the agent's wire cannot say", () => {
  test("a ping is answered here", async () => {
    const { agent, host, peer } = driven(lacking({ ping: "none" }));
    await agent.send({ type: "ping", id: "x" });
    expect(await host.of("reply")).toMatchObject({ to: "ping", status: "ok", parent: "x" });
    expect(peer.heard.types).toEqual([]);
    await agent.close();
  });

  test.each<[Op, string]>([
    [
      { type: "session.configure", id: "x", session: "s", patch: { model: "m", mode: "plan" } },
      "This agent's protocol cannot change model within a session",
    ],
    [{ type: "session.seed", id: "x", session: "s", text: "before" }, "This agent's protocol has no session.seed"],
    [{ type: "session.close", id: "x", session: "s" }, "This agent's protocol cannot close one session of many"],
    [{ type: "command.suggest", id: "x", session: "s", trigger: "at", text: "@" }, "This agent's protocol has no command.suggest"],
  ])("%j is refused, with a reply and a notice", async (op, message) => {
    const { agent, host, peer } = driven(
      lacking({ "session.configure": { only: ["mode"] }, "session.seed": "none", "session.close": "none", "command.suggest": "none" }),
    );
    await agent.send(op);
    expect(await host.of("notice")).toMatchObject({ session: "s", level: "warning", text: message });
    expect(await host.of("reply")).toMatchObject({
      session: "s",
      to: op.type,
      parent: "x",
      status: "error",
      fault: { code: "unsupported", message },
    });
    expect(peer.heard.types).toEqual([]);
    await agent.close();
  });

  const open: OpOf<"session.open"> = { type: "session.open", id: "x", session: "s", open: "new" };
  const prompt: OpOf<"turn.prompt"> = { type: "turn.prompt", id: "x", session: "s", parts: [] };
  const calls = [{ name: "Read", args: { file_path: "a" } }];

  test.each<[Op, string]>([
    [{ ...open, open: "resume", fork: true }, "This agent's protocol cannot open a session with fork"],
    [{ ...open, config: { model: "m", directories: ["a"] } }, "This agent's protocol cannot open a session with directories"],
    [
      { ...open, config: { maxToolCalls: 1, maxSeconds: 1, nesting: 0 } },
      "This agent's protocol cannot open a session with maxToolCalls, maxSeconds, nesting",
    ],
    [{ ...open, config: { maxTurns: 5 } }, "This agent's protocol cannot open a session with maxTurns"],
    [
      { ...open, config: { mode: "plan", rules: [{ deny: "Bash" }], disallowedTools: ["Bash"] } },
      "This agent's protocol cannot open a session with deny and ask rules, plan mode, disallowedTools",
    ],
    [{ ...prompt, calls }, "This agent's protocol cannot take a prompt with calls"],
    [{ ...prompt, continues: true }, "This agent's protocol cannot take a prompt with continues"],
  ])("%j would be something else without its words, and is refused", async (op, message) => {
    const { agent, host, peer } = driven(lacking({ "session.open": { only: ["model"] }, "turn.prompt": { only: ["text"] } }));
    await agent.send(op);
    expect(await host.of("reply")).toMatchObject({ parent: "x", status: "error", fault: { code: "unsupported", message } });
    expect(peer.heard.types).toEqual([]);
    await agent.close();
  });

  test.each<[Op]>([
    [{ ...open, open: "resume", fork: true, config: { directories: ["a"], nesting: 1 } }],
    [{ ...prompt, calls, continues: true, trace: "00-a-b-01" }],
  ])("%j goes out where the wire has its words", async (op) => {
    const only = ["fork", "directories", "nesting", "calls", "continues"];
    const { agent, peer } = driven(lacking({ "session.open": { only }, "turn.prompt": { only } }));
    await agent.send(op);
    expect(await peer.of(op.type)).toEqual(op);
    await agent.close();
  });

  test("a trace, an empty list of calls and fallback models are no reason to refuse", async () => {
    const { agent, peer } = driven(lacking({ "session.open": { only: ["model"] }, "turn.prompt": { only: ["text"] } }));
    await agent.send({ ...open, fork: false, config: { fallbackModels: ["m"] } });
    await agent.send({ ...prompt, calls: [], continues: false, trace: "00-a-b-01" });
    expect(await peer.of("turn.prompt")).toMatchObject({ id: "x" });
    await agent.close();
  });

  test("a steer waits as the next prompt, of a turn of its own", async () => {
    const { agent, host, peer } = await running(lacking({ "turn.steer": "none" }));
    await agent.send({ type: "turn.steer", id: "st", session: "s", turn: "t", parts: [{ type: "text", text: "left" }] });
    await quiet();
    expect(peer.heard.types).not.toContain("turn.steer");
    peer.say(ended);
    const prompt = await peer.of("turn.prompt", 2);
    expect(prompt).toEqual({ type: "turn.prompt", id: "st", session: "s", parts: [{ type: "text", text: "left" }] });
    expect(host.violations).toEqual([]);
    await agent.close();
  });

  test("a steer with no turn does nothing, and says so", async () => {
    const { agent, host, peer } = driven(lacking({ "turn.steer": "none" }));
    await agent.send({ type: "turn.steer", id: "st", session: "s", parts: [] });
    expect(await host.of("reply")).toMatchObject({ status: "noop", parent: "st" });
    expect(peer.heard.types).toEqual([]);
    await agent.close();
  });
});

describe("what the agent's wire does not tell", () => {
  test("an empty catalogue follows the session's ready, for hosts that wait for one", async () => {
    const { host } = await running(lacking({ "catalog.updated": "none" }));
    expect(host.types).toEqual(["session.ready", "catalog.updated", "turn.started"]);
    expect(host.heard.all[1]).toMatchObject({ session: "s", whole: true, skills: [], subagents: [], mcpServers: [], commands: [] });
  });

  test("the catalogue is the agent's own if the wire has one", async () => {
    const { host } = await running();
    expect(host.types).toEqual(["session.ready", "turn.started"]);
  });
});
