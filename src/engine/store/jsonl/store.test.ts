import { execFileSync } from "node:child_process";
import {
  copyFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Redactor } from "../../../core/secrets/redact.js";
import { scratch, until } from "../../../../test/support/processes.js";
import type { Message } from "../../models/model.js";
import { folderName } from "./folder-name.js";
import { jsonlStore } from "./store.js";
import { all, open, create, kept, said, bigMessages, padding, asked, line } from "../../../../test/support/jsonl-store.js";

const SECRET = "sk-very-secret-value";

describe("ids", () => {
  const odd = [
    "a/b",
    "../../etc/passwd",
    "..",
    ".",
    "…",
    "CON",
    "a\0b",
    "a\nb",
    "%2e%2e",
    "~",
    "日".repeat(42),
    "/".repeat(128),
    "x".repeat(128),
  ];

  test.each(odd)("%j is kept, listed, resumed and removed, and nothing leaves the folder", async (id) => {
    const home = scratch();
    const store = open(home);
    await (await create(store, id)).close();
    expect((await store.list()).map((session) => session.id)).toEqual([id]);
    expect(readdirSync(home)).toEqual(["sessions"]);
    expect(readdirSync(join(home, "sessions"))).toHaveLength(1);
    const { session, log } = await store.open(id);
    expect(session.id).toBe(id);
    await log.close();
    await store.remove(id);
    expect(await store.list()).toEqual([]);
    expect(readdirSync(join(home, "sessions"))).toEqual([]);
  });

  test.each([
    ["", "1 to 128 bytes, not 0"],
    ["x".repeat(129), "not 129"],
    ["日".repeat(43), "not 129"],
    ["\ud800", "not valid Unicode"],
    ["latest", "no session can have that id"],
  ])("%j is refused", async (id, why) => {
    const store = open(scratch());
    await expect(create(store, id)).rejects.toThrow(why);
    await expect(store.open(id)).rejects.toThrow(why);
  });

  test("different ids have different folders, whose names are safe", () => {
    const id = fc
      .oneof(fc.string({ minLength: 1, maxLength: 40, unit: "binary" }), fc.constantFrom(...odd))
      .filter((text) => text.isWellFormed() && Buffer.byteLength(text) <= 128);
    fc.assert(
      fc.property(id, id, (one, other) => {
        expect(folderName(one) === folderName(other)).toBe(one === other);
        expect(folderName(one)).toMatch(/^[\w%~-]{1,200}$/);
      }),
    );
  });
});

describe("a new session", () => {
  test("a new session is readable by the user alone", async () => {
    const home = join(scratch(), "not", "yet");
    const log = await create(open(home), "s");
    await log.settle(() => kept(bigMessages()));
    const folder = join(home, "sessions", "s");
    for (const path of [home, join(home, "sessions"), folder]) expect(statSync(path).mode & 0o777).toBe(0o700);
    log.append(padding());
    await log.settle(() => kept(bigMessages()));
    for (const name of readdirSync(folder)) expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder).sort()).toEqual(["lock", "log.jsonl", "snapshot.json"]);
    await log.close();
    expect(readdirSync(folder).sort()).toEqual(["log.jsonl", "snapshot.json"]);
  });

  test("a new session with the id of another is refused, and the other stays", async () => {
    const store = open(scratch());
    const log = await create(store, "s");
    await expect(create(store, "s")).rejects.toThrow("Session ID 's' already exists");
    await log.close();
    await expect(create(store, "s")).rejects.toThrow("Session ID 's' already exists");
    expect((await store.open("s")).session.id).toBe("s");
  });

  test("a new session replaces one with an empty log", async () => {
    const home = scratch();
    mkdirSync(join(home, "sessions", "s"), { recursive: true });
    writeFileSync(join(home, "sessions", "s", "log.jsonl"), "");
    await (await create(open(home), "s")).close();
    expect((await open(home).list())[0]?.id).toBe("s");
  });

  test("two simultaneous requests create one session", async () => {
    const home = scratch();
    const attempt = async (id: string) => (await create(open(home), id)).close();
    for (let round = 0; round < 50; round++) {
      const id = `s${round}`;
      const results = await Promise.allSettled(Array.from({ length: 5 }, () => attempt(id)));
      expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
      expect(readFileSync(join(home, "sessions", id, "log.jsonl"), "utf8").split("\n")).toHaveLength(2);
    }
  });

  test("a new session on a full disk leaves neither lock nor log behind", async () => {
    const home = scratch();
    const folder = join(home, "sessions", "s");
    mkdirSync(folder, { recursive: true });
    symlinkSync("/dev/full", join(folder, "log.jsonl"));
    await expect(create(open(home), "s")).rejects.toThrow(/ENOSPC/);
    expect(readdirSync(join(home, "sessions"))).toEqual([]);
  });

  test("a new session fails at once if its folder cannot be made", async () => {
    await expect(create(open("/proc/parley"), "s")).rejects.toThrow(/ENOENT|EACCES/);
    const file = join(scratch(), "file");
    writeFileSync(file, "");
    await expect(create(open(file), "s")).rejects.toThrow(/ENOTDIR/);
  });
});

describe("a stored session", () => {
  test("a session in use is refused, and neither removed nor pruned", async () => {
    const home = scratch();
    const store = jsonlStore(home, { keep: 1, redact: (value) => value });
    const log = await create(store, "busy");
    await expect(store.open("busy")).rejects.toThrow(`Session 'busy' is in use by process ${process.pid}`);
    await expect(store.remove("busy")).rejects.toThrow("in use");
    await (await create(store, "other")).close();
    await (await create(store, "last")).close();
    await until(() => readdirSync(join(home, "sessions")).length === 2, "the pruning");
    expect((await store.list()).map(({ id }) => id).sort()).toEqual(["busy", "last"]);
    await log.close();
  });

  test("a missing session is reported", async () => {
    const store = open(scratch());
    await expect(store.open("x")).rejects.toThrow("Session 'x' not found");
    await expect(all(store.events("x"))).rejects.toThrow("Session 'x' not found");
    await expect(store.remove("x")).rejects.toThrow("Session 'x' not found");
    expect(await store.list()).toEqual([]);
  });

  test("a session whose log begins with rubbish is reported and can be removed", async () => {
    const home = scratch();
    mkdirSync(join(home, "sessions", "s"), { recursive: true });
    writeFileSync(join(home, "sessions", "s", "log.jsonl"), "rubbish\n");
    await expect(open(home).open("s")).rejects.toThrow("'parley sessions rm s' removes it");
    await open(home).remove("s");
    expect(readdirSync(join(home, "sessions"))).toEqual([]);
  });

  test("a stored session moves with its home", async () => {
    const [home, moved] = [scratch(), join(scratch(), "moved")];
    const log = await create(open(home), "s");
    log.append({ kind: "message", message: { role: "user", parts: [] } });
    await log.close();
    mkdirSync(join(moved, "sessions", "s"), { recursive: true });
    copyFileSync(join(home, "sessions", "s", "log.jsonl"), join(moved, "sessions", "s", "log.jsonl"));
    expect((await open(moved).open("s")).session.messages).toEqual([{ role: "user", parts: [] }]);
  });

  test("a session in a read-only home is refused, and stays unchanged", async () => {
    const home = scratch();
    await (await create(open(home), "s")).close();
    // Permissions mean nothing to a test that runs as root; a lock that cannot be one does.
    const folder = join(home, "sessions", "s");
    const log = readFileSync(join(folder, "log.jsonl"));
    mkdirSync(join(folder, "lock"));
    await expect(open(home).open("s")).rejects.toThrow("EISDIR");
    expect(readFileSync(join(folder, "log.jsonl"))).toEqual(log);
  });
});

test("pruning keeps so many, takes the oldest, and clears away what others left behind", async () => {
  const home = scratch();
  const root = join(home, "sessions");
  const store = jsonlStore(home, { keep: 3, redact: (value) => value });
  for (const id of ["a", "b", "c", "d"]) {
    await (await create(open(home), id)).close();
    utimesSync(join(root, id, "log.jsonl"), new Date(), new Date(2026, 0, id.charCodeAt(0) - 90));
  }
  mkdirSync(join(root, ".removed-X"));
  mkdirSync(join(root, "young"));
  mkdirSync(join(root, "abandoned"));
  utimesSync(join(root, "abandoned"), new Date(), new Date(2026, 0, 1));
  await (await create(store, "new")).close();
  const left = (): string => readdirSync(root).sort().join(" ");
  await until(
    () => left() === "c d new young",
    () => `the pruning; left are ${left()}`,
  );
});

test("pruning waits until there are a tenth too many, and leaves alone what is no session", async () => {
  const home = scratch();
  const root = join(home, "sessions");
  const store = jsonlStore(home, { keep: 20, redact: (value) => value });
  mkdirSync(join(root, "rubbish"), { recursive: true });
  writeFileSync(join(root, "rubbish", "log.jsonl"), "rubbish\n");
  utimesSync(join(root, "rubbish", "log.jsonl"), new Date(), new Date(2019, 0, 1));
  const next = async (number: number): Promise<void> => {
    await (await create(store, `s${number}`)).close();
    utimesSync(join(root, `s${number}`, "log.jsonl"), new Date(), new Date(2020, 1, number));
  };
  for (let number = 1; number <= 21; number++) await next(number);
  expect(readdirSync(root)).toHaveLength(22);
  await next(22);
  await until(
    () => readdirSync(root).length === 21,
    () => `the pruning; left are ${readdirSync(root).length}`,
  );
  expect(readdirSync(root).sort()).toEqual(["rubbish", ...Array.from({ length: 20 }, (_, index) => `s${index + 3}`)].sort());
});

test("when many are too many, they go little by little, without another session being opened", async () => {
  const home = scratch();
  const root = join(home, "sessions");
  for (let number = 0; number < 200; number++) {
    mkdirSync(join(root, `old${number}`), { recursive: true });
    writeFileSync(join(root, `old${number}`, "log.jsonl"), line({ kind: "opened", at: 1, id: `old${number}`, cwd: "/w", config: {} }));
  }
  const log = await create(jsonlStore(home, { keep: 1, redact: (value) => value }), "new");
  await until(
    () => readdirSync(root).length === 1,
    () => `the pruning; left are ${readdirSync(root).length}`,
  );
  expect(readdirSync(root)).toEqual(["new"]);
  await log.close();
});

test("a folder that was copied by hand is a session of its own, under its own name: neither is taken for the other", async () => {
  const home = scratch();
  const root = join(home, "sessions");
  const log = await create(open(home), "a");
  log.append(asked("hello"));
  await log.close();
  for (const name of ["b%2Fc", "a copy"]) cpSync(join(root, "a"), join(root, name), { recursive: true });
  utimesSync(join(root, "b%2Fc", "log.jsonl"), new Date(), new Date(2026, 0, 1));
  expect((await open(home).list()).map(({ id }) => id)).toEqual(["a", "b/c"]);
  const { session, log: copy } = await open(home).open("b/c");
  expect(session).toMatchObject({ id: "b/c", cwd: "/w" });
  await copy.close();
  // The older one is the copy, so that it goes.
  await (await create(jsonlStore(home, { keep: 2, redact: (value) => value }), "new")).close();
  await until(
    () => readdirSync(root).length < 4,
    () => `the pruning; left are ${readdirSync(root).join(" ")}`,
  );
  expect(readdirSync(root).sort()).toEqual(["a", "a copy", "new"]);
});

test("secrets are in neither log nor snapshot", async () => {
  const home = scratch();
  const redactor = new Redactor([SECRET]);
  const store = jsonlStore(home, { keep: 9, redact: (value) => redactor.value(value) });
  const log = await store.create({ id: "s", cwd: "/w", name: undefined, config: { system: `the key is ${SECRET}` } });
  const messages: Message[] = [
    said(`my key: ${SECRET}`),
    { role: "assistant", blocks: [{ type: "call", call: { id: "c", name: "Bash", args: { [SECRET]: SECRET } }, meta: { key: SECRET } }] },
    { role: "tool", results: [{ call: "c", name: "Bash", parts: [{ type: "json", data: { key: SECRET } }], failed: false }] },
    ...bigMessages(),
  ];
  for (const message of messages) log.append({ kind: "message", message });
  log.append({ kind: "steered", parts: [{ type: "text", text: SECRET }] });
  log.append({ kind: "partial", turn: "t", block: "text", text: SECRET });
  await log.settle(() => kept(messages));
  await log.close();
  const folder = join(home, "sessions", "s");
  expect(readdirSync(folder).sort()).toEqual(["log.jsonl", "snapshot.json"]);
  for (const name of readdirSync(folder)) expect(readFileSync(join(folder, name), "utf8")).not.toContain(SECRET);
});

describe("the list", () => {
  test("is told from the beginnings of three hundred logs, however long they are", async () => {
    const home = scratch();
    for (let number = 0; number < 300; number++) {
      const folder = join(home, "sessions", `s${number}`);
      mkdirSync(folder, { recursive: true });
      const file = join(folder, "log.jsonl");
      writeFileSync(
        file,
        `${line({ kind: "opened", at: number, id: `s${number}`, cwd: "/w", config: {} })}${line(asked(`prompt ${number}`))}`,
      );
      // Gigabytes of nothing: whoever reads them does not come back.
      truncateSync(file, 2 ** 34);
      utimesSync(file, new Date(), new Date(1_700_000_000_000 + number * 1000));
    }
    const sessions = await open(home).list();
    expect(sessions.map(({ id }) => id)).toEqual(Array.from({ length: 300 }, (_, index) => `s${299 - index}`));
    expect(sessions[0]).toEqual({
      id: "s299",
      cwd: "/w",
      name: undefined,
      createdAt: 299,
      usedAt: 1_700_000_299_000,
      firstPrompt: "prompt 299",
    });
  });

  test("knows sessions with long settings and long first prompts", async () => {
    const home = scratch();
    const log = await open(home).create({ id: "s", cwd: "/w", name: "n", config: { system: "x".repeat(300_000) } });
    expect((await open(home).list())[0]).toMatchObject({ id: "s", firstPrompt: undefined });
    log.append(asked(`hello ${"y".repeat(5_000_000)}`));
    log.flush();
    expect((await open(home).list())[0]?.firstPrompt).toMatch(/^hello y{74}$/);
    await log.close();
  });

  test("passes over what is no session", async () => {
    const home = scratch();
    await (await create(open(home), "s")).close();
    mkdirSync(join(home, "sessions", "empty"));
    writeFileSync(join(home, "sessions", "file"), "");
    mkdirSync(join(home, "sessions", "rubbish"));
    writeFileSync(join(home, "sessions", "rubbish", "log.jsonl"), "\0\0\0\0");
    // A reader that waits until somebody writes there does not come back.
    mkdirSync(join(home, "sessions", "pipe"));
    execFileSync("mkfifo", [join(home, "sessions", "pipe", "log.jsonl")]);
    expect((await open(home).list()).map(({ id }) => id)).toEqual(["s"]);
  });

  test("gives the one last used in a folder", async () => {
    const home = scratch();
    for (const [id, cwd, day] of [
      ["a", "/w", 1],
      ["b", "/w", 3],
      ["c", "/other", 5],
    ] as const) {
      await (await open(home).create({ id, cwd, name: undefined, config: {} })).close();
      utimesSync(join(home, "sessions", id, "log.jsonl"), new Date(), new Date(2026, 0, day));
    }
    expect(await open(home).latest("/w")).toBe("b");
    expect(await open(home).latest("/nowhere")).toBeUndefined();
  });
});

test("events come back as they were told, without marks of a stream that is not there", async () => {
  const store = open(scratch());
  const log = await create(store, "s");
  log.append({ kind: "event", event: { type: "text.done", text: "hi", streamed: true, turn: "t", seq: 4, at: 5, parent: "op" } });
  log.flush();
  expect(await all(store.events("s"))).toEqual([{ type: "text.done", text: "hi", turn: "t", seq: 4, at: 5, parent: "op" }]);
  await log.close();
});
