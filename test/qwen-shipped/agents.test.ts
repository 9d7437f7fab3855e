/** Sub-agents: what they are told, say and do has the call as its parent; that they began and ended is told. */
import { describe, expect, it } from "vitest";
import { initialized } from "./host.js";

const spawn = { call: { tool: "Spawn", args: { tasks: [{ name: "sub", prompt: "look around", agent: "helper" }] }, id: "s1" } };

describe("sub-agents", () => {
  it("S46: their prompt, task_started, their messages, task_notification, the result of the call, then the result", async () => {
    const usage = { input: 10, output: 5 };
    const host = await initialized(
      {
        args: ["--yolo"],
        responses: [
          spawn,
          { expect: { system: "You help." }, say: "I look", call: { tool: "Bash", args: { command: "echo sub" }, id: "c1" }, usage },
          { say: "found it", usage },
          { expect: { toolResult: "found it" }, say: "done" },
        ],
      },
      { agents: [{ name: "helper", description: "helps", systemPrompt: "You help.", level: "session" }] },
    );
    const result = await host.ask();
    expect(host.of("system")[0]).toMatchObject({ agents: expect.arrayContaining(["helper"]) });
    expect(host.story(1)).toEqual([
      "init",
      "tool_use",
      "said",
      "task_started",
      "text",
      "tool_use",
      "tool_result",
      "text",
      "said",
      "task_notification",
      "tool_result",
      "text",
      "result:success",
    ]);
    const parents = host.heard.slice(2).map((line) => ("parent_tool_use_id" in line ? line.parent_tool_use_id : undefined));
    expect(parents).toEqual([null, "s1", null, "s1", "s1", "s1", "s1", null, null, null, null, undefined]);
    const task = { task_id: "helper-s1", tool_use_id: "s1" };
    expect(host.of("system")[1]).toMatchObject({ data: { ...task, description: "sub", subagent_type: "helper" } });
    expect(host.of("system")[2]).toMatchObject({ data: { ...task, status: "completed", usage: { total_tokens: 30, tool_uses: 1 } } });
    expect(result).toMatchObject({ num_turns: 2, result: "done" });
  });

  it("a call of one is asked for by its own id", async () => {
    const host = await initialized({
      args: ["--allowed-tools", "agent"],
      responses: [
        { call: { tool: "Spawn", args: { tasks: [{ name: "sub", prompt: "go" }] }, id: "s1" } },
        { call: { tool: "Bash", args: { command: "true" }, id: "c1" } },
        { say: "child" },
        { say: "done" },
      ],
    });
    host.user();
    const { id } = await host.permission("c1");
    host.reply(id, { behavior: "deny", message: "not the child" });
    expect((await host.result()).permission_denials.map(({ tool_use_id }) => tool_use_id)).toEqual(["c1"]);
  });

  it("an interrupt ends them, and says so", async () => {
    const host = await initialized({
      args: ["--yolo"],
      responses: [
        { call: { tool: "Spawn", args: { tasks: [{ name: "sub", prompt: "go" }] }, id: "s1" } },
        { steps: [{ wait: "forever" }] },
      ],
    });
    host.user();
    await host.next("system", ({ subtype }) => subtype === "task_started");
    await host.control("interrupt");
    await host.result();
    expect(host.of("system").find(({ subtype }) => subtype === "task_notification")).toMatchObject({ data: { status: "cancelled" } });
  });
});
