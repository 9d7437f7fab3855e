/** The RFC from the outside: approvals over the control channel, cancel, heartbeats, deadlines and what goes wrong on the channel. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { scratch } from "../process/harness.js";
import { launch, received, requestId, story, type Format, type QwenHost, type QwenOptions } from "./host.js";

const FORMATS: Format[] = ["stream-json", "stream-chunk-json"];
const WRITE = { tool: "Write", args: { file_path: "a.txt", content: "Hello\n" } };
const ASKING = [{ call: WRITE }, { say: "done" }];

async function asked(options: QwenOptions = {}): Promise<{ host: QwenHost; cwd: string; request: Awaited<ReturnType<QwenHost["next"]>> }> {
  const cwd = options.cwd ?? scratch();
  const host = await received({ responses: ASKING, ...options, cwd });
  host.say("go", { prompt_id: "p-1" });
  return { host, cwd, request: await host.next("control_request:can_use_tool") };
}

/** What became of the one call that there is. */
function ends(host: QwenHost): string[] {
  return host.heard.flatMap(({ displays }) => displays.map(({ status }) => status));
}

describe("approval", () => {
  it.each(FORMATS)("R10, Q21, Q58: %s: the call, what waits, and a flat request", async (output) => {
    const { host, cwd, request } = await asked({ output });
    const words = story(host.heard.slice(1));
    expect(words).toBe(
      output === "stream-json"
        ? "tool_calls display:confirming control_request:can_use_tool"
        : "call tool_calls display:confirming control_request:can_use_tool",
    );
    const [display] = host.all("display:confirming")[0]?.displays ?? [];
    const call = display?.tool_call_id;
    expect(display).toMatchObject({
      session_id: host.session,
      pending: true,
      result_display: null,
      confirmation: { type: "edit", file_name: "a.txt", original: null, modified: "Hello\n", diff: expect.stringContaining("+Hello") },
    });
    expect(request.raw).toMatchObject({
      type: "control_request",
      subtype: "can_use_tool",
      session_id: host.session,
      prompt_id: "p-1",
      tool_call_id: call,
      tool: { name: "Write", arguments: WRITE.args },
      metadata: { reason: "apply_diff" },
    });
    expect(host.heard.flatMap(({ calls }) => calls).find(({ id }) => id !== undefined)?.id).toBe(call);
    expect(existsSync(join(cwd, "a.txt"))).toBe(false);
  });

  it.each(FORMATS)("%s: a mentioned file outside the workspace is asked about before the model is", async (output) => {
    const far = join(scratch(), "far.txt");
    writeFileSync(far, "far away");
    const host = await received({ output, responses: [{ expect: { lastUser: "far away" }, say: "seen" }] });
    host.say(`see @${far}`, { prompt_id: "p-1" });
    const request = await host.next("control_request:can_use_tool");
    expect(request.raw).toMatchObject({ tool: { name: "Read", arguments: { file_path: far } } });
    host.approve(request);
    await host.next("summary");
    expect(host.text()).toBe("seen");
  });

  it.each(FORMATS)("R11: %s: approved, it runs and the turn goes on", async (output) => {
    const { host, cwd, request } = await asked({ output });
    host.approve(request);
    await host.next("summary");
    expect(ends(host)).toEqual(["confirming", "executing", "success"]);
    expect(readFileSync(join(cwd, "a.txt"), "utf8")).toBe("Hello\n");
    expect(host.text()).toBe("done");
  });

  it("R12: denied, the display is canceled, the model is told why and goes on", async () => {
    const { host, cwd, request } = await asked({ responses: [{ call: WRITE }, { expect: { toolResult: "not today" }, say: "then not" }] });
    host.deny(request, "not today");
    await host.next("summary");
    expect(ends(host)).toEqual(["confirming", "canceled"]);
    expect(existsSync(join(cwd, "a.txt"))).toBe(false);
    expect(host.text()).toBe("then not");
  });

  it.each([
    ["allow", "success"],
    ["approved", "success"],
    ["APPROVE", "success"],
    ["reject", "canceled"],
    ["denied", "canceled"],
    ["perhaps", "canceled"],
    [undefined, "canceled"],
  ])("Q53: the behaviour %s means %s", async (behavior, status) => {
    const { host, request } = await asked();
    host.respond(requestId(request), { subtype: "success", result: { behavior } });
    await host.next("summary");
    expect(ends(host).at(-1)).toBe(status);
  });

  it.each(["updated_arguments", "updatedInput"])("Q54: %s change the call, and count as the user's lines", async (member) => {
    const { host, cwd, request } = await asked();
    host.approve(request, { [member]: { file_path: "a.txt", content: "Hello\nand more\n" } });
    await host.next("summary");
    expect(readFileSync(join(cwd, "a.txt"), "utf8")).toBe("Hello\nand more\n");
    const result = host.all("display:success")[0]?.displays[0]?.result_display;
    expect(result).toMatchObject({
      kind: "file_diff",
      stat: { ai_added_lines: 1, ai_removed_lines: 0, user_added_lines: 1, user_removed_lines: 0 },
    });
  });

  it("the end of the last line is no line of the user's", async () => {
    const responses = [{ call: { tool: "Write", args: { file_path: "a.txt", content: "Hello" } } }, { say: "done" }];
    const { host, request } = await asked({ responses });
    host.approve(request, { updated_arguments: { file_path: "a.txt", content: "Goodbye\n" } });
    await host.next("summary");
    expect(host.all("display:success")[0]?.displays[0]?.result_display).toMatchObject({
      stat: { ai_added_lines: 1, ai_removed_lines: 0, user_added_lines: 1, user_removed_lines: 1 },
    });
  });

  it("what is allow-listed or read-only does not ask", async () => {
    const read = { tool: "Glob", args: { pattern: "*" } };
    const host = await received({ args: ["--approve-tools", "Write,Glob"], responses: [{ calls: [WRITE, read] }, { say: "done" }] });
    await host.turn();
    expect(host.heard.filter(({ word }) => word.startsWith("control_request"))).toEqual([]);
    expect(ends(host).filter((status) => status === "success")).toHaveLength(2);
  });

  it("two calls of one response are asked about one by one", async () => {
    const other = { tool: "Write", args: { file_path: "b.txt", content: "b" } };
    const cwd = scratch();
    const host = await received({ cwd, responses: [{ calls: [WRITE, other] }, { say: "done" }] });
    host.say("go");
    const first = await host.nth("control_request:can_use_tool", 1);
    const second = await host.nth("control_request:can_use_tool", 2);
    host.approve(second);
    host.deny(first);
    await host.next("summary");
    expect([existsSync(join(cwd, "a.txt")), existsSync(join(cwd, "b.txt"))]).toEqual([false, true]);
  });
});

describe("what goes wrong on the channel", () => {
  it.each(FORMATS)("R13: %s: an error denies, and the next line says so", async (output) => {
    const { host, request } = await asked({ output });
    host.respond(requestId(request), { subtype: "error", error: { message: "the window is gone", retryable: false } });
    await host.next("summary");
    const canceled = host.all("display:canceled")[0];
    expect(canceled?.metadata.control_errors).toEqual([
      { request_id: requestId(request), subtype: "can_use_tool", message: "the window is gone", retryable: false },
    ]);
    expect(canceled?.displays[0]?.result_display).toMatchObject({ kind: "string", text: expect.stringContaining("the window is gone") });
    expect(host.heard.filter(({ metadata }) => metadata.control_errors !== undefined)).toHaveLength(1);
  });

  it("R14, Q55: nobody answers within the deadline", async () => {
    const { host, request } = await asked({ config: { limits: { approvalSeconds: 1 } } });
    await host.next("summary");
    expect(host.all("display:canceled")[0]?.metadata.control_errors).toEqual([
      { request_id: requestId(request), subtype: "can_use_tool", message: "approval timed out after 1 s", retryable: false },
    ]);
    // Too late is a mistake of the host, and told like one.
    host.approve(request);
    await host.turn();
    expect(host.heard.at(-1)?.metadata.control_errors ?? host.all("text").at(-1)?.metadata.control_errors).toMatchObject([
      { request_id: requestId(request), message: expect.stringContaining("No control request") },
    ]);
  });

  it("R15, Q57: a response to nothing changes nothing, and is told on the next line", async () => {
    const { host, cwd, request } = await asked();
    host.respond("req-999", { subtype: "success", result: { behavior: "approve" } });
    await host.settled();
    expect(existsSync(join(cwd, "a.txt"))).toBe(false);
    host.approve(request);
    await host.next("summary");
    expect(host.all("display:executing")[0]?.metadata.control_errors).toMatchObject([{ request_id: "req-999", retryable: false }]);
  });

  it("Q56: a failure that may be tried again is asked once more, under another id", async () => {
    const { host, request } = await asked();
    host.respond(requestId(request), { subtype: "error", error: { message: "busy", retryable: true } });
    const again = await host.nth("control_request:can_use_tool", 2);
    expect(requestId(again)).not.toBe(requestId(request));
    expect({ ...again.raw, request_id: "" }).toEqual({ ...request.raw, request_id: "" });
    host.respond(requestId(again), { subtype: "error", error: { message: "still busy", retryable: true } });
    await host.next("summary");
    expect(host.all("control_request:can_use_tool")).toHaveLength(2);
    expect(host.all("display:canceled")[0]?.metadata.control_errors).toMatchObject([
      { request_id: requestId(again), message: "still busy" },
    ]);
  });

  it("Q60: a control request of the host is answered as unsupported", async () => {
    const host = await received();
    host.send({ type: "control_request", request_id: "h-1", subtype: "initialize" });
    const answer = await host.next("control_response");
    expect(answer.raw).toMatchObject({
      request_id: "h-1",
      response: { request_id: "h-1", subtype: "error", error: { message: expect.stringContaining("unsupported"), retryable: false } },
    });
  });

  it("R38, Q62: the end of input denies what waits; exit 0", async () => {
    const { host } = await asked();
    expect(await host.finish()).toBe(0);
    expect(ends(host)).toEqual(["confirming", "canceled"]);
    expect(host.all("summary")).toHaveLength(1);
    expect(host.all("display:canceled")[0]?.metadata.control_errors?.[0]?.message).toContain("closed its input");
  });
});

describe("control/cancel", () => {
  it.each(FORMATS)("R16, Q5, Q49, Q51, Q52: %s: what waits is void, and a late answer is ignored", async (output) => {
    const { host, cwd, request } = await asked({ output });
    host.cancel({ prompt_id: "p-1" });
    const summary = await host.next("summary");
    expect(story(host.heard.slice(host.heard.indexOf(request) + 1))).toBe("result/cancel display:canceled event:USER_CANCELLED summary");
    expect(host.all("result/cancel")[0]?.raw).toMatchObject({ session_id: host.session, prompt_id: "p-1", status: "ok", reason: "escape" });
    expect(summary.metadata).toMatchObject({ cancelled: true, summary: { prompt_id: "p-1", is_error: true } });
    host.approve(request);
    const next = await host.turn();
    expect(next.filter(({ metadata }) => metadata.control_errors !== undefined)).toEqual([]);
    expect(existsSync(join(cwd, "a.txt"))).toBe(false);
    expect(host.all("control_response")).toEqual([]);
  });

  it("R17: idle it is a no-op that says so", async () => {
    const host = await received();
    host.cancel();
    expect((await host.next("result/cancel")).raw).toMatchObject({ status: "noop", message: expect.stringMatching(/\w+/) });
  });

  it("R18, Q50: a prompt that does not run is not cancelled", async () => {
    const { host, request } = await asked();
    host.cancel({ prompt_id: "p-7" });
    expect((await host.next("result/cancel")).raw).toMatchObject({ status: "noop", prompt_id: "p-7" });
    host.approve(request);
    await host.next("summary");
    expect(host.text()).toBe("done");
  });

  it("R19: a new request after a cancel is a normal turn", async () => {
    const responses = [{ steps: [{ say: "I will" }, { wait: "forever" }] }, { say: "fresh" }];
    const host = await received({ output: "stream-chunk-json", responses });
    host.say("go");
    await host.next("delta");
    host.cancel();
    host.say("again");
    await host.nth("summary", 2);
    expect(story(host.heard)).toBe("receipt delta result/cancel event:USER_CANCELLED summary role delta event:Finished summary");
    expect(host.text()).toContain("fresh");
  });

  it("a prompt that waits in the queue is cancelled by its name, and those beside it are not", async () => {
    const host = await received({ responses: [{ call: WRITE }, { say: "one" }, { say: "three" }] });
    host.say("a", { prompt_id: "p-1" });
    const request = await host.next("control_request:can_use_tool");
    host.say("b", { prompt_id: "p-2" });
    host.say("c", { prompt_id: "p-3" });
    host.cancel({ prompt_id: "p-2" });
    expect((await host.next("result/cancel")).raw).toMatchObject({ status: "ok", prompt_id: "p-2" });
    host.approve(request);
    await host.nth("summary", 3);
    expect(host.all("summary").map(({ metadata }) => [metadata.prompt_id, metadata.summary?.is_error])).toEqual([
      ["p-1", false],
      ["p-2", true],
      ["p-3", false],
    ]);
    expect(host.text()).toBe("onethree");
  });

  it("Q49: named by a request id, it is acknowledged on the control channel as well", async () => {
    const host = await received();
    host.cancel({ request_id: "c-1" });
    expect((await host.next("control_response")).raw).toEqual({
      type: "control_response",
      request_id: "c-1",
      response: { request_id: "c-1", subtype: "success", result: {} },
    });
    expect(story(host.heard.slice(1))).toBe("result/cancel control_response");
  });

  it("of a session that nobody knows it is a no-op", async () => {
    const host = await received();
    host.cancel({ session_id: "elsewhere" });
    expect((await host.next("result/cancel")).raw).toMatchObject({ status: "noop", message: expect.stringContaining("elsewhere") });
  });

  it("ends a command that runs", async () => {
    const cwd = scratch();
    const host = await received({
      cwd,
      args: ["--yolo"],
      responses: [{ call: { tool: "Bash", args: { command: "echo on; touch on; sleep 100" } } }],
    });
    host.say("go");
    await host.next("display:executing", ({ displays }) => displays[0]?.result_display != null);
    host.cancel();
    await host.next("summary");
    expect(ends(host).at(-1)).toBe("canceled");
  });
});

describe("heartbeats", () => {
  it("R20: are answered at once in a turn, between its chunks", async () => {
    const host = await received({
      output: "stream-chunk-json",
      responses: [{ steps: [{ say: "one" }, { wait: "forever" }] }],
    });
    host.say("go");
    await host.next("delta");
    host.send({ type: "heartbeat_request", session_id: host.session });
    const beat = await host.next("result/heartbeat");
    expect(beat.raw).toMatchObject({ session_id: host.session, status: "ok" });
    const ts = Number(beat.raw["ts"]);
    expect(Math.abs(ts - Date.now() / 1000)).toBeLessThan(600);
    expect(host.all("summary")).toEqual([]);
    host.cancel();
    await host.next("summary");
  });

  it("R21, Q47: also while an approval waits, and for a session that nobody knows", async () => {
    const { host } = await asked();
    host.send({ type: "heartbeat_request", session_id: "elsewhere", prompt_id: "p-9" });
    expect((await host.next("result/heartbeat")).raw).toMatchObject({ session_id: host.session, prompt_id: "p-9", status: "ok" });
    expect(host.all("summary")).toEqual([]);
  });

  it("Q48: are pushed when asked for, and else are not", async () => {
    const host = launch({ args: ["--heartbeat", "0.05"] });
    await host.nth("result/heartbeat", 3);
    expect(host.heard[0]?.word).toBe("receipt");
    expect(await host.finish()).toBe(0);
    const quiet = await received({ responses: [{ steps: [{ wait: 150 }, { say: "ok" }] }] });
    expect(story(await quiet.turn())).toBe("text event:Finished summary");
  });
});

describe("plan mode", () => {
  it("the plan is what is asked about, and its summary what is shown", async () => {
    const plan = { tool: "ExitPlan", args: { plan: "# Plan\n1. do it" } };
    const host = await received({ args: ["--approval-mode", "plan"], responses: [{ call: plan }, { say: "off we go" }] });
    host.say("go");
    const request = await host.next("control_request:can_use_tool");
    expect(host.all("display:confirming")[0]?.displays[0]?.confirmation).toMatchObject({ type: "plan", plan: "# Plan\n1. do it" });
    expect(request.raw["metadata"]).toMatchObject({ reason: "exit_plan" });
    host.approve(request);
    await host.next("summary");
    expect(host.all("display:success")[0]?.displays[0]?.result_display).toMatchObject({
      kind: "plan_summary",
      plan_markdown: "# Plan\n1. do it",
      message: expect.stringContaining("approved"),
    });
  });
});
