/** A turn is taken back on the port: files, conversation or both are what they were before it. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { run, scratch } from "../process/harness.js";
import { conversation, stored } from "../words/sessions.js";
import { bash, contents, edit, patch, read, rewind, running, tryRewind, turn, write } from "./undoing.js";

/** Three turns that change files, each of which ends with an answer. */
const THREE = [
  { calls: [read("a.txt"), write("b.txt", "new\n")] },
  { say: "First." },
  { calls: [edit("a.txt", "one", "two"), write("b.txt", "newer\n"), write("deep/c.txt", "c\n")] },
  { call: patch("*** Delete File: gone.txt") },
  { say: "Second." },
  { call: edit("a.txt", "two", "three") },
  { say: "Third." },
];
const FILES = { "a.txt": "one\n", "gone.txt": "x\n" };
const NAMES = ["a.txt", "b.txt", "deep/c.txt", "gone.txt"] as const;
const BEFORE_SECOND = { "a.txt": "one\n", "b.txt": "new\n", "deep/c.txt": null, "gone.txt": "x\n" };
const BEHIND_THIRD = { "a.txt": "three\n", "b.txt": "newer\n", "deep/c.txt": "c\n", "gone.txt": null };

const one = (name: string, content: string) => [{ call: write(name, content) }, { say: "Done." }];

describe("a rewind", () => {
  it("puts files and conversation back as they were before the turn, and all turns behind it", async () => {
    const { host, home, cwd } = await running(FILES, [...THREE, { expect: { messages: 5, lastUser: "do t4" }, say: "Fourth." }]);
    for (const id of ["t1", "t2", "t3"]) await turn(host, id);
    expect(contents(cwd, ...NAMES)).toEqual(BEHIND_THIRD);
    const { files, left } = await rewind(host, "t2");
    expect(files.toSorted()).toEqual([...NAMES]);
    expect(left).toEqual([]);
    expect(contents(cwd, ...NAMES)).toEqual(BEFORE_SECOND);
    expect(host.ofType("notice").filter(({ kind }) => kind === "rewind")).toMatchObject([
      { level: "info", text: "The conversation and 4 files went back to before “do t2”", data: { turn: "t2", conversation: true } },
    ]);
    await turn(host, "t4");
    expect(await host.finish()).toBe(0);
    const past = ["user: do t1", "calls: Read Write", "results: ok ok", "assistant: First.", "user: do t4", "assistant: Fourth."];
    expect(conversation(await stored(home))).toEqual(past);
  });

  it("is told before it is done: a preview names files and lines, and changes nothing", async () => {
    const { host, cwd } = await running(FILES, [...THREE, { expect: { messages: 15 }, say: "Fourth." }]);
    for (const id of ["t1", "t2", "t3"]) await turn(host, id);
    const preview = await rewind(host, "t2", { preview: true });
    expect(preview).toMatchObject({ left: [], stat: { added: 3, removed: 3 } });
    expect(preview.files.toSorted()).toEqual([...NAMES]);
    expect(await rewind(host, "t2", { conversation: true, preview: true })).toEqual({ files: [], left: [] });
    expect(contents(cwd, ...NAMES)).toEqual(BEHIND_THIRD);
    expect(host.ofType("notice").filter(({ kind }) => kind === "rewind")).toEqual([]);
    await turn(host, "t4");
    expect(await host.finish()).toBe(0);
  });

  it("of the files alone leaves the conversation, and the model hears of it", async () => {
    const { host, cwd } = await running(FILES, [...THREE, { expect: { messages: 16 }, say: "Fourth." }]);
    for (const id of ["t1", "t2", "t3"]) await turn(host, id);
    expect(await rewind(host, "t2", { files: true })).toMatchObject({ left: [] });
    expect(contents(cwd, ...NAMES)).toEqual(BEFORE_SECOND);
    expect(await turn(host, "t4")).toMatchObject({ outcome: "completed" });
    expect(await host.finish()).toBe(0);
  });

  it("of the conversation alone leaves the files, and a later one that goes further back takes them along", async () => {
    const { host, cwd } = await running(FILES, [...THREE, { expect: { messages: 5 }, say: "Fourth." }]);
    for (const id of ["t1", "t2", "t3"]) await turn(host, id);
    expect(await rewind(host, "t2", { conversation: true })).toEqual({ files: [], left: [] });
    expect(contents(cwd, ...NAMES)).toEqual(BEHIND_THIRD);
    expect(await turn(host, "t4")).toMatchObject({ outcome: "completed" });
    const { files, left } = await rewind(host, "t1");
    expect([files.toSorted(), left]).toEqual([[...NAMES], []]);
    expect(contents(cwd, ...NAMES)).toEqual({ ...BEFORE_SECOND, "b.txt": null });
    expect(await host.finish()).toBe(0);
  });

  it("is done again without harm, also behind new turns", async () => {
    const { host, cwd } = await running({ "a.txt": "0" }, [...one("a.txt", "1"), ...one("a.txt", "2"), ...one("a.txt", "3")]);
    await turn(host, "t1");
    await turn(host, "t2");
    expect(await rewind(host, "t2", { files: true })).toEqual({ files: ["a.txt"], left: [] });
    expect(await rewind(host, "t2", { files: true })).toEqual({ files: [], left: [] });
    expect(await rewind(host, "t2")).toEqual({ files: [], left: [] });
    expect(contents(cwd, "a.txt")).toEqual({ "a.txt": "1" });
    await turn(host, "t3");
    expect(contents(cwd, "a.txt")).toEqual({ "a.txt": "3" });
    expect(await rewind(host, "t3")).toEqual({ files: ["a.txt"], left: [] });
    expect(await rewind(host, "t1")).toEqual({ files: ["a.txt"], left: [] });
    expect(contents(cwd, "a.txt")).toEqual({ "a.txt": "0" });
    expect(await host.finish()).toBe(0);
  });

  it.each([
    ["a turn that there never was", "t9", {}, /no turn 't9'/],
    ["a turn that was undone", "t1", {}, /no turn 't1' in this session, or it was undone already/],
    ["neither files nor conversation", "t0", { files: false, conversation: false }, /files, the conversation, or both/],
  ])("is refused for %s", async (_, id, more, said) => {
    const { host } = await running({}, [...one("a", "a"), ...one("b", "b")]);
    await turn(host, "t0");
    await turn(host, "t1");
    await rewind(host, "t1");
    expect(await tryRewind(host, id, more)).toMatchObject({ status: "error", fault: { message: expect.stringMatching(said) } });
    expect(await host.finish()).toBe(0);
  });

  it("is refused while a turn runs, and a prompt right behind one waits for it", async () => {
    const { host, cwd } = await running({}, [
      ...one("a.txt", "1"),
      { steps: [{ wait: "forever" }] },
      { expect: { messages: 1 }, say: "Anew." },
    ]);
    await turn(host, "t1");
    host.prompt("go", { turn: "t2" });
    await host.next("turn.started", (event) => event.turn === "t2");
    expect(await tryRewind(host, "t1")).toMatchObject({
      status: "error",
      fault: { code: "session", retryable: true, message: expect.stringMatching(/A turn runs or waits: interrupt it/) },
    });
    host.send({ type: "turn.interrupt", session: "s" });
    await host.turnEnded(2);
    host.send({ type: "session.rewind", session: "s", turn: "t1" });
    host.prompt("Begin.", { turn: "t3" });
    expect(await host.next("turn.ended", (event) => event.turn === "t3")).toMatchObject({ outcome: "completed" });
    expect(contents(cwd, "a.txt")).toEqual({ "a.txt": null });
    expect(await host.finish()).toBe(0);
  });

  it("is refused where nothing is kept, or no files are", async () => {
    const none = await running({}, one("a", "a"), {}, { args: ["--no-session"] });
    await turn(none.host, "t1");
    expect(await tryRewind(none.host, "t1")).toMatchObject({ status: "error", fault: { message: expect.stringMatching(/is not kept/) } });
    const bare = await running({}, one("a", "a"), {}, { home: { "config.yaml": "sessions: { undoMiB: 0 }" } });
    await turn(bare.host, "t1");
    expect(await tryRewind(bare.host, "t1")).toMatchObject({ status: "error", fault: { message: expect.stringMatching(/undoMiB is 0/) } });
    expect(existsSync(join(bare.home, "sessions/s/files"))).toBe(false);
    expect(await rewind(bare.host, "t1", { conversation: true })).toEqual({ files: [], left: [] });
  });
});

describe("a file that others changed", () => {
  it("stays as it is and is named, unless the host insists", async () => {
    const { host, cwd } = await running({ "a.txt": "0", "b.txt": "0" }, [
      { calls: [write("a.txt", "1"), write("b.txt", "1"), write("c.txt", "1")] },
      { say: "Done." },
    ]);
    await turn(host, "t1");
    writeFileSync(join(cwd, "a.txt"), "mine");
    rmSync(join(cwd, "b.txt"));
    writeFileSync(join(cwd, "c.txt"), "mine");
    const first = await rewind(host, "t1", { files: true });
    expect(first).toEqual({
      files: [],
      left: ["a.txt", "b.txt", "c.txt"],
      why: expect.objectContaining({ "a.txt": expect.stringMatching(/changed since/) }),
    });
    expect(contents(cwd, "a.txt", "b.txt", "c.txt")).toEqual({ "a.txt": "mine", "b.txt": null, "c.txt": "mine" });
    const { files, left } = await rewind(host, "t1", { force: true });
    expect([files.toSorted(), left]).toEqual([["a.txt", "b.txt", "c.txt"], []]);
    expect(contents(cwd, "a.txt", "b.txt", "c.txt")).toEqual({ "a.txt": "0", "b.txt": "0", "c.txt": null });
    expect(await host.finish()).toBe(0);
  });

  it("between two turns is named, too, although a turn went on from there; a later turn alone goes back to their words", async () => {
    const { host, cwd } = await running({ "a.txt": "0" }, [...one("a.txt", "1"), { call: read("a.txt") }, ...one("a.txt", "3")]);
    await turn(host, "t1");
    writeFileSync(join(cwd, "a.txt"), "mine");
    await turn(host, "t2");
    expect(await rewind(host, "t1", { files: true })).toMatchObject({ files: [], left: ["a.txt"] });
    expect(await rewind(host, "t2", { files: true })).toEqual({ files: ["a.txt"], left: [] });
    expect(contents(cwd, "a.txt")).toEqual({ "a.txt": "mine" });
    expect(await host.finish()).toBe(0);
  });

  it("is as it was before by then: there is nothing to do", async () => {
    const { host, cwd } = await running({ "a.txt": "0" }, one("a.txt", "1"));
    await turn(host, "t1");
    writeFileSync(join(cwd, "a.txt"), "0");
    expect(await rewind(host, "t1")).toEqual({ files: [], left: [] });
  });
});

describe("commands", () => {
  it("are covered where a file tool changed the file before them in the turn, and named where not", async () => {
    const { host, cwd } = await running({ "a.txt": "0", "b.txt": "0", "c.txt": "0" }, [
      { calls: [write("a.txt", "1"), write("b.txt", "1"), write("new.txt", "1")] },
      { call: bash("echo formatted > a.txt; rm b.txt; echo formatted > c.txt; mv new.txt moved.txt") },
      { call: write("c.txt", "3") },
      { say: "Done." },
      { call: bash("echo again > a.txt") },
      { say: "Done." },
    ]);
    await turn(host, "t1");
    expect(await rewind(host, "t1", { files: true })).toEqual({ files: expect.arrayContaining(["a.txt", "b.txt", "c.txt"]), left: [] });
    expect(contents(cwd, "a.txt", "b.txt", "c.txt", "new.txt")).toEqual({
      "a.txt": "0",
      "b.txt": "0",
      "c.txt": "formatted\n",
      "new.txt": null,
    });
    expect(existsSync(join(cwd, "moved.txt"))).toBe(true);
    await turn(host, "t2");
    expect(await rewind(host, "t1", { files: true })).toMatchObject({ files: [], left: ["a.txt"] });
    expect(await host.finish()).toBe(0);
  });
});

describe("a file", () => {
  it("that moved comes back with its mode and its bytes, whatever they are", async () => {
    const { host, cwd } = await running({ "tool.sh": "echo 1\n", "secret.txt": "s\n" }, [
      { calls: [read("tool.sh"), read("secret.txt")] },
      {
        call: patch(
          "*** Update File: tool.sh",
          "*** Move to: bin/tool.sh",
          "@@",
          "-echo 1",
          "+echo 2",
          "*** Delete File: secret.txt",
          "*** Delete File: raw.bin",
        ),
      },
      { say: "Done." },
    ]);
    const raw = Buffer.from([0, 255, 1, 254, 13, 10]);
    writeFileSync(join(cwd, "raw.bin"), raw);
    chmodSync(join(cwd, "tool.sh"), 0o755);
    chmodSync(join(cwd, "secret.txt"), 0o600);
    await turn(host, "t1");
    expect(contents(cwd, "bin/tool.sh", "tool.sh", "secret.txt", "raw.bin")).toEqual({
      "bin/tool.sh": "echo 2\n",
      "tool.sh": null,
      "secret.txt": null,
      "raw.bin": null,
    });
    const { left } = await rewind(host, "t1");
    expect(left).toEqual([]);
    expect(contents(cwd, "bin/tool.sh", "tool.sh", "secret.txt")).toEqual({
      "bin/tool.sh": null,
      "tool.sh": "echo 1\n",
      "secret.txt": "s\n",
    });
    expect(readFileSync(join(cwd, "raw.bin")).equals(raw)).toBe(true);
    expect(["tool.sh", "secret.txt"].map((name) => statSync(join(cwd, name)).mode & 0o777)).toEqual([0o755, 0o600]);
    expect(await host.finish()).toBe(0);
  });

  it("of a sub-agent belongs to the turn", async () => {
    const spawn = { tool: "Spawn", args: { tasks: [{ name: "w", prompt: "write" }] }, id: "sp" };
    const { host, cwd } = await running({ "a.txt": "0" }, [
      { call: spawn },
      { call: write("a.txt", "1") },
      { say: "Sub." },
      { say: "Done." },
    ]);
    await turn(host, "t1");
    expect(contents(cwd, "a.txt")).toEqual({ "a.txt": "1" });
    expect(await rewind(host, "t1")).toEqual({ files: ["a.txt"], left: [] });
    expect(contents(cwd, "a.txt")).toEqual({ "a.txt": "0" });
    expect(await host.finish()).toBe(0);
  });

  it("that the host writes itself goes back through the host, outside any turn", async () => {
    const { host, cwd } = await running({ "a.txt": "0" }, one("a.txt", "1"), { workspace: { write: "host" } });
    const asked: string[] = [];
    const write = async (nth: number): Promise<void> => {
      const { request, data, turn: of } = await host.next("host.request", (event) => host.ofType("host.request").indexOf(event) === nth);
      const { path, content } = v.parse(v.object({ path: v.string(), content: v.string() }), data);
      asked.push(`${of ?? "no turn"}: ${content}`);
      writeFileSync(path, content);
      host.send({ type: "host.answer", session: "s", request, ok: true, data: {} });
    };
    await Promise.all([turn(host, "t1"), write(0)]);
    const [reply] = await Promise.all([rewind(host, "t1"), write(1)]);
    expect(reply).toEqual({ files: ["a.txt"], left: [] });
    expect(asked).toEqual(["t1: 1", "no turn: 0"]);
    expect(contents(cwd, "a.txt")).toEqual({ "a.txt": "0" });
    expect(await host.finish()).toBe(0);
  });

  it("is not put back through a link that has come up on its path", async () => {
    const outside = scratch({ "a.txt": "theirs" });
    const { host, cwd } = await running({}, [{ calls: [write("sub/a.txt", "1"), write("b.txt", "1")] }, { say: "Done." }]);
    mkdirSync(join(cwd, "sub"));
    writeFileSync(join(cwd, "sub/a.txt"), "0");
    writeFileSync(join(cwd, "b.txt"), "0");
    await turn(host, "t1");
    renameSync(join(cwd, "sub"), join(cwd, "away"));
    symlinkSync(outside, join(cwd, "sub"));
    rmSync(join(cwd, "b.txt"));
    symlinkSync(join(outside, "a.txt"), join(cwd, "b.txt"));
    expect(await rewind(host, "t1", { force: true })).toMatchObject({ files: [], left: ["b.txt", "sub/a.txt"] });
    expect(contents(outside, "a.txt")).toEqual({ "a.txt": "theirs" });
    expect(await host.finish()).toBe(0);
  });

  it("that is asked about stays unless the host insists; one that is denied, or decides about Parley itself, stays in any case", async () => {
    const { host, cwd } = await running({ "AGENTS.md": "0", "kept.txt": "0" }, [
      { calls: [write("AGENTS.md", "1"), write(".parley/config.yaml", "a: 1"), write("kept.txt", "1"), write("a.txt", "1")] },
      { say: "Done." },
    ]);
    host.prompt("go", { turn: "t1" });
    const { calls } = await host.next("approval.requested");
    for (const { id } of calls) host.allow(id);
    await host.turnEnded();
    host.send({ type: "session.configure", session: "s", patch: { rules: [{ deny: "Edit(kept.txt)" }] } });
    const first = await rewind(host, "t1", { files: true });
    expect([first.files, first.left.toSorted()]).toEqual([["a.txt"], [".parley/config.yaml", "AGENTS.md", "kept.txt"]]);
    expect(first.why).toMatchObject({
      "AGENTS.md": expect.stringMatching(/decides what is run/),
      "kept.txt": expect.stringMatching(/denied by the rule/),
    });
    const second = await rewind(host, "t1", { files: true, force: true });
    expect([second.files, second.left.toSorted()]).toEqual([["AGENTS.md"], [".parley/config.yaml", "kept.txt"]]);
    expect(contents(cwd, "AGENTS.md", "kept.txt", "a.txt")).toEqual({ "AGENTS.md": "0", "kept.txt": "1", "a.txt": null });
    expect(await host.finish()).toBe(0);
  });
});

describe("copies of files", () => {
  it("are readable by the user alone, and go with the session", async () => {
    const { host, home, cwd } = await running({ "a.txt": "a secret" }, one("a.txt", "1"));
    chmodSync(join(cwd, "a.txt"), 0o644);
    await turn(host, "t1");
    const folder = join(home, "sessions/s/files");
    const [name = ""] = readdirSync(folder);
    expect(readFileSync(join(folder, name), "utf8")).toBe("a secret");
    expect([statSync(folder).mode & 0o777, statSync(join(folder, name)).mode & 0o777]).toEqual([0o700, 0o600]);
    expect(existsSync(join(cwd, ".git"))).toBe(false);
    expect(await host.finish()).toBe(0);
    expect(await run(["sessions", "rm", "s"], { env: { PARLEY_HOME: home } })).toMatchObject({ code: 0 });
    expect(readdirSync(join(home, "sessions"))).toEqual([]);
  });

  it("have a bound: the oldest go, and a rewind names what it cannot bring back", async () => {
    // Not text, so that no diff of it fills the model's window.
    const half = `\0${"x".repeat(600 * 1024)}`;
    const { host, home, cwd } = await running(
      { "a.txt": `a${half}`, "b.txt": `b${half}`, "huge.txt": half + half },
      [...one("a.txt", "1"), ...one("b.txt", "1"), ...one("huge.txt", "1")],
      {},
      { home: { "config.yaml": "sessions: { undoMiB: 1 }" } },
    );
    for (const id of ["t1", "t2", "t3"]) await turn(host, id);
    expect(readdirSync(join(home, "sessions/s/files"))).toHaveLength(1);
    expect(host.ofType("notice").filter(({ kind }) => kind === "undo")).toMatchObject([
      { level: "warning", turn: "t3", text: expect.stringMatching(/^huge\.txt is changed without a copy, .*1 MiB/) },
    ]);
    expect(await rewind(host, "t1")).toMatchObject({ files: ["b.txt"], left: ["a.txt", "huge.txt"] });
    expect(contents(cwd, "a.txt", "b.txt")).toEqual({ "a.txt": "1", "b.txt": `b${half}` });
    expect(await host.finish()).toBe(0);
  });

  it("of a file that is too large are not made, which is told once a turn", async () => {
    const { host, cwd } = await running({ "small.txt": "0" }, [
      { calls: [write("large.bin", "1"), write("small.txt", "1")] },
      { call: write("large.bin", "2") },
      { say: "Done." },
    ]);
    writeFileSync(join(cwd, "large.bin"), Buffer.alloc(21 * 1024 * 1024));
    await turn(host, "t1");
    expect(contents(cwd, "large.bin")).toEqual({ "large.bin": "2" });
    expect(host.ofType("notice").filter(({ kind }) => kind === "undo")).toMatchObject([
      { text: expect.stringMatching(/^large\.bin .*too large/) },
    ]);
    expect(await rewind(host, "t1", { force: true })).toMatchObject({ files: ["small.txt"], left: ["large.bin"] });
  });

  it("that were damaged are not used", async () => {
    const { host, home, cwd } = await running({ "a.txt": "0" }, one("a.txt", "1"));
    await turn(host, "t1");
    const folder = join(home, "sessions/s/files");
    for (const name of readdirSync(folder)) writeFileSync(join(folder, name), "something else");
    expect(await rewind(host, "t1", { force: true })).toMatchObject({ files: [], left: ["a.txt"] });
    expect(contents(cwd, "a.txt")).toEqual({ "a.txt": "1" });
  });
});
