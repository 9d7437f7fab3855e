/** A rewind is a line in the log: every resume, replay and copy honours it, and a crash on the way to it is no harm. */
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { OpOf } from "../../src/core/op.js";
import { run, start, type NativeHost } from "../process/harness.js";
import { told } from "../extensions/asking.js";
import { conversation, kill, resume, stored } from "../words/sessions.js";
import { bash, contents, edit, read, rewind, running, turn, tryRewind, write } from "./undoing.js";

const one = (name: string, content: string) => [{ call: write(name, content) }, { say: `Wrote ${content}.` }];
const said = (content: string, id: string) => [`user: do ${id}`, "calls: Write", "results: ok", `assistant: Wrote ${content}.`];

const logOf = (home: string, id = "s"): string => join(home, "sessions", id, "log.jsonl");

async function opened(home: string, cwd: string, op: Partial<OpOf<"session.open">>, responses: unknown[]): Promise<NativeHost> {
  const host = start({ cwd, env: { PARLEY_HOME: home }, responses });
  const model = host.child.spawnargs[host.child.spawnargs.indexOf("--model") + 1];
  host.send({ type: "session.open", session: "s", open: "resume", config: { provider: "rehearsal", model }, ...op });
  await host.next("session.ready");
  return host;
}

describe("a session that was rewound", () => {
  it("goes on from there after a resume, and a replay tells nothing of the turns that were undone", async () => {
    const { host, home, cwd } = await running({ "a.txt": "0" }, [...one("a.txt", "1"), ...one("a.txt", "2"), ...one("b.txt", "3")]);
    await turn(host, "t1");
    await turn(host, "t2");
    await rewind(host, "t2");
    await turn(host, "t3");
    expect(await host.finish()).toBe(0);
    const again = await opened(home, cwd, { after: { seq: -1 } }, [{ expect: { messages: 9 }, say: "Fourth." }]);
    await turn(again, "t4");
    const replayed = again.events.filter(({ replay }) => replay === true);
    expect(replayed.flatMap((event) => (event.type === "turn.started" ? [event.turn] : []))).toEqual(["t1", "t3"]);
    expect(replayed.filter((event) => event.turn === "t2")).toEqual([]);
    expect(replayed.filter((event) => event.type === "notice" && event.kind === "rewind")).toHaveLength(1);
    expect((await again.next("session.ready")).replay).toBe(replayed.length);
    expect(await rewind(again, "t1")).toEqual({ files: ["a.txt", "b.txt"], left: [] });
    expect(contents(cwd, "a.txt", "b.txt")).toEqual({ "a.txt": "0", "b.txt": null });
    expect(await again.finish()).toBe(0);
    const shown = await run(["sessions", "show", "s"], { env: { PARLEY_HOME: home } });
    expect(shown).toMatchObject({ code: 0 });
    expect(shown.stdout).not.toContain("> do t");
    expect(readFileSync(logOf(home), "utf8")).toContain("do t2");
  });

  it("lets the model edit a file that it knew before, without another look", async () => {
    const { host, cwd } = await running({ "a.txt": "zero\n" }, [
      { call: read("a.txt") },
      { say: "Seen." },
      { call: edit("a.txt", "zero", "one") },
      { say: "Done." },
      { call: edit("a.txt", "zero", "two") },
      { say: "Done." },
    ]);
    await turn(host, "t1");
    await turn(host, "t2");
    await rewind(host, "t2");
    await turn(host, "t3");
    expect(contents(cwd, "a.txt")).toEqual({ "a.txt": "two\n" });
    expect(await host.finish()).toBe(0);
  });

  it("has what was said before a /clear, where the turn lies before it", async () => {
    const { host, home } = await running({}, [...one("a.txt", "1"), { say: "Gone." }, ...one("a.txt", "3")]);
    await turn(host, "t1");
    await turn(host, "t2");
    expect(await told(host, "clear")).toMatch(/begins anew/);
    await turn(host, "t3");
    await rewind(host, "t2", { conversation: true });
    expect(await host.finish()).toBe(0);
    expect(conversation(await stored(home))).toEqual(said("1", "t1"));
  });

  it("has its copies from its own log, whatever stands in a snapshot", async () => {
    const big = "x".repeat(300 * 1024);
    const { host, home, cwd } = await running({ "a.txt": "0" }, [{ say: big }, ...one("a.txt", "1"), { say: big }]);
    for (const id of ["t1", "t2", "t3"]) await turn(host, id);
    expect(existsSync(join(home, "sessions/s/snapshot.json"))).toBe(true);
    await rewind(host, "t2");
    await kill(host);
    expect(conversation(await stored(home))).toEqual(["user: do t1", `assistant: ${big}`]);
    expect(contents(cwd, "a.txt")).toEqual({ "a.txt": "0" });
  });
});

describe("a crash", () => {
  it("in the middle of a turn: the turn is taken back after the resume, or without one", async () => {
    for (const how of ["resume", "command"]) {
      const { host, home, cwd } = await running({ "a.txt": "0" }, [
        ...one("a.txt", "1"),
        { call: write("a.txt", "2") },
        { call: bash("echo gone on > started; sleep 300") },
      ]);
      await turn(host, "t1");
      host.prompt("do t2", { turn: "t2" });
      await host.next("tool.started", ({ call }) =>
        host.ofType("tool.requested").some((asked) => asked.call.id === call && asked.call.name === "Bash"),
      );
      await kill(host);
      if (how === "resume") {
        const again = await resume(home, [{ say: "never" }], cwd);
        expect(await rewind(again, "t2")).toEqual({ files: ["a.txt"], left: [] });
        expect(await again.finish()).toBe(0);
      } else {
        const done = await run(["sessions", "rewind", "s", "-1", "--json"], { env: { PARLEY_HOME: home } });
        expect(done).toEqual({ code: 0, stdout: '{"files":["a.txt"],"left":[]}\n', stderr: "" });
      }
      expect(contents(cwd, "a.txt"), how).toEqual({ "a.txt": "1" });
      const { crash, ...session } = await stored(home);
      expect(crash).toBeUndefined();
      expect(conversation(session), how).toEqual(said("1", "t1"));
    }
  });

  it("between the files and the line in the log, at each line: the same rewind is made again, and all is as before", async () => {
    const { host, home, cwd } = await running({ "a.txt": "0", "b.txt": "0" }, [
      { calls: [write("a.txt", "1"), write("b.txt", "1"), write("c.txt", "1")] },
      { say: "Done." },
    ]);
    await turn(host, "t1");
    const before = readFileSync(logOf(home));
    await rewind(host, "t1");
    expect(await host.finish()).toBe(0);
    const behind = readFileSync(logOf(home)).subarray(before.length).toString().split("\n");
    const upTo = behind.findIndex((line) => line.startsWith('{"kind":"rewind"'));
    expect(upTo).toBeGreaterThanOrEqual(3);
    for (let lines = 0; lines <= upTo; lines++) {
      // The files may be as the turn left them, or as the rewind did, whatever the log knows of it.
      for (const [a, c] of [
        ["1", "1"],
        ["0", "1"],
        ["0", null],
      ] as const) {
        const written = behind
          .slice(0, lines)
          .map((line) => `${line}\n`)
          .join("");
        writeFileSync(logOf(home), Buffer.concat([before, Buffer.from(written)]));
        for (const [name, content] of Object.entries({ "a.txt": a, "b.txt": a })) writeFileSync(join(cwd, name), content);
        if (c === null && existsSync(join(cwd, "c.txt"))) continue;
        if (c !== null) writeFileSync(join(cwd, "c.txt"), c);
        const { code, stdout } = await run(["sessions", "rewind", "s", "t1", "--json"], { env: { PARLEY_HOME: home } });
        expect([code, JSON.parse(stdout)], `${lines} ${a} ${String(c)}`).toMatchObject([0, { left: [] }]);
        expect(contents(cwd, "a.txt", "b.txt", "c.txt")).toEqual({ "a.txt": "0", "b.txt": "0", "c.txt": null });
        expect(conversation(await stored(home))).toEqual([]);
      }
    }
  });
});

describe("a copy that begins before a turn", () => {
  it("has the conversation up to there, and the copies of files; the original stays what it was", async () => {
    const { host, home, cwd } = await running({ "a.txt": "0" }, [...one("a.txt", "1"), ...one("a.txt", "2")]);
    await turn(host, "t1");
    await turn(host, "t2");
    expect(await host.finish()).toBe(0);
    const original = readFileSync(logOf(home));
    const copy = { session: "copy", sessionId: "s", fork: true, before: { turn: "t2" } };
    const forked = await opened(home, cwd, copy, [{ expect: { messages: 5, lastUser: "do t3" }, say: "Another way." }]);
    expect(contents(cwd, "a.txt")).toEqual({ "a.txt": "2" });
    await turn(forked, "t3", "copy");
    const blobs = join(home, "sessions/copy/files");
    expect(readdirSync(blobs).map((name) => statSync(join(blobs, name)).mode & 0o777)).toEqual([0o600, 0o600]);
    forked.send({ type: "session.rewind", id: "r", session: "copy", turn: "t1", force: true });
    expect(await forked.next("reply", ({ parent }) => parent === "r")).toMatchObject({ data: { files: ["a.txt"], left: [] } });
    expect(contents(cwd, "a.txt")).toEqual({ "a.txt": "0" });
    expect(await forked.finish()).toBe(0);
    expect(readFileSync(logOf(home)).equals(original)).toBe(true);
    expect(conversation(await stored(home))).toEqual([...said("1", "t1"), ...said("2", "t2")]);
  });

  it("honours a rewind before that, and is refused for a turn that is not there, or without a fork", async () => {
    const { host, home, cwd } = await running({}, [...one("a.txt", "1"), ...one("a.txt", "2"), ...one("a.txt", "3"), { say: "Last." }]);
    await turn(host, "t1");
    await turn(host, "t2");
    await rewind(host, "t2");
    await turn(host, "t3");
    await turn(host, "t4");
    expect(await host.finish()).toBe(0);
    const forked = await opened(home, cwd, { session: "copy", sessionId: "s", fork: true, before: { turn: "t4" } }, [{ say: "never" }]);
    for (const [more, message] of [
      [{ fork: true, before: { turn: "t2" } }, /There is no turn 't2' in session 's'/],
      [{ before: { turn: "t3" } }, /only as a copy \(fork\)/],
    ] as const) {
      forked.send({ type: "session.open", id: `o${message}`, session: "x", open: "resume", sessionId: "s", ...more });
      const reply = await forked.next("reply", ({ parent }) => parent === `o${message}`);
      expect(reply).toMatchObject({ status: "error", fault: { code: "session", message: expect.stringMatching(message) } });
    }
    expect(await forked.finish()).toBe(0);
    expect(readdirSync(join(home, "sessions")).toSorted()).toEqual(["copy", "s"]);
    expect(conversation(await stored(home, "copy"))).toEqual([...said("1", "t1"), ...said("3", "t3")]);
  });
});

describe("a rewind", () => {
  it("of a session whose log cannot be written is refused", async () => {
    const { host, home, cwd } = await running({ "a.txt": "0" }, [...one("a.txt", "1")]);
    await turn(host, "t1");
    rmSync(join(home, "sessions/s/lock"));
    expect(await tryRewind(host, "t1")).toMatchObject({ status: "error", fault: { message: expect.stringMatching(/no longer be saved/) } });
    expect(contents(cwd, "a.txt")).toEqual({ "a.txt": "1" });
    expect(await host.finish()).toBe(0);
  });
});
