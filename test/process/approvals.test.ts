/** Approvals over the native dialect: who is asked, what an answer does, and what nobody's answer does. */
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { plainText } from "../../src/core/content.js";
import { scratch, script, start } from "./harness.js";

const write = (file: string, id: string) => ({ tool: "Write", args: { file_path: file, content: "x" }, id });
const bash = (command: string, id: string) => ({ tool: "Bash", args: { command }, id });

describe("an approval", () => {
  it("is asked for with the whole call, and nothing runs until it is answered", async () => {
    const cwd = scratch();
    const host = start({ cwd, responses: [{ call: write("a.txt", "c1") }, { say: "done" }] });
    await host.open();
    host.prompt("go");
    const asked = await host.next("approval.requested");
    expect(asked.calls).toMatchObject([{ id: "c1", name: "Write", category: "edit", title: "Write to a.txt", args: { content: "x" } }]);
    expect(asked.deadline).toBeGreaterThan(Date.now());
    host.send({ type: "ping", id: "p" });
    await host.next("reply", (event) => event.parent === "p");
    expect(host.ofType("tool.started")).toHaveLength(0);
    expect(existsSync(join(cwd, "a.txt"))).toBe(false);
    host.allow("c1");
    await host.turnEnded();
    expect(readFileSync(join(cwd, "a.txt"), "utf8")).toBe("x");
  });

  it("denied, is told to the model with the reason, and the turn goes on", async () => {
    const host = start({ responses: [{ call: write("a.txt", "c1") }, { expect: { toolResult: "not this file" }, say: "I see." }] });
    await host.open();
    host.prompt("go");
    await host.next("approval.requested");
    host.deny("c1", "not this file");
    expect((await host.turnEnded()).outcome).toBe("completed");
    expect(host.ofType("tool.ended")).toMatchObject([{ status: "denied", reason: "not this file" }]);
    expect(host.ofType("tool.started")).toHaveLength(0);
  });

  it("counts once: a second answer is a noop, an answer to nothing an error", async () => {
    const host = start({ responses: [{ call: write("a.txt", "c1") }, { say: "done" }] });
    await host.open();
    host.prompt("go");
    await host.next("approval.requested");
    host.deny("c1", "no");
    host.allow("c1");
    host.send({ type: "approval.answer", session: "s", id: "odd", answers: [{ call: "never", decision: "allow" }] });
    expect(await host.next("reply", (event) => event.status === "noop")).toMatchObject({ to: "approval.answer" });
    expect(await host.next("reply", (event) => event.parent === "odd")).toMatchObject({ status: "error", fault: { code: "protocol" } });
    await host.turnEnded();
    expect(host.ofType("tool.ended")).toMatchObject([{ status: "denied" }]);
  });

  it("of several calls can be mixed, in any order, each acting at once", async () => {
    const cwd = scratch();
    const host = start({
      cwd,
      responses: [{ calls: [bash("touch one", "c1"), write("two.txt", "c2"), bash("touch three", "c3")] }, { say: "done" }],
    });
    await host.open();
    host.prompt("go");
    const asked = await host.next("approval.requested");
    expect(asked.calls.map((call) => call.id)).toEqual(["c1", "c2", "c3"]);
    host.allow("c3");
    expect(await host.next("tool.ended", (event) => event.call === "c3")).toMatchObject({ status: "ok" });
    host.allow("c2");
    expect(await host.next("tool.ended", (event) => event.call === "c2")).toMatchObject({ status: "ok" });
    host.deny("c1", "no");
    await host.turnEnded();
    expect([existsSync(join(cwd, "one")), existsSync(join(cwd, "two.txt")), existsSync(join(cwd, "three"))]).toEqual([false, true, true]);
  });

  it("with changed arguments runs those, and tells so; invalid or forbidden ones do not run", async () => {
    const cwd = scratch();
    const host = start({
      cwd,
      responses: [{ calls: [write("a.txt", "c1"), write("b.txt", "c2"), write("c.txt", "c3")] }, { say: "done" }],
    });
    await host.open({ rules: [{ deny: "Write(secret.txt)" }] });
    host.prompt("go");
    await host.next("approval.requested");
    host.allow("c1", { args: { file_path: "other.txt", content: "changed" } });
    host.allow("c2", { args: { nonsense: true } });
    host.allow("c3", { args: { file_path: "secret.txt", content: "" } });
    await host.turnEnded();
    expect(readFileSync(join(cwd, "other.txt"), "utf8")).toBe("changed");
    expect(host.ofType("tool.started")).toMatchObject([{ call: "c1", args: { file_path: "other.txt" } }]);
    const status = (call: string) => host.ofType("tool.ended").find((event) => event.call === call)?.status;
    expect([status("c1"), status("c2"), status("c3")]).toEqual(["ok", "failed", "denied"]);
    expect(existsSync(join(cwd, "secret.txt"))).toBe(false);
  });

  it("with the arguments as they were shown changes nothing: a secret in them stays what it was", async () => {
    const cwd = scratch();
    const secret = "sk-very-secret-value-1234";
    const call = { tool: "Write", args: { file_path: "s.txt", content: `key=${secret}` }, id: "c1" };
    const host = start({ cwd, env: { OPENAI_API_KEY: secret }, responses: [{ call }, { say: "done" }] });
    await host.open();
    host.prompt("go");
    const [shown] = (await host.next("approval.requested")).calls;
    expect(JSON.stringify(shown)).not.toContain(secret);
    host.allow("c1", { args: { ...shown?.args } });
    await host.turnEnded();
    expect(readFileSync(join(cwd, "s.txt"), "utf8")).toBe(`key=${secret}`);
    expect(host.ofType("tool.started")).toMatchObject([{ call: "c1" }]);
    expect(host.ofType("tool.started")[0]).not.toHaveProperty("args");
  });

  it("granted for the tool or the category holds for the session, and no further", async () => {
    const calls = [
      { call: write("a", "c1") },
      { call: { ...write("b", "c2") } },
      { call: { tool: "Edit", args: { file_path: "a", old_string: "x", new_string: "y" }, id: "c3" } },
      { call: bash("true", "c4") },
      { call: bash("true", "c5") },
    ];
    const host = start({ responses: [...calls, { say: "done" }] });
    await host.open();
    host.prompt("go");
    await host.next("approval.requested", (event) => event.calls[0]?.id === "c1");
    host.allow("c1", { grant: "tool" });
    await host.next("approval.requested", (event) => event.calls[0]?.id === "c3");
    host.allow("c3", { grant: "call" });
    await host.next("approval.requested", (event) => event.calls[0]?.id === "c4");
    host.allow("c4", { grant: "category" });
    await host.turnEnded();
    expect(host.ofType("approval.requested").map((event) => event.calls.map((call) => call.id))).toEqual([["c1"], ["c3"], ["c4"]]);
    expect(host.ofType("tool.ended").map((event) => event.status)).toEqual(["ok", "ok", "ok", "ok", "ok"]);
  });

  it("nobody answers is denied at its deadline", async () => {
    const host = start({ responses: [{ call: write("a", "c1") }, { say: "done" }] });
    await host.open({ answerSeconds: 0.2 });
    host.prompt("go");
    await host.turnEnded();
    expect(host.ofType("tool.ended")).toMatchObject([{ status: "denied", reason: "approval timed out after 0.2 s" }]);
  });

  it("is void after an interrupt: a late yes runs nothing", async () => {
    const cwd = scratch();
    const host = start({ cwd, responses: [{ call: write("a.txt", "c1") }, { say: "next" }] });
    await host.open();
    host.prompt("go");
    await host.next("approval.requested");
    host.send({ type: "turn.interrupt", session: "s" });
    await host.turnEnded();
    expect(host.ofType("tool.ended")).toMatchObject([{ status: "cancelled" }]);
    host.allow("c1");
    await host.next("reply", (event) => event.to === "approval.answer");
    host.prompt("again");
    await host.turnEnded(2);
    expect(existsSync(join(cwd, "a.txt"))).toBe(false);
  });

  it("still open when the input ends is denied, and the turn ends by itself", async () => {
    const host = start({ responses: [{ call: write("a", "c1") }, { call: write("b", "c2") }, { say: "done" }] });
    await host.open();
    host.prompt("go");
    await host.next("approval.requested");
    expect(await host.finish()).toBe(0);
    expect(host.ofType("tool.ended").map((event) => [event.status, event.reason])).toEqual([
      ["denied", "the host closed its input"],
      ["denied", "the host closed its input"],
    ]);
    expect(host.ofType("turn.ended")).toMatchObject([{ outcome: "completed" }]);
  });
});

describe("modes", () => {
  const asks = async (mode: string, extra: Record<string, unknown> = {}): Promise<string[]> => {
    const host = start({
      responses: [
        { calls: [{ tool: "Glob", args: { pattern: "*" }, id: "info" }, write("a", "edit"), bash("true", "exec")] },
        { say: "done" },
      ],
    });
    await host.open({ mode, answerSeconds: 0.1, ...extra });
    host.prompt("go");
    await host.turnEnded();
    return host.ofType("approval.requested").flatMap((event) => event.calls.map((call) => call.id));
  };

  it("default asks for edits and commands, or for all but the named tools", async () => {
    expect(await asks("default")).toEqual(["edit", "exec"]);
    expect(await asks("default", { approveTools: [] })).toEqual(["info", "edit", "exec"]);
    expect(await asks("default", { approveTools: ["Bash"] })).toEqual(["info", "edit"]);
    expect(await asks("default", { approveTools: ["Bash(true)", "Write(b)"] })).toEqual(["info", "edit"]);
  });

  it("auto_edit asks for commands only, yolo for nothing", async () => {
    expect(await asks("auto_edit")).toEqual(["exec"]);
    expect(await asks("yolo")).toEqual([]);
  });

  it("plan denies what could change things without asking", async () => {
    const host = start({
      responses: [{ calls: [{ tool: "Glob", args: { pattern: "*" }, id: "info" }, write("a", "edit")] }, { say: "done" }],
    });
    await host.open({ mode: "plan" });
    host.prompt("go");
    await host.turnEnded();
    expect(host.ofType("approval.requested")).toHaveLength(0);
    expect(host.ofType("tool.ended").find((event) => event.call === "edit")).toMatchObject({ status: "denied" });
    expect(host.ofType("tool.ended").find((event) => event.call === "info")).toMatchObject({ status: "ok" });
  });

  it("can change within the session; a wrong one changes nothing", async () => {
    const host = start({ responses: [{ call: bash("true", "c1") }, { call: bash("true", "c2") }, { say: "done" }] });
    await host.open();
    host.send({ type: "session.configure", session: "s", id: "wrong", patch: { model: "nowhere.yaml", mode: "yolo" } });
    expect(await host.next("reply", (event) => event.parent === "wrong")).toMatchObject({ status: "error", fault: { code: "config" } });
    host.prompt("go");
    await host.next("approval.requested");
    host.send({ type: "session.configure", session: "s", id: "yolo", patch: { mode: "yolo" } });
    expect(await host.next("session.updated")).toMatchObject({ parent: "yolo", config: { mode: "yolo" } });
    host.allow("c1");
    await host.turnEnded();
    expect(host.ofType("approval.requested")).toHaveLength(1);
  });
});

describe("rules", () => {
  it("what may not be read is not found either, in every mode and with and without ripgrep", async () => {
    const files = { "a.txt": "needle in a", ".env": "needle in env" };
    const grep = (args: object): object => ({ calls: [{ tool: "Grep", args: { pattern: "needle", ...args } }] });
    const outputs: string[][] = [];
    for (const ripgrep of ["", "none"]) {
      const responses = [
        grep({}),
        grep({ glob: "*" }),
        grep({ path: ".env" }),
        grep({ path: "secrets" }),
        { calls: [{ tool: "Glob", args: { pattern: "**" } }] },
        { say: "done" },
      ];
      const cwd = scratch(files);
      mkdirSync(join(cwd, "secrets/deep"), { recursive: true });
      writeFileSync(join(cwd, "secrets/deep/key"), "needle in key");
      const host = start({ responses, cwd, env: { PARLEY_RIPGREP: ripgrep } });
      await host.open({
        mode: "yolo",
        answerSeconds: 0.1,
        rules: [{ deny: "Read(.env)" }, { ask: "info(secrets/**)" }, { deny: "Glob(*.txt)" }, { ask: "Read" }],
      });
      host.prompt("go");
      await host.turnEnded();
      outputs.push(host.ofType("tool.ended").map(({ output = [] }) => plainText(output)));
      await host.finish();
    }
    const [withRipgrep = [], without] = outputs;
    expect(withRipgrep.slice(0, 3)).toEqual([
      "a.txt:1:needle in a\n(2 files were not searched: rules forbid it)",
      "a.txt:1:needle in a\n(2 files were not searched: rules forbid it)",
      "No matches found\n(1 file was not searched: rules forbid it)",
    ]);
    expect(withRipgrep[3]).toMatch(/timed out/);
    expect(withRipgrep[4]).toBe(".env");
    expect(without).toEqual(withRipgrep);
  });

  it("deny beats ask beats allow, yolo included, hidden or not", async () => {
    const host = start({
      responses: [
        {
          calls: [
            bash("echo ok && rm -rf /tmp/nothing-here", "c1"),
            bash("git status", "c2"),
            bash("bash -c 'r\"\"m -rf nothing'", "c3"),
            bash("curl x", "c4"),
            bash('echo "unclosed', "c5"),
          ],
        },
        { say: "done" },
      ],
    });
    await host.open({ mode: "yolo", answerSeconds: 0.1, rules: [{ allow: "Bash" }, { deny: "Bash(rm -rf *)" }, { ask: "Bash(curl *)" }] });
    host.prompt("go");
    await host.turnEnded();
    const status = (call: string) => host.ofType("tool.ended").find((event) => event.call === call)?.status;
    expect([status("c1"), status("c3")]).toEqual(["denied", "denied"]);
    expect(host.ofType("approval.requested").flatMap((event) => event.calls.map((call) => call.id))).toEqual(["c4", "c5"]);
    expect(host.ofType("tool.started").map((event) => event.call)).toEqual(["c2"]);
  });

  it("that are malformed are refused at the opening, with their text", async () => {
    const host = start();
    host.send({ type: "session.open", session: "s", id: "o", open: "new", config: { rules: [{ deny: "Bash(rm" }] } });
    expect(await host.next("reply", (event) => event.parent === "o")).toMatchObject({
      status: "error",
      fault: { code: "config", message: expect.stringContaining("Bash(rm") },
    });
  });
});

describe("the workspace's edge", () => {
  it("is asked about, links resolved first, also where edits run unasked", async () => {
    const outside = scratch({ "secret.txt": "top secret" });
    const cwd = scratch();
    mkdirSync(join(cwd, "inside"));
    symlinkSync(outside, join(cwd, "link"));
    symlinkSync(join(outside, "new.txt"), join(cwd, "dangling.txt"));
    const read = (path: string, id: string) => ({ tool: "Read", args: { file_path: path }, id });
    const host = start({
      cwd,
      responses: [
        {
          calls: [
            read("link/secret.txt", "c1"),
            read(join(outside, "secret.txt"), "c2"),
            read("inside/../../x", "c3"),
            write("dangling.txt", "c4"),
            write("inside/ok.txt", "c5"),
          ],
        },
        { say: "done" },
      ],
    });
    await host.open({ mode: "auto_edit", answerSeconds: 0.2 });
    host.prompt("go");
    await host.turnEnded();
    expect(host.ofType("approval.requested").flatMap((event) => event.calls.map((call) => call.id))).toEqual(["c1", "c2", "c3", "c4"]);
    expect(host.lines.join("\n")).not.toContain("top secret");
    expect(existsSync(join(outside, "new.txt"))).toBe(false);
    expect(existsSync(join(cwd, "inside/ok.txt"))).toBe(true);
  });

  it("does not move between the approval and the run", async () => {
    const outside = scratch();
    const cwd = scratch();
    mkdirSync(join(cwd, "dir"));
    // The command turns the folder into a link to the outside before the approved write runs.
    const swap = `rmdir dir && ln -s ${outside} dir`;
    const host = start({ cwd, responses: [{ calls: [bash(swap, "c1"), write("dir/x.txt", "c2")] }, { say: "done" }] });
    await host.open();
    host.prompt("go");
    await host.next("approval.requested");
    host.allow("c1");
    await host.next("tool.ended", (event) => event.call === "c1");
    host.allow("c2");
    await host.turnEnded();
    expect(host.ofType("tool.ended").find((event) => event.call === "c2")).toMatchObject({ status: "failed" });
    expect(existsSync(join(outside, "x.txt"))).toBe(false);
  });
});

describe("secrets", () => {
  const KEY = "sk-test-0123456789abcdef";

  it("reach neither tools nor the wire, whole or split over deltas", async () => {
    const cwd = scratch({ ".env": `KEY=${KEY}\n` });
    const host = start({
      cwd,
      env: { ANTHROPIC_API_KEY: KEY },
      args: ["--auto-approve"],
      responses: [
        {
          say: { pieces: ["the key is sk-te", "st-0123456", "789abcdef, you see"] },
          calls: [
            { tool: "Read", args: { file_path: ".env" } },
            bash("env; cat .env", "b"),
            bash(`printf sk-test-; sleep 0.1; echo 0123456789abcdef`, "d"),
          ],
        },
        { think: `so it is ${KEY}`, say: "done" },
      ],
    });
    await host.open();
    host.prompt(`use ${KEY}`);
    await host.turnEnded();
    expect(host.text()).toContain("the key is [redacted], you see");
    expect(host.lines.join("\n")).not.toContain(KEY);
    expect(host.lines.join("\n")).not.toContain("ANTHROPIC_API_KEY");
    const deltas = host
      .ofType("text.delta")
      .map((event) => event.text)
      .join("");
    expect(deltas).not.toContain(KEY);
    expect(await host.finish()).toBe(0);
  });
});

describe("host tools", () => {
  it("are asked of the host, answered once, and expire", async () => {
    const host = start({
      responses: [
        { call: { tool: "Lookup", args: { q: "x" }, id: "c1" } },
        { expect: { toolResult: "42" }, say: "done" },
        { call: { tool: "Lookup", args: {}, id: "c2" } },
        { say: "done" },
      ],
    });
    await host.open({
      hostTools: [{ name: "Lookup", description: "Looks things up", parameters: { type: "object" } }],
    });
    host.prompt("go");
    const request = await host.next("host.request");
    expect(request).toMatchObject({ kind: "tool", call: "c1", data: { name: "Lookup", args: { q: "x" } } });
    host.send({ type: "host.answer", session: "s", request: request.request, ok: true, data: "42" });
    host.send({ type: "host.answer", session: "s", id: "twice", request: request.request, ok: true, data: "43" });
    await host.turnEnded();
    expect(await host.next("reply", (event) => event.parent === "twice")).toMatchObject({ status: "noop" });
    host.send({ type: "session.configure", session: "s", patch: { answerSeconds: 0.2 } });
    host.prompt("once more");
    await host.turnEnded(2);
    expect(host.ofType("host.settled")).toMatchObject([{ ok: true }, { ok: false }]);
    expect(host.ofType("tool.ended").map((event) => event.status)).toEqual(["ok", "failed"]);
  });
});

describe("tool lists", () => {
  it("decide which tools there are", async () => {
    const host = start({ responses: [{ expect: { tools: ["Read", "Grep"] }, say: "two" }, { say: "one" }] });
    await host.open({ allowedTools: ["read_file", "Grep", "Bash"], disallowedTools: ["Bash"] });
    host.prompt("go");
    expect((await host.turnEnded()).outcome).toBe("completed");
  });
});

describe("patterns in tool lists", () => {
  const calls = ["git status", "ls", "echo no"].map((command, at) => ({ tool: "Bash", args: { command }, id: `c${at}` }));

  it.each([
    ["leave only such calls of an allowed tool", { allowedTools: ["bash(git *)", "BASH(ls)"] }, ["ok", "ok", "denied"]],
    ["say nothing where the whole tool is allowed too", { allowedTools: ["Bash(git *)", "Bash"] }, ["ok", "ok", "ok"]],
    ["forbid such calls of a tool that is there", { disallowedTools: ["Bash(echo *)"] }, ["ok", "ok", "denied"]],
  ])("%s", async (_name, lists, statuses) => {
    const host = start({ responses: [{ calls }, "ok"], cwd: scratch() });
    await host.open({ mode: "yolo", ...lists });
    host.prompt("go");
    await host.turnEnded();
    const ended = new Map(host.ofType("tool.ended").map(({ call, status }) => [call, status === "failed" ? "ok" : status]));
    expect(calls.map(({ id }) => ended.get(id))).toEqual(statuses);
  });

  it("that cannot be read refuse the session", async () => {
    const host = start();
    host.send({ type: "session.open", id: "o", session: "s", open: "new", config: { disallowedTools: ["Bash("] } });
    expect(await host.next("reply")).toMatchObject({ parent: "o", status: "error", fault: { code: "config" } });
  });
});

describe("rules of the config", () => {
  it("hold for a session that is resumed as they are now; what was allowed before is asked again", async () => {
    const home = scratch({ "config.yaml": 'rules: [{ allow: "Write" }]' });
    const first = start({ env: { PARLEY_HOME: home }, responses: [{ say: "hello" }] });
    await first.open();
    first.prompt("hi");
    await first.turnEnded();
    expect(await first.finish()).toBe(0);
    writeFileSync(join(home, "config.yaml"), 'rules: [{ deny: "Bash" }]');
    const host = start({ env: { PARLEY_HOME: home } });
    const model = script([{ calls: [bash("echo hi", "c1"), write("a.txt", "c2")] }, { say: "done" }]);
    host.send({ type: "session.open", session: "s", open: "resume", sessionId: "s", config: { model, provider: "rehearsal" } });
    host.prompt("go");
    expect((await host.next("approval.requested")).calls.map(({ id }) => id)).toEqual(["c2"]);
    host.deny("c2");
    await host.turnEnded();
    expect(host.ofType("tool.ended").find(({ call }) => call === "c1")).toMatchObject({
      status: "denied",
      reason: "denied by the rule Bash",
    });
  });
});

describe("files", () => {
  it("are not edited unread, nor when they changed since", async () => {
    const cwd = scratch({ "a.txt": "one\n" });
    const edit = (id: string) => ({ tool: "Edit", args: { file_path: "a.txt", old_string: "one", new_string: "two" }, id });
    const host = start({
      cwd,
      responses: [
        { call: edit("unread") },
        { call: { tool: "Read", args: { file_path: "a.txt" } } },
        { call: edit("stale") },
        { call: { tool: "Read", args: { file_path: "a.txt" } } },
        { call: edit("fine") },
        { say: "done" },
      ],
    });
    await host.open({ mode: "default" });
    host.prompt("go");
    await host.next("approval.requested", (event) => event.calls[0]?.id === "unread");
    host.allow("unread");
    await host.next("approval.requested", (event) => event.calls[0]?.id === "stale");
    writeFileSync(join(cwd, "a.txt"), "one, changed by somebody\n");
    host.allow("stale");
    await host.next("approval.requested", (event) => event.calls[0]?.id === "fine");
    host.allow("fine");
    await host.turnEnded();
    const ended = (call: string) => host.ofType("tool.ended").find((event) => event.call === call);
    expect([ended("unread")?.status, ended("stale")?.status, ended("fine")?.status]).toEqual(["failed", "failed", "ok"]);
    expect(ended("fine")?.output).toContainEqual(
      expect.objectContaining({ type: "diff", before: "one, changed by somebody\n", after: "two, changed by somebody\n" }),
    );
  });
});

describe("a deadline", () => {
  it("longer than a timer can hold does not deny at once, and one that is changed counts", async () => {
    const host = start({ responses: [{ call: bash("true", "c1") }, { call: bash("true", "c2") }, { say: "done" }] });
    await host.open({ answerSeconds: 3_000_000 });
    host.prompt("go");
    await host.next("approval.requested");
    host.send({ type: "session.configure", session: "s", patch: { answerSeconds: 0.2 } });
    await host.next("session.updated");
    host.allow("c1");
    expect(await host.next("tool.ended", (event) => event.call === "c1")).toMatchObject({ status: "ok" });
    await host.turnEnded();
    expect(host.ofType("tool.ended")).toMatchObject([{ status: "ok" }, { status: "denied", reason: "approval timed out after 0.2 s" }]);
    expect(host.stderr).toBe("");
  });
});

describe("what this version does not do", () => {
  it("is refused or told, never passed over", async () => {
    const host = start({ responses: [{ say: "ok" }] });
    await host.open({});
    host.send({ type: "turn.prompt", session: "s", id: "cmd", parts: [], command: { name: "nowhere" } });
    expect(await host.next("reply", (event) => event.parent === "cmd")).toMatchObject({
      status: "error",
      fault: { message: expect.stringContaining("There is no command '/nowhere'") },
    });
    host.send({ type: "provider.set", id: "p", name: "local", baseUrl: "nowhere" });
    expect(await host.next("reply", (event) => event.parent === "p")).toMatchObject({ status: "error" });
  });
});

describe("a secret that is cut", () => {
  const KEY = `sk-${"abcdefghij0123456789".repeat(4)}`;

  it("is masked before the cut: in titles, long lines, numbered and quoted forms", async () => {
    const pem = ["-----BEGIN KEY-----", "MIIBVgIBADANBgkqhkiG9w0BAQEFAASC", "AUAwggE8AgEAAkEAq7BFUpkGp3", "-----END KEY-----"].join("\n");
    const odd = 'pa"ss\\word-XYZ-12345678';
    const cwd = scratch({ "long.txt": "y".repeat(1960) + KEY, "key.pem": pem, "odd.json": JSON.stringify({ odd }) });
    const host = start({
      cwd,
      env: { MY_API_KEY: KEY, MY_SECRET: pem, MY_PASSWORD: odd },
      args: ["--auto-approve"],
      responses: [
        {
          calls: [
            bash(`echo aaaaaaa ${KEY}`, "title"),
            { tool: "Read", args: { file_path: "long.txt" }, id: "long" },
            { tool: "Read", args: { file_path: "key.pem" }, id: "pem" },
            bash("cat odd.json", "json"),
            { tool: "Bash", args: `{"command": "${KEY}`, id: "raw" },
          ],
        },
        { say: "done" },
      ],
    });
    await host.open();
    host.prompt("go");
    await host.turnEnded();
    const said = host.lines.join("\n");
    for (const piece of [KEY.slice(0, 20), "MIIBVgIBADANBgkqhkiG9w0BAQEFAASC", "ss\\\\\\\\word-XYZ"]) expect(said).not.toContain(piece);
    expect(await host.finish()).toBe(0);
  });
});

describe("files that decide what runs or is allowed", () => {
  it("are asked about even where edits run unasked", async () => {
    const cwd = scratch();
    const host = start({
      cwd,
      responses: [
        { calls: [write(".parley/config.yaml", "c1"), write(".git/hooks/pre-commit", "c2"), write("src.txt", "c3")] },
        { say: "done" },
      ],
    });
    await host.open({ mode: "auto_edit", answerSeconds: 0.2 });
    host.prompt("go");
    await host.turnEnded();
    expect(host.ofType("approval.requested").flatMap((event) => event.calls.map((call) => call.id))).toEqual(["c1", "c2"]);
    expect([existsSync(join(cwd, ".parley")), existsSync(join(cwd, "src.txt"))]).toEqual([false, true]);
  });

  it("also by the real path of a config folder that is reached by a link", async () => {
    const cwd = scratch();
    mkdirSync(join(cwd, "conf"));
    const link = join(scratch(), "link");
    symlinkSync(cwd, link);
    const host = start({
      cwd: link,
      env: { PARLEY_HOME: join(link, "conf") },
      responses: [{ call: write("conf/config.yaml", "c1") }, { say: "done" }],
    });
    await host.open({ mode: "auto_edit" });
    host.prompt("go");
    expect((await host.next("approval.requested")).message).toContain("decides what is run or allowed");
    host.deny("c1");
    await host.turnEnded();
    expect(existsSync(join(cwd, "conf/config.yaml"))).toBe(false);
  });

  it("also where the workspace is the folder in which another agent keeps the user's skills", async () => {
    const home = scratch();
    const cwd = join(home, ".claude");
    mkdirSync(cwd);
    const host = start({ cwd, env: { HOME: home }, responses: [{ call: write("skills/x/SKILL.md", "c1") }, { say: "done" }] });
    await host.open({ mode: "auto_edit" });
    host.prompt("go");
    expect((await host.next("approval.requested")).message).toContain("decides what is run or allowed");
    host.deny("c1");
    await host.turnEnded();
  });
});
