/** Permissions over the control channel, and where there is none. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { scratch } from "../process/harness.js";
import { initialized, launch } from "./host.js";

const bash = (command: string, id = "t1") => ({ call: { tool: "Bash", args: { command, description: "d" }, id } });

describe("can_use_tool", () => {
  it("S21: is nested under request, and allow without input runs the call", async () => {
    const cwd = scratch();
    const host = await initialized({ cwd, responses: [bash("touch made.txt"), { say: "done" }] });
    host.user();
    const { id, request } = await host.permission();
    expect(request).toMatchObject({
      subtype: "can_use_tool",
      tool_name: "run_shell_command",
      tool_use_id: "t1",
      input: { command: "touch made.txt" },
      permission_suggestions: [
        { type: "allow", label: "Allow Command", description: expect.stringContaining("touch made.txt") },
        { type: "deny", label: "Deny" },
      ],
      blocked_path: null,
    });
    expect(existsSync(join(cwd, "made.txt"))).toBe(false);
    host.reply(id, { behavior: "Allow" });
    expect(await host.result()).toMatchObject({ subtype: "success", num_turns: 2, permission_denials: [] });
    expect(existsSync(join(cwd, "made.txt"))).toBe(true);
  });

  it("is asked for a mentioned file outside the workspace, before the model is", async () => {
    const far = join(scratch(), "far.txt");
    writeFileSync(far, "far away");
    const host = await initialized({ cwd: scratch(), responses: [{ expect: { lastUser: "far away" }, say: "seen" }] });
    host.user(`see @${far}`);
    const { id, request } = await host.permission();
    expect(request).toMatchObject({ tool_name: "read_file", input: { file_path: far } });
    host.reply(id, { behavior: "allow", updatedInput: { ...request.input } });
    expect(await host.result()).toMatchObject({ subtype: "success", permission_denials: [] });
  });

  it("S22: changed input runs; the message keeps the old one", async () => {
    const cwd = scratch();
    const host = await initialized({ cwd, responses: [bash("touch old.txt"), { say: "done" }] });
    host.user();
    const { id } = await host.permission();
    host.reply(id, { behavior: "allow", updatedInput: { command: "touch new.txt" } });
    await host.result();
    expect([existsSync(join(cwd, "old.txt")), existsSync(join(cwd, "new.txt"))]).toEqual([false, true]);
    expect(host.of("assistant")[0]?.message.content).toMatchObject([{ type: "tool_use", input: { command: "touch old.txt" } }]);
  });

  it("input that comes back as it went out is no change: a secret in it stays what it was", async () => {
    const cwd = scratch();
    const secret = "sk-very-secret-value-1234";
    const host = await initialized({
      cwd,
      env: { OPENAI_API_KEY: secret },
      responses: [{ call: { tool: "Write", args: { file_path: "s.txt", content: `key=${secret}` }, id: "t1" } }, { say: "done" }],
    });
    host.user();
    const { id, request } = await host.permission();
    expect(JSON.stringify(request)).not.toContain(secret);
    host.reply(id, { behavior: "allow", updatedInput: { ...request.input } });
    await host.result();
    expect(readFileSync(join(cwd, "s.txt"), "utf8")).toBe(`key=${secret}`);
  });

  it("S23: a denial is an error result of the call, the turn goes on, and it is listed", async () => {
    const cwd = scratch();
    const host = await initialized({
      cwd,
      responses: [bash("touch nope.txt"), { expect: { toolResult: "Not on my watch" }, say: "I see" }],
    });
    host.user();
    const { id } = await host.permission();
    host.reply(id, { behavior: "deny", message: "Not on my watch" });
    const result = await host.result();
    expect(host.toolResult("t1")).toEqual({ is_error: true, content: "[Operation Cancelled] Reason: Not on my watch" });
    expect(result).toMatchObject({ subtype: "success", result: "I see" });
    expect(result.permission_denials).toMatchObject([
      { tool_name: "run_shell_command", tool_use_id: "t1", tool_input: { command: "touch nope.txt" } },
    ]);
    expect(existsSync(join(cwd, "nope.txt"))).toBe(false);
  });

  it("S24: a denial that interrupts stops the turn, and the session lives", async () => {
    const host = await initialized({ responses: [bash("true"), { say: "next" }] });
    host.user();
    const { id } = await host.permission();
    host.reply(id, { behavior: "deny", message: "stop it", interrupt: true });
    expect(await host.result()).toMatchObject({ is_error: true, error: { message: "Operation cancelled." }, num_turns: 1 });
    expect(await host.ask("go on")).toMatchObject({ result: "next" });
  });

  it("S24: what was denied with the turn is listed with its reason, and nobody is asked about the rest", async () => {
    const calls = [bash("touch one.txt", "t1").call, bash("touch two.txt", "t2").call];
    const host = await initialized({ responses: [{ calls }, { say: "next" }] });
    host.user();
    const { id } = await host.permission("t1");
    host.reply(id, { behavior: "deny", message: "stop it", interrupt: true });
    expect(await host.result()).toMatchObject({ is_error: true, permission_denials: [{ tool_use_id: "t1" }] });
    expect(host.toolResult("t1").content).toBe("[Operation Cancelled] Reason: stop it");
    expect(host.of("control_request")).toHaveLength(1);
    // The next turn asks again.
    expect(await host.ask("go on")).toMatchObject({ result: "next", permission_denials: [] });
  });

  it.each([
    [
      "S25: an error",
      (host: Awaited<ReturnType<typeof initialized>>, id: string) => host.replyError(id, "callback blew up"),
      "Error: callback blew up",
    ],
    [
      "an error object",
      (host: Awaited<ReturnType<typeof initialized>>, id: string) => host.replyError(id, { message: "broke" }),
      "Error: broke",
    ],
    [
      "an error without a reason",
      (host: Awaited<ReturnType<typeof initialized>>, id: string) => host.replyError(id, undefined),
      "Error: Invalid control_response",
    ],
    [
      "an answer of no known kind",
      (host: Awaited<ReturnType<typeof initialized>>, id: string) =>
        host.send({ type: "control_response", response: { subtype: "yes", request_id: id } }),
      "Error: Invalid control_response",
    ],
    [
      "an answer without a verdict",
      (host: Awaited<ReturnType<typeof initialized>>, id: string) => host.reply(id, {}),
      "neither allow nor deny",
    ],
    [
      "a word that is neither",
      (host: Awaited<ReturnType<typeof initialized>>, id: string) => host.reply(id, { behavior: "ask" }),
      "no reason given",
    ],
  ])("%s denies", async (_name, answer, reason) => {
    const host = await initialized({ responses: [bash("true"), { say: "ok" }] });
    host.user();
    const { id } = await host.permission();
    answer(host, id);
    expect((await host.result()).permission_denials).toHaveLength(1);
    expect(host.toolResult("t1").content).toContain(reason);
  });

  it("S26: no answer denies after the time that initialize gives", async () => {
    const host = await initialized({ responses: [bash("true"), { say: "ok" }] }, { timeout: { canUseTool: 300 } });
    host.user();
    await host.permission();
    const result = await host.result();
    expect(host.toolResult("t1")).toMatchObject({ is_error: true, content: expect.stringContaining("timed out") });
    expect(result.permission_denials).toHaveLength(1);
  });

  it("S27: the end of input denies what waits, and the turn is finished", async () => {
    const host = await initialized({ responses: [bash("true"), { say: "finished" }] });
    host.user();
    await host.permission();
    expect(await host.finish()).toBe(0);
    expect(host.toolResult("t1").content).toContain("Input closed");
    expect(host.of("result")).toMatchObject([{ subtype: "success", result: "finished" }]);
  });

  it("S29: two calls of one message are asked for one after the other", async () => {
    const cwd = scratch();
    const host = await initialized({
      cwd,
      responses: [{ calls: [bash("touch one.txt", "a").call, bash("touch two.txt", "b").call] }, { say: "done" }],
    });
    host.user();
    const first = await host.permission("a");
    expect(host.of("assistant")[0]?.message.content.map((block) => block.type)).toEqual(["tool_use", "tool_use"]);
    expect(host.of("control_request")).toHaveLength(1);
    host.reply(first.id, { behavior: "allow" });
    const second = await host.permission("b");
    host.reply(second.id, { behavior: "deny", message: "no second" });
    const result = await host.result();
    expect([existsSync(join(cwd, "one.txt")), existsSync(join(cwd, "two.txt"))]).toEqual([true, false]);
    expect(result.permission_denials.map(({ tool_use_id }) => tool_use_id)).toEqual(["b"]);
  });

  it("S32: an interrupt while a permission is pending: the answer, the call's result, the error result", async () => {
    const host = await initialized({ responses: [bash("true"), { say: "next" }] });
    host.user();
    const { id } = await host.permission();
    const from = host.heard.length;
    await host.control("interrupt");
    await host.result();
    expect(host.story(from)).toEqual(["answer:success", "tool_result", "result:error_during_execution"]);
    expect(host.toolResult("t1").content).toContain("[Operation Cancelled]");
    host.reply(id, { behavior: "allow" });
    expect(await host.ask("again")).toMatchObject({ result: "next" });
  });

  it("S33: set_permission_mode yolo: nothing is asked, and the next init says so", async () => {
    const host = await initialized({ responses: [bash("echo ran"), { say: "done" }] });
    expect(await host.control("set_permission_mode", { mode: "yolo" })).toMatchObject({ response: { status: "updated", mode: "yolo" } });
    await host.ask();
    expect(host.of("control_request")).toEqual([]);
    expect(host.of("system")[0]).toMatchObject({ permission_mode: "yolo" });
  });

  const questions = [
    {
      question: "Which?",
      header: "Pick",
      options: [
        { label: "A", description: "a" },
        { label: "B", description: "b" },
      ],
    },
  ];

  it("S47: the answers to ask_user_question reach the model", async () => {
    const host = await initialized({
      responses: [
        { call: { tool: "ask_user_question", args: { questions }, id: "q1" } },
        { expect: { toolResult: '{"Which?":"B"}' }, say: "B it is" },
      ],
    });
    host.user();
    const { id, request } = await host.permission("q1");
    expect(request).toMatchObject({ tool_name: "ask_user_question", input: { questions } });
    host.reply(id, { behavior: "allow", updatedInput: { questions, answers: { "Which?": "B" } } });
    expect(await host.result()).toMatchObject({ result: "B it is" });
  });

  it("a question that the host does not want to answer fails, and the turn goes on", async () => {
    const host = await initialized({
      responses: [
        // Nothing to choose from is nothing to ask.
        { call: { tool: "ask_user_question", args: { questions: [{ question: "Which?", header: "Pick", options: [] }] }, id: "q0" } },
        {
          expect: { toolResult: "options must NOT have fewer than 2 items" },
          call: { tool: "ask_user_question", args: { questions }, id: "q1" },
        },
        { expect: { toolResult: "not now" }, say: "fine" },
      ],
    });
    host.user();
    host.reply((await host.permission("q1")).id, { behavior: "deny", message: "not now" });
    expect(await host.result()).toMatchObject({ result: "fine" });
  });

  it.each([true, false])("a question that the host refuses is listed as denied; with interrupt the turn stops: %s", async (interrupt) => {
    const call = { tool: "ask_user_question", args: { questions }, id: "q1" };
    const host = await initialized({ responses: [{ call }, { say: "next" }] });
    host.user();
    host.reply((await host.permission("q1")).id, { behavior: "deny", message: "not now", interrupt });
    expect(await host.result()).toMatchObject({ is_error: interrupt, permission_denials: [{ tool_use_id: "q1" }] });
    expect(host.toolResult("q1")).toEqual({ is_error: true, content: "[Operation Cancelled] Reason: not now" });
  });

  it("S48: in plan mode the plan is presented, and a yes ends the mode", async () => {
    const host = await initialized({
      args: ["--approval-mode", "plan"],
      responses: [{ call: { tool: "ExitPlan", args: { plan: "1. look" }, id: "p1" } }, { say: "now I work" }],
    });
    host.user();
    const { id, request } = await host.permission("p1");
    expect(request).toMatchObject({ tool_name: "exit_plan_mode", input: { plan: "1. look" } });
    host.reply(id, { behavior: "allow" });
    await host.result();
    expect(host.of("system")[0]).toMatchObject({ permission_mode: "plan", tools: expect.arrayContaining(["exit_plan_mode"]) });
    await host.ask("more");
    expect(host.of("system").at(-1)).toMatchObject({ permission_mode: "default" });
  });
});

describe("without a control channel", () => {
  it("S9: what needs approval is denied at once, and listed", async () => {
    const cwd = scratch();
    const host = launch({ cwd, responses: [bash("touch nope.txt"), { say: "could not" }] });
    const result = await host.ask();
    expect(result).toMatchObject({ subtype: "success", result: "could not" });
    expect(result.permission_denials).toMatchObject([{ tool_name: "run_shell_command", tool_use_id: "t1" }]);
    expect(host.toolResult("t1").content).toContain("initialize");
    expect(host.of("control_request")).toEqual([]);
    expect(existsSync(join(cwd, "nope.txt"))).toBe(false);
  });

  it("S8: an interrupt is honoured all the same", async () => {
    const host = launch({
      responses: [{ steps: [{ say: "tick" }, { wait: "forever" }] }, { say: "ok" }],
      args: ["--include-partial-messages"],
    });
    host.user();
    await host.next("stream_event", ({ event }) => event.type === "content_block_delta");
    expect(await host.control("interrupt")).toMatchObject({ subtype: "success", response: { subtype: "interrupt" } });
    expect(await host.result()).toMatchObject({ error: { message: "Operation cancelled." } });
    expect(await host.ask()).toMatchObject({ result: "ok" });
  });
});

describe("flags", () => {
  it("S54: a tool that is excluded is not there; a call of it is denied, and listed", async () => {
    const host = await initialized({ args: ["--exclude-tools", "run_shell_command"], responses: [bash("true"), { say: "ok" }] });
    const result = await host.ask();
    expect(host.of("system")[0]).toMatchObject({ tools: expect.not.arrayContaining(["run_shell_command"]) });
    expect(host.toolResult("t1")).toMatchObject({ is_error: true, content: expect.stringMatching(/Bash|run_shell_command/) });
    expect(result.permission_denials).toMatchObject([{ tool_name: "run_shell_command", tool_use_id: "t1" }]);
  });

  it("--allowed-tools lets calls run unasked, beside those that do anyway", async () => {
    const cwd = scratch({ "a.txt": "hello" });
    const host = await initialized({
      cwd,
      args: ["--allowed-tools", "run_shell_command(echo),write_file"],
      responses: [
        { calls: [bash("echo hi", "a").call, { tool: "Write", args: { file_path: "b.txt", content: "x" }, id: "b" }] },
        { calls: [{ tool: "Read", args: { file_path: "a.txt" }, id: "c" }, bash("date", "d").call] },
        { say: "done" },
      ],
    });
    host.user();
    const { id } = await host.permission();
    expect(host.of("control_request").map(({ request }) => request.subtype === "can_use_tool" && request.tool_use_id)).toEqual(["d"]);
    host.reply(id, { behavior: "allow" });
    await host.result();
    expect(host.toolResult("c")).toMatchObject({ is_error: false });
  });

  it("--core-tools are the only ones", async () => {
    const host = launch({ args: ["--core-tools", "read_file,edit"], responses: [{ say: "ok" }] });
    await host.ask();
    expect(host.of("system")[0]).toMatchObject({ tools: ["read_file", "edit"] });
  });

  it("names of tools that there are not are told, once", async () => {
    const args = ["--core-tools", "read_file,raed_file,mcp__files__*", "--exclude-tools", "shell_exec(rm *)"];
    const host = launch({ args, responses: [{ say: "ok" }], then: "repeat" });
    await host.ask();
    await host.ask();
    expect(host.of("system").filter(({ subtype }) => subtype === "notice")).toMatchObject([
      { data: { level: "warning", notice: "There is no tool 'raed_file' to choose: that name in the list has no effect" } },
      { data: { level: "warning", notice: "There is no tool 'shell_exec(rm *)' to leave out: that name in the list has no effect" } },
    ]);
  });
});
