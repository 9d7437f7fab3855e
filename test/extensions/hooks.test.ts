/** Hooks over the native dialect: the built command, and hooks that are real programs, good ones and bad ones. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { plainText } from "../../src/core/content.js";
import { processesWith, scratch, start, until, type NativeHost, type StartOptions } from "../process/harness.js";

/** A program that gets its input as `input`, and has `say` for its answer. */
function program(body: string): string[] {
  const file = join(scratch(), "hook.mjs");
  writeFileSync(
    file,
    `import { appendFileSync, readFileSync } from "node:fs";
     const input = JSON.parse(readFileSync(0, "utf8"));
     const say = (answer) => console.log(JSON.stringify(answer));
     ${body}`,
  );
  return [process.execPath, file];
}

type Lists = Record<string, { match?: string; command: string[]; timeoutMs?: number }[]>;

function withHooks(hooks: Lists, responses: unknown[], options: StartOptions = {}): NativeHost {
  const env = { ...options.env, PARLEY_HOME: scratch({ "config.yaml": stringify({ hooks }) }) };
  return start({ ...options, env, responses });
}

const echo = (command: string, id?: string) => ({ tool: "Bash", args: { command }, ...(id !== undefined && { id }) });
const outputOf = (host: NativeHost, nth = 0): string => plainText(host.ofType("tool.ended")[nth]?.output ?? []);

test("what a hook says is masked before it is cut, wherever a secret stands in it", async () => {
  const secret = "secret-0123456789";
  const command = program(`if (input.event === "stop") console.log('{ ' + "x".repeat(${100 - 10}) + process.argv[2] + "y".repeat(500));
    else { console.error("x".repeat(1990) + process.argv[2]); process.exit(1); }`);
  const told = { command: [...command, secret] };
  const host = withHooks({ pre_tool_use: [told], stop: [told] }, [{ call: echo("true") }, { say: "done" }], {
    env: { LAB_API_KEY: secret },
  });
  await host.open({ mode: "yolo" });
  host.prompt("go");
  await host.turnEnded();
  expect(host.lines.join("\n")).toContain("not JSON");
  expect(outputOf(host)).toContain("exit code 1");
  expect(host.lines.join("\n")).not.toMatch(/xsecre/);
  expect(await host.finish()).toBe(0);
});

describe("pre_tool_use", () => {
  test("is told of the call, in the workspace, without secrets", async () => {
    const cwd = scratch();
    const command = program(
      `const { PARLEY_HOOK_EVENT, PARLEY_SESSION_ID, PARLEY_TOOL, LAB_API_KEY } = process.env;
       appendFileSync("told.json", JSON.stringify({ input, here: process.cwd(), env: { PARLEY_HOOK_EVENT, PARLEY_SESSION_ID, PARLEY_TOOL, LAB_API_KEY } }));`,
    );
    const host = withHooks({ pre_tool_use: [{ command }] }, [{ call: echo("true", "c1") }, { say: "done" }], {
      cwd,
      env: { LAB_API_KEY: "secret-0123456789" },
    });
    await host.open({ mode: "yolo" });
    host.prompt("go", { turn: "t1" });
    expect(await host.turnEnded()).toMatchObject({ outcome: "completed" });
    expect(JSON.parse(readFileSync(join(cwd, "told.json"), "utf8"))).toEqual({
      input: {
        event: "pre_tool_use",
        session: "s",
        sessionId: "s",
        cwd,
        turn: "t1",
        call: { id: "c1", name: "Bash", args: { command: "true" }, category: "exec" },
      },
      here: cwd,
      env: { PARLEY_HOOK_EVENT: "pre_tool_use", PARLEY_SESSION_ID: "s", PARLEY_TOOL: "Bash" },
    });
    expect(await host.finish()).toBe(0);
  });

  test.each([
    ["a decision", `say({ decision: "block", reason: "not on a Friday" })`],
    ["exit code 2", `console.error("not on a Friday"); process.exit(2)`],
  ])("blocks by %s, and the model hears why", async (_, body) => {
    const cwd = scratch();
    const host = withHooks(
      { pre_tool_use: [{ match: "Bash", command: program(body) }] },
      [{ call: echo("touch ran") }, { expect: { toolResult: "not on a Friday" }, say: "I see." }],
      { cwd },
    );
    await host.open({ mode: "yolo" });
    host.prompt("go");
    expect(await host.turnEnded()).toMatchObject({ outcome: "completed" });
    expect(host.ofType("tool.ended")).toMatchObject([{ status: "denied", reason: "not on a Friday" }]);
    expect(host.ofType("tool.started")).toEqual([]);
    expect(host.text()).toBe("I see.");
    expect(existsSync(join(cwd, "ran"))).toBe(false);
    expect(await host.finish()).toBe(0);
  });

  test("match: names, patterns, lists; the others run", async () => {
    const command = program(`say({ decision: "block", reason: "matched" })`);
    const host = withHooks({ pre_tool_use: [{ match: "mcp__x__*|Bash(git push *)|Write", command }] }, [
      {
        calls: [
          echo("true && git push --force", "push"),
          echo("git status || true", "status"),
          { tool: "Write", args: { file_path: "a", content: "" }, id: "write" },
          { tool: "Glob", args: { pattern: "*" }, id: "glob" },
        ],
      },
      { say: "ok" },
    ]);
    await host.open({ mode: "yolo" });
    host.prompt("go");
    await host.turnEnded();
    const statuses = Object.fromEntries(host.ofType("tool.ended").map(({ call, status }) => [call, status]));
    expect(statuses).toEqual({ push: "denied", status: "ok", write: "denied", glob: "ok" });
    expect(await host.finish()).toBe(0);
  });

  test("changes arguments, each hook sees what the one before made of them, and they are judged like the model's own", async () => {
    const add = (word: string) => ({ command: program(`say({ args: { command: input.call.args.command + " ${word}" } })`) });
    const host = withHooks({ pre_tool_use: [add("two"), add("three")] }, [
      { call: echo("echo one") },
      { expect: { toolResult: "/one two three[^]*A hook changed the arguments/" }, say: "ok" },
    ]);
    await host.open();
    host.prompt("go");
    const { calls } = await host.next("approval.requested");
    expect(calls).toMatchObject([{ args: { command: "echo one two three" }, title: "Execute: echo one two three" }]);
    expect(host.ofType("tool.requested")).toMatchObject([{ call: { args: { command: "echo one two three" } } }]);
    host.allow(calls[0]?.id ?? "");
    expect(await host.turnEnded()).toMatchObject({ outcome: "completed" });
    expect(host.text()).toBe("ok");
    expect(await host.finish()).toBe(0);
  });

  test("what a rule forbids stays forbidden, what the schema refuses is refused, and nothing is allowed by a hook", async () => {
    const command = program(
      `const { command } = input.call.args;
       if (command === "evil") say({ args: { command: "rm -rf x" } });
       else if (command === "odd") say({ args: { command: 7 } });
       else say({ decision: "allow", args: { command } });`,
    );
    const host = withHooks({ pre_tool_use: [{ command }] }, [
      { calls: [echo("evil", "evil"), echo("odd", "odd"), echo("true", "asked")] },
      { say: "ok" },
    ]);
    await host.open({ rules: [{ deny: "Bash(rm *)" }] });
    host.prompt("go");
    const { calls } = await host.next("approval.requested");
    expect(calls.map(({ id }) => id)).toEqual(["asked"]);
    host.deny("asked", "no");
    await host.turnEnded();
    const reasons = Object.fromEntries(host.ofType("tool.ended").map(({ call, status, reason }) => [call, `${status}: ${reason ?? ""}`]));
    expect(reasons).toEqual({
      evil: "denied: denied by the rule Bash(rm *)",
      odd: expect.stringMatching(/^denied: .*changed the arguments to invalid ones: command/),
      asked: "denied: no",
    });
    expect(await host.finish()).toBe(0);
  });

  test("arguments that the host changes are shown to the guards too", async () => {
    const command = program(`if (input.call.args.command.includes("secret")) say({ decision: "block", reason: "no secrets" })`);
    const host = withHooks({ pre_tool_use: [{ command }] }, [{ call: echo("true", "c") }, { say: "ok" }]);
    await host.open();
    host.prompt("go");
    await host.next("approval.requested");
    host.allow("c", { args: { command: "cat secret" } });
    await host.turnEnded();
    expect(host.ofType("tool.ended")).toMatchObject([{ status: "denied", reason: "no secrets" }]);
    expect(await host.finish()).toBe(0);
  });

  test.each<[string, { command: string[]; timeoutMs?: number; match?: string }, RegExp]>([
    ["hangs", { command: ["sleep", "300"], timeoutMs: 200 }, /hook 'sleep' did not end within 200 ms/],
    ["cannot start", { command: ["no-such-program"] }, /'no-such-program' was not found/],
    ["crashes", { command: ["sh", "-c", "echo oops >&2; exit 3"] }, /ended with exit code 3: oops/],
    ["is killed", { command: ["sh", "-c", "kill -9 $$"] }, /was killed by SIGKILL/],
    ["prints garbage", { command: ["echo", "{ not json"] }, /answer that is not JSON: \{ not json/],
    ["answers nonsense", { command: ["echo", '{"decision":"deny"}'] }, /decision must be 'block' or absent/],
    ["floods", { command: ["sh", "-c", "echo '{'; head -c 3000000 /dev/zero | tr '\\0' x"] }, /answer longer than 1048576 characters/],
    ["has a match that nobody understands", { command: ["true"], match: "Bash(:*)" }, /cannot be used: The rule/],
  ])("a guard that %s blocks", async (_, hook, reason) => {
    const host = withHooks({ pre_tool_use: [hook] }, [{ call: echo("true") }, { say: "ok" }]);
    await host.open({ mode: "yolo" });
    host.prompt("go");
    expect(await host.turnEnded()).toMatchObject({ outcome: "completed" });
    expect(host.ofType("tool.ended")).toMatchObject([{ status: "denied", reason: expect.stringMatching(reason) }]);
    expect(await host.finish()).toBe(0);
  });

  test("a flood that is no answer is just thrown away", async () => {
    const host = withHooks({ pre_tool_use: [{ command: ["sh", "-c", "head -c 20000000 /dev/zero"] }] }, [{ call: echo("true") }, "ok"]);
    await host.open({ mode: "yolo" });
    host.prompt("go");
    await host.turnEnded();
    expect(host.ofType("tool.ended")).toMatchObject([{ status: "ok" }]);
    expect(await host.finish()).toBe(0);
  });

  test("an interrupt ends a running hook at once, and all that it started", async () => {
    const mark = `parley-hook-${process.pid}-${Math.random().toString(36).slice(2)}`;
    const host = withHooks({ pre_tool_use: [{ command: ["sh", "-c", "sleep 300 & sleep 300"] }] }, [{ call: echo("true") }], {
      env: { PARLEY_TEST_MARK: mark },
    });
    await host.open({ mode: "yolo" });
    host.prompt("go");
    await until(() => processesWith(mark).length >= 4);
    host.send({ type: "turn.interrupt", session: "s" });
    expect(await host.turnEnded()).toMatchObject({ outcome: "interrupted" });
    expect(host.ofType("tool.ended")).toMatchObject([{ status: "cancelled" }]);
    expect(host.ofType("approval.requested")).toEqual([]);
    await until(() => processesWith(mark).every((pid) => pid === host.child.pid || !isSleep(pid)));
    expect(await host.finish()).toBe(0);
  });

  test("the calls of sub-agents pass the hooks", async () => {
    const command = program(`if (input.call.name === "Bash") say({ decision: "block", reason: "not for children" })`);
    const host = withHooks({ pre_tool_use: [{ command }] }, [
      { call: { tool: "Spawn", args: { tasks: [{ name: "child", prompt: "work" }] }, id: "spawn" } },
      { call: echo("touch x") },
      { expect: { toolResult: "not for children" }, say: "child done" },
      { say: "parent done" },
    ]);
    await host.open({ mode: "yolo" });
    host.prompt("go");
    await host.turnEnded();
    expect(host.text()).toBe("parent done");
    expect(host.ofType("tool.ended").find(({ under }) => under === "spawn")).toMatchObject({ status: "denied" });
    expect(await host.finish()).toBe(0);
  });
});

describe("post_tool_use", () => {
  test("adds words for the model, by context or by a reason; a failure is told once and nothing stops", async () => {
    const host = withHooks(
      {
        post_tool_use: [
          { match: "Bash", command: program(`say({ context: "lint: " + input.status + " " + input.output.includes("hello") })`) },
          { match: "Bash", command: program(`say({ decision: "block", reason: "please run the tests" })`) },
          { command: ["sh", "-c", "exit 9"] },
        ],
      },
      [{ calls: [echo("echo hello"), echo("true")] }, { expect: { toolResult: "/lint: ok true[^]*please run the tests/" }, say: "ok" }],
    );
    await host.open({ mode: "yolo" });
    host.prompt("go");
    expect(await host.turnEnded()).toMatchObject({ outcome: "completed" });
    expect(outputOf(host)).toContain("please run the tests");
    expect(host.ofType("notice").filter(({ kind }) => kind === "hook")).toMatchObject([
      { level: "warning", text: "The post_tool_use hook 'sh' ended with exit code 9", turn: expect.any(String) },
    ]);
    expect(await host.finish()).toBe(0);
  });

  test("a denied call did not run, so there is nothing to tell of", async () => {
    const host = withHooks({ post_tool_use: [{ command: program(`say({ context: "never" })`) }] }, [{ call: echo("true", "c") }, "ok"]);
    await host.open();
    host.prompt("go");
    await host.next("approval.requested");
    host.deny("c");
    await host.turnEnded();
    expect(outputOf(host)).not.toContain("never");
    expect(await host.finish()).toBe(0);
  });
});

describe("prompt", () => {
  test("blocks: the turn fails with the reason, and the model never hears of it", async () => {
    const command = program(`if (input.prompt.includes("bad")) say({ decision: "block", reason: "such words are not said" })`);
    const host = withHooks({ prompt: [{ command }] }, [{ expect: { messages: 1, lastUser: "good" }, say: "fine" }]);
    await host.open();
    host.prompt("a bad word");
    expect(await host.turnEnded()).toMatchObject({
      outcome: "failed",
      reason: "such words are not said",
      fault: { code: "hook", retryable: false },
    });
    host.prompt("a good word");
    expect(await host.turnEnded(2)).toMatchObject({ outcome: "completed" });
    expect(await host.finish()).toBe(0);
  });

  test("adds context, redacted", async () => {
    const command = program(`say({ context: "The branch is main. Key: secret-0123456789" })`);
    const host = withHooks(
      { prompt: [{ command }] },
      [{ expect: { lastUser: "/hello[^]*branch is main. Key: \\[redacted\\]/" }, say: "fine" }],
      {
        env: { LAB_API_KEY: "secret-0123456789" },
      },
    );
    await host.open();
    host.prompt("hello");
    expect(await host.turnEnded()).toMatchObject({ outcome: "completed" });
    expect(host.text()).toBe("fine");
    expect(await host.finish()).toBe(0);
  });

  test("a failing guard blocks", async () => {
    const host = withHooks({ prompt: [{ command: ["no-such-program"] }] }, ["never"]);
    await host.open();
    host.prompt("hello");
    expect(await host.turnEnded()).toMatchObject({ outcome: "failed", fault: { code: "hook" } });
    expect(host.text()).toBe("");
    expect(await host.finish()).toBe(0);
  });
});

describe("stop", () => {
  test("the reason goes to the model, and the turn goes on", async () => {
    const command = program(`if (!input.output.includes("tested")) say({ decision: "block", reason: "Run the tests first." })`);
    const host = withHooks({ stop: [{ command }] }, [{ say: "done" }, { expect: { lastUser: "Run the tests first." }, say: "tested" }]);
    await host.open();
    host.prompt("go");
    expect(await host.turnEnded()).toMatchObject({ outcome: "completed" });
    expect(host.text()).toBe("done\ntested");
    expect(host.ofType("turn.started")).toHaveLength(1);
    expect(await host.finish()).toBe(0);
  });

  test("one that never lets go is heard three times; one that fails is a warning", async () => {
    const host = withHooks({ stop: [{ command: ["sh", "-c", "exit 1"] }, { command: ["sh", "-c", "echo more >&2; exit 2"] }] }, ["one"], {
      args: ["--max-turns", "20"],
    });
    await host.open();
    host.prompt("go");
    expect(await host.turnEnded()).toMatchObject({ outcome: "completed" });
    expect(host.ofType("text.done")).toHaveLength(4);
    expect(host.ofType("notice").filter(({ level }) => level === "warning")).toMatchObject([{ kind: "hook" }]);
    expect(await host.finish()).toBe(0);
  });
});

test("session_start adds to the instructions of every turn, and session_end is told at the end", async () => {
  const cwd = scratch();
  const host = withHooks(
    {
      session_start: [{ command: program(`say({ context: "House rule: be brief." })`) }],
      session_end: [{ command: program(`appendFileSync("ended.txt", input.event + " " + input.sessionId)`) }],
    },
    [
      { expect: { system: "House rule: be brief." }, say: "a" },
      { expect: { system: "House rule: be brief." }, say: "b" },
    ],
    { cwd },
  );
  await host.open();
  host.prompt("one");
  host.prompt("two");
  expect(await host.turnEnded(2)).toMatchObject({ outcome: "completed" });
  expect(await host.finish()).toBe(0);
  expect(readFileSync(join(cwd, "ended.txt"), "utf8")).toBe("session_end s");
});

test("a session start that hangs does not outlast an interrupt, nor the session", async () => {
  const host = withHooks({ session_start: [{ command: ["sleep", "300"], timeoutMs: 200_000 }] }, ["never"]);
  await host.open();
  host.prompt("one");
  await host.next("turn.started");
  host.send({ type: "turn.interrupt", session: "s" });
  expect(await host.turnEnded()).toMatchObject({ outcome: "interrupted" });
  expect(await host.finish()).toBe(0);
});

describe("hooks of the host", () => {
  const HOOKS = { pre_tool_use: "cb-1", prompt: "cb-2" };

  test("are asked by host.request and answer like a command", async () => {
    const host = withHooks({}, [{ call: echo("echo one", "c") }, { expect: { toolResult: "two" }, say: "ok" }]);
    await host.open({ mode: "yolo", hostHooks: HOOKS });
    host.prompt("hello");
    const asked = await host.next("host.request", ({ data }) => JSON.stringify(data).includes("cb-2"));
    expect(asked).toMatchObject({ kind: "hook", data: { callback: "cb-2", input: { event: "prompt", prompt: "hello" } } });
    answer(host, asked.request, { context: "mind the gap" });
    const called = await host.next("host.request", ({ data }) => JSON.stringify(data).includes("cb-1"));
    expect(called).toMatchObject({ data: { callback: "cb-1", input: { call: { id: "c", args: { command: "echo one" } } } } });
    answer(host, called.request, { args: { command: "echo two" } });
    expect(await host.turnEnded()).toMatchObject({ outcome: "completed" });
    expect(host.ofType("tool.requested")).toMatchObject([{ call: { args: { command: "echo two" } } }]);
    expect(host.ofType("host.settled")).toHaveLength(2);
    expect(await host.finish()).toBe(0);
  });

  test.each<[string, (host: NativeHost, request: string) => void]>([
    ["says no", (host, request) => answer(host, request, { decision: "block", reason: "no" })],
    ["fails", (host, request) => host.send({ type: "host.answer", session: "s", request, ok: false, data: { message: "broken" } })],
    ["answers nonsense", (host, request) => answer(host, request, { decision: 7 })],
    ["does not answer in time", () => {}],
  ])("a guard that %s blocks", async (_, answers) => {
    const host = withHooks({}, [{ call: echo("true") }, "ok"]);
    await host.open({ mode: "yolo", hostHooks: { pre_tool_use: "guard" }, answerSeconds: 0.5 });
    host.prompt("go");
    answers(host, (await host.next("host.request")).request);
    await host.turnEnded();
    expect(host.ofType("tool.ended")).toMatchObject([{ status: "denied" }]);
    expect(await host.finish()).toBe(0);
  });

  test("a guard that comes in the middle of a turn is asked about what is called next", async () => {
    const host = withHooks({}, [{ call: echo("true", "first") }, { call: echo("true", "second") }, "ok"]);
    await host.open({ mode: "default" });
    host.prompt("go");
    await host.next("approval.requested");
    host.send({ type: "session.configure", session: "s", patch: { mode: "yolo", hostHooks: { pre_tool_use: "guard" } } });
    await host.next("session.updated");
    host.send({ type: "approval.answer", session: "s", answers: [{ call: "first", decision: "allow" }] });
    const asked = await host.next("host.request");
    expect(asked).toMatchObject({ data: { callback: "guard", input: { call: { id: "second" } } } });
    answer(host, asked.request, { decision: "block", reason: "no" });
    await host.turnEnded();
    expect(host.ofType("tool.ended")).toMatchObject([{ status: "ok" }, { status: "denied" }]);
    expect(await host.finish()).toBe(0);
  });

  test("an event that nobody knows is told", async () => {
    const host = withHooks({}, ["ok"]);
    await host.open({ hostHooks: { on_lunch: "cb" } });
    expect(await host.next("notice")).toMatchObject({ level: "warning", kind: "hook", text: expect.stringContaining("'on_lunch'") });
    expect(await host.finish()).toBe(0);
  });
});

test("hooks of a workspace count only when it is trusted", async () => {
  const cwd = scratch();
  mkdirSync(join(cwd, ".parley"));
  const hooks = { prompt: [{ command: ["sh", "-c", "echo theirs >&2; exit 2"] }] };
  writeFileSync(join(cwd, ".parley", "config.yaml"), stringify({ hooks }));
  const untrusted = start({ cwd, responses: ["fine"] });
  await untrusted.open();
  untrusted.prompt("go");
  expect(await untrusted.turnEnded()).toMatchObject({ outcome: "completed" });
  expect(await untrusted.finish()).toBe(0);
  expect(untrusted.stderr).toContain("is ignored, since the workspace is not trusted");
  const trusted = start({ cwd, responses: ["fine"], args: ["--trust-workspace"] });
  await trusted.open();
  trusted.prompt("go");
  expect(await trusted.turnEnded()).toMatchObject({ outcome: "failed", reason: "theirs" });
  expect(await trusted.finish()).toBe(0);
});

test("a relative command of the user's own config is a file of the workspace, and runs only when that is trusted", async () => {
  const cwd = scratch();
  writeFileSync(join(cwd, "guard.sh"), "#!/bin/sh\ntouch ran\n", { mode: 0o755 });
  const hooks = { pre_tool_use: [{ command: ["./guard.sh"] }] };
  for (const args of [[], ["--trust-workspace"]]) {
    const host = withHooks(hooks, [{ call: echo("true") }, { say: "done" }], { cwd, args });
    await host.open({ mode: "yolo" });
    host.prompt("go");
    await host.turnEnded();
    const isTrusted = args.length > 0;
    expect(host.ofType("tool.ended")[0]?.status).toBe(isTrusted ? "ok" : "denied");
    if (!isTrusted) expect(outputOf(host)).toContain("'guard.sh' is a file of the workspace, which is not trusted");
    expect(existsSync(join(cwd, "ran"))).toBe(isTrusted);
    expect(await host.finish()).toBe(0);
  }
});

function answer(host: NativeHost, request: string, data: unknown): void {
  host.send({ type: "host.answer", session: "s", request, ok: true, data });
}

function isSleep(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").startsWith("sleep");
  } catch {
    return false;
  }
}
