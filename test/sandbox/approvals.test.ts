/** Who is asked with the sandbox on: nobody about commands that stay in it, in the mode `sandboxed`; always the user about what needs more. */
import { existsSync, readFileSync, symlinkSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { start, type NativeHost } from "../process/harness.js";
import { NO_SANDBOX, place, resultOf } from "./harness.js";

interface Asked {
  id: string;
  args: Record<string, unknown>;
  tool?: string;
}

const bash = (id: string, command: string, needs?: string[]): Asked => ({ id, args: { command, ...(needs !== undefined && { needs }) } });

/** Runs the calls; `answer` settles each question. Returns the messages of the questions by call. */
async function ask(
  calls: readonly Asked[],
  answer: (host: NativeHost, call: string) => void,
  { args = ["--sandbox", "required", "--approval-mode", "sandboxed"], config = {}, cwd = place(), home = place() } = {},
): Promise<{ host: NativeHost; questions: Record<string, string> }> {
  const responses = [...calls.map(({ tool = "Bash", ...call }) => ({ call: { tool, ...call } })), { say: "done" }];
  const host = start({ cwd, args, env: { HOME: home }, responses });
  await host.open(config);
  host.prompt("go");
  const ended = host.turnEnded();
  const questions: Record<string, string> = {};
  for (let at = 0; ; at++) {
    const event = await Promise.race([
      ended,
      host.next("approval.requested", (each) => host.ofType("approval.requested").indexOf(each) === at),
    ]);
    if (event.type === "turn.ended") break;
    for (const { id } of event.calls) {
      questions[id] = event.message ?? "";
      answer(host, id);
    }
  }
  return { host, questions };
}

const yes = (host: NativeHost, call: string): void => host.allow(call);
const no = (host: NativeHost, call: string): void => host.deny(call);

describe.skipIf(NO_SANDBOX !== undefined)("with the sandbox on", () => {
  test("the mode sandboxed runs commands and edits of the workspace unasked; rules and protection still hold", async () => {
    const cwd = place();
    const { host, questions } = await ask(
      [
        bash("plain", "touch made && mkdir d && rm -r d"),
        { id: "edit", tool: "Write", args: { file_path: "b.txt", content: "b" } },
        { id: "outside", tool: "Write", args: { file_path: "../escaped.txt", content: "b" } },
        bash("ruled", "git push"),
        bash("denied", "git clean -fd"),
        bash("own", "cat ~/.parley/config.yaml"),
      ],
      no,
      { cwd, config: { rules: [{ ask: "Bash(git push *)" }, { deny: "Bash(git clean *)" }] } },
    );
    expect(Object.keys(questions)).toEqual(["outside", "ruled", "own"]);
    expect(resultOf(host, "plain")).toBe("Exit code: 0");
    expect(existsSync(join(cwd, "made")) && existsSync(join(cwd, "b.txt"))).toBe(true);
    expect(host.ofType("session.ready")[0]?.config?.mode).toBe("sandboxed");
    expect(host.ofType("session.ready")[0]?.capabilities).toMatchObject({
      modes: expect.arrayContaining(["sandboxed"]),
      sandbox: "bubblewrap",
    });
    expect(await host.finish()).toBe(0);
  });

  test.each(["sandboxed", "yolo"])("in the mode %s a command that needs more is asked about, with what it needs", async (mode) => {
    const [cwd, other] = [place(), place()];
    symlinkSync(other, join(cwd, "link"));
    const { host, questions } = await ask(
      [
        bash("network", "echo ran", ["network"]),
        bash("write", `echo 1 > ${other}/a`, ["./link", "network"]),
        bash("outside", `echo 1 > ${other}/b`, ["outside", "network"]),
        bash("none", "echo in", []),
      ],
      no,
      { cwd, args: ["--sandbox", "required", "--approval-mode", mode], config: { rules: [{ allow: "Bash(echo *)" }] } },
    );
    expect(questions["network"]).toBe("Allow Execute: echo ran? (it needs the network)");
    expect(questions["write"]).toBe(`Allow Execute: echo 1 > ${other}/a? (it needs the network and to write to ${other})`);
    expect(questions["outside"]).toBe(`Allow Execute: echo 1 > ${other}/b? (it needs to run outside the sandbox)`);
    expect(resultOf(host, "none")).toContain("in");
    expect(host.ofType("tool.started").map(({ call }) => call)).toEqual(["none"]);
    expect(await host.finish()).toBe(0);
  });

  test("a yes gives a command what it asked for, that command alone, and no more", async () => {
    const [cwd, other, third, home] = [place(), place({ "kept.txt": "" }), place(), place({ ".ssh/id": "sesame" })];
    const server = createServer((socket) => socket.end("hello"));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const address = server.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    const connect = `node -e 'require("net").connect(${port}, "127.0.0.1").on("data",(d)=>console.log(String(d))).on("error",(e)=>console.log(e.code))'`;
    const { host, questions } = await ask(
      [
        bash("network", `${connect}; echo x > ${other}/no`, ["network"]),
        bash("again", connect),
        bash("write", `echo 1 > ${other}/a; echo 2 >> ${other}/kept.txt; echo x > ${third}/no; ${connect}`, [other]),
        bash("outside", `echo 1 > ${third}/b; cat ~/.s*h/id; cd sub 2>/dev/null; cd /`, ["outside"]),
        bash("after", `echo x > ${third}/no; echo x > ${other}/no; cat ~/.s*h/id`),
        bash("missing", "true", [join(other, "nowhere")]),
        bash("odd", "true", ["everything"]),
      ],
      // A wider yes does not cover what needs more.
      (host_, call) => host_.allow(call, { grant: "tool" }),
      { cwd, home },
    );
    expect(Object.keys(questions)).toEqual(["network", "write", "outside", "missing"]);
    expect(resultOf(host, "network")).toMatch(/hello[^]*Read-only file system/);
    expect(resultOf(host, "again")).toContain("ECONNREFUSED");
    expect(resultOf(host, "write")).toMatch(/ECONNREFUSED[^]*Read-only file system/);
    expect(readFileSync(join(other, "kept.txt"), "utf8")).toBe("2\n");
    expect(resultOf(host, "outside")).toContain("sesame");
    expect(existsSync(join(third, "b"))).toBe(true);
    expect(resultOf(host, "after")).not.toContain("sesame");
    expect([other, third].some((folder) => existsSync(join(folder, "no")))).toBe(false);
    expect(resultOf(host, "missing")).toContain("does not exist; name the folder");
    expect(resultOf(host, "odd")).toContain("network, outside or a path");
    expect(await host.finish()).toBe(0);
  });
});

test("with the sandbox off the mode sandboxed asks about commands and says why, and needs mean nothing", async () => {
  const cwd = place();
  const { host, questions } = await ask([bash("plain", "touch made"), bash("needs", "touch more", ["outside"])], yes, {
    cwd,
    args: ["--approval-mode", "sandboxed"],
  });
  expect(questions).toEqual({ plain: "Allow Execute: touch made?", needs: "Allow Execute: touch more?" });
  const notice = await host.next("notice", ({ kind }) => kind === "sandbox");
  expect(notice.text).toContain("because the sandbox is off: --sandbox auto");
  expect(host.ofType("session.ready")[0]?.capabilities).not.toHaveProperty("sandbox");
  expect(host.ofType("session.ready")[0]?.capabilities?.["modes"]).not.toContain("sandboxed");
  expect(await host.finish()).toBe(0);
});
