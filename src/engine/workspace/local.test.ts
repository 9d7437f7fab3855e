import { execFileSync } from "node:child_process";
import {
  chownSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { localWorkspace } from "./local.js";
import { isAlive, tempFolder, until } from "../tools/testing.js";
import type { Workspace } from "./workspace.js";

const ENV = { PATH: process.env["PATH"] ?? "/usr/bin:/bin" };

async function workspaceIn(folder: string): Promise<Workspace> {
  return localWorkspace(folder, { env: ENV });
}

describe("resolve", () => {
  test("relative to the root, which is real", async () => {
    const folder = await tempFolder();
    mkdirSync(join(folder, "real"));
    symlinkSync("real", join(folder, "link"));
    const workspace = await workspaceIn(join(folder, "link"));
    const root = realpathSync(join(folder, "real"));
    expect(workspace.root).toBe(root);
    expect(await workspace.resolve("a/b.txt")).toEqual({ path: join(root, "a/b.txt"), named: join(root, "a/b.txt"), inside: true });
    expect(await workspace.resolve(".")).toEqual({ path: root, named: root, inside: true });
    expect(await workspace.resolve("")).toEqual({ path: root, named: root, inside: true });
    expect(await workspace.resolve(join(folder, "link/x"))).toEqual({ path: join(root, "x"), named: join(folder, "link/x"), inside: true });
  });

  test("a sibling with the same beginning is outside", async () => {
    const folder = realpathSync(await tempFolder());
    mkdirSync(join(folder, "work"));
    const workspace = await workspaceIn(join(folder, "work"));
    expect(await workspace.resolve("../workshop")).toEqual({
      path: join(folder, "workshop"),
      named: join(folder, "workshop"),
      inside: false,
    });
    expect(await workspace.resolve("..")).toEqual({ path: folder, named: folder, inside: false });
    expect(await workspace.resolve("missing/../../etc")).toEqual({ path: join(folder, "etc"), named: join(folder, "etc"), inside: false });
  });

  test("the home", async () => {
    const workspace = await workspaceIn(await tempFolder());
    expect((await workspace.resolve("~/x-not-there/y")).path).toBe(join(realpathSync(homedir()), "x-not-there/y"));
    expect((await workspace.resolve("~")).path).toBe(realpathSync(homedir()));
    expect((await workspace.resolve("a~/b")).inside).toBe(true);
  });

  test("links out of the workspace lead outside, dangling ones too", async () => {
    const folder = realpathSync(await tempFolder());
    mkdirSync(join(folder, "work/deep"), { recursive: true });
    mkdirSync(join(folder, "other/sub"), { recursive: true });
    symlinkSync("../other", join(folder, "work/out"));
    symlinkSync(join(folder, "nowhere/file"), join(folder, "work/dangling"));
    symlinkSync("../other/sub", join(folder, "work/sub"));
    symlinkSync("deep", join(folder, "work/in"));
    const workspace = await workspaceIn(join(folder, "work"));
    expect(await workspace.resolve("out/new.txt")).toEqual({
      path: join(folder, "other/new.txt"),
      named: join(folder, "work/out/new.txt"),
      inside: false,
    });
    expect(await workspace.resolve("dangling")).toEqual({
      path: join(folder, "nowhere/file"),
      named: join(folder, "work/dangling"),
      inside: false,
    });
    expect(await workspace.resolve("dangling/below")).toEqual({
      path: join(folder, "nowhere/file/below"),
      named: join(folder, "work/dangling/below"),
      inside: false,
    });
    expect(await workspace.resolve("in/x")).toEqual({ path: join(folder, "work/deep/x"), named: join(folder, "work/in/x"), inside: true });
    // As the system has it: `..` of a link is the parent of where it leads.
    expect(await workspace.resolve("sub/../x")).toEqual({ path: join(folder, "other/x"), named: join(folder, "work/x"), inside: false });
    expect(await workspace.resolve(join(folder, "work/in/../x"))).toEqual({
      path: join(folder, "work/x"),
      named: join(folder, "work/x"),
      inside: true,
    });
  });

  test("a circle of links, a NUL byte and a path without end are refused", async () => {
    const folder = await tempFolder();
    symlinkSync("b", join(folder, "a"));
    symlinkSync("a", join(folder, "b"));
    const workspace = await workspaceIn(folder);
    await expect(workspace.resolve("a/x")).rejects.toThrow(/too many symbolic links/);
    await expect(workspace.resolve("a\0b")).rejects.toThrow(/NUL byte/);
    await expect(workspace.resolve("a/".repeat(100_000))).rejects.toThrow("A path of 200000 characters is longer than any system takes");
  });

  test("the root of the system as a workspace", async () => {
    const workspace = await workspaceIn("/");
    expect(await workspace.resolve("etc-not-there")).toEqual({ path: "/etc-not-there", named: "/etc-not-there", inside: true });
  });

  test("law: for what exists, the same as realpath", async () => {
    const folder = realpathSync(await tempFolder());
    mkdirSync(join(folder, "a/b"), { recursive: true });
    mkdirSync(join(folder, "c"));
    symlinkSync("../c", join(folder, "a/toC"));
    symlinkSync("a/b", join(folder, "toB"));
    symlinkSync(folder, join(folder, "c/home"));
    const workspace = await workspaceIn(folder);
    const name = fc.constantFrom("a", "b", "c", "toC", "toB", "home", "..", ".");
    await fc.assert(
      fc.asyncProperty(fc.array(name, { maxLength: 7 }), async (names) => {
        const path = [folder, ...names].join("/");
        let real: string;
        try {
          real = realpathSync.native(path);
        } catch {
          return;
        }
        expect((await workspace.resolve(path)).path).toBe(real);
      }),
      { numRuns: 300 },
    );
  });
});

test("a workspace that is not there is named", async () => {
  await expect(workspaceIn("/not/there")).rejects.toThrow("Failed to open the workspace /not/there: no such file");
});

test("a workspace that is a file is none", async () => {
  const file = join(await tempFolder(), "a.txt");
  writeFileSync(file, "");
  await expect(workspaceIn(file)).rejects.toThrow(`Failed to open the workspace ${file}: it is not a folder`);
});

describe("info", () => {
  test("kinds, nothing, and a stamp that changes with the content", async () => {
    const folder = await tempFolder();
    const file = join(folder, "a.txt");
    writeFileSync(file, "one");
    execFileSync("mkfifo", [join(folder, "pipe")]);
    const workspace = await workspaceIn(folder);
    const first = await workspace.info(file);
    expect(first).toMatchObject({ kind: "file", size: 3 });
    expect(await workspace.info(folder)).toMatchObject({ kind: "folder" });
    expect(await workspace.info(join(folder, "pipe"))).toMatchObject({ kind: "other" });
    expect(await workspace.info(join(folder, "none"))).toBeNull();
    expect(await workspace.info(join(file, "none"))).toBeNull();
    expect((await workspace.info(file))?.stamp).toBe(first?.stamp);
    // The same size and the same time: a replaced file is another file all the same.
    await workspace.write(file, "two");
    utimesSync(file, 1, 1);
    expect((await workspace.info(file))?.stamp).not.toBe(first?.stamp);
  });
});

describe("read", () => {
  test("bytes up to the limit", async () => {
    const folder = await tempFolder();
    writeFileSync(join(folder, "a"), "12345");
    const workspace = await workspaceIn(folder);
    expect(Buffer.from(await workspace.read(join(folder, "a"), 5)).toString()).toBe("12345");
    await expect(workspace.read(join(folder, "a"), 4)).rejects.toMatchObject({
      fault: { code: "tool", message: expect.stringContaining("5 bytes") },
    });
  });

  test.runIf(process.platform === "linux")("a file of the system that claims to be empty", async () => {
    const workspace = await workspaceIn(await tempFolder());
    const status = `/proc/${process.pid}/status`;
    expect(Buffer.from(await workspace.read(status, 100_000)).toString()).toContain("Pid:");
    await expect(workspace.read(status, 10)).rejects.toThrow(/more/);
  });

  test.runIf(process.platform === "linux")("a file of the system that gives all at once or nothing", async () => {
    const workspace = await workspaceIn(await tempFolder());
    const name = "/proc/sys/kernel/pid_max";
    expect(Buffer.from(await workspace.read(name, 100)).toString()).toBe(readFileSync(name, "utf8"));
  });

  test("a file that changed since it was looked at, as it is now", async () => {
    const folder = await tempFolder();
    const file = join(folder, "a");
    writeFileSync(file, "12345");
    const workspace = await workspaceIn(folder);
    const seen = (await workspace.info(file)) ?? undefined;
    for (const text of ["", "1", "1234", "123456", "1234567"]) {
      writeFileSync(file, text);
      expect(Buffer.from(await workspace.read(file, 7, seen)).toString()).toBe(text);
    }
    writeFileSync(file, "12345678");
    await expect(workspace.read(file, 7, seen)).rejects.toThrow(/more/);
  });

  test("a file that became a pipe or a folder since it was looked at does not block", async () => {
    const folder = await tempFolder();
    const file = join(folder, "a");
    writeFileSync(file, "12345");
    const workspace = await workspaceIn(folder);
    const seen = (await workspace.info(file)) ?? undefined;
    rmSync(file);
    execFileSync("mkfifo", [file]);
    await expect(workspace.read(file, 9, seen)).rejects.toThrow(`Failed to read file ${file}: it is not a regular file`);
    rmSync(file);
    mkdirSync(file);
    await expect(workspace.read(file, 9, seen)).rejects.toThrow(`Failed to read file ${file}: it is a folder`);
  });

  test("a file that cannot be read is told", async () => {
    const folder = await tempFolder();
    execFileSync("mkfifo", [join(folder, "pipe")]);
    const workspace = await workspaceIn(folder);
    await expect(workspace.read(join(folder, "none"), 9)).rejects.toThrow(`Failed to read file ${join(folder, "none")}: no such file`);
    await expect(workspace.read(folder, 9)).rejects.toThrow(/it is a folder/);
    await expect(workspace.read(join(folder, "pipe"), 9)).rejects.toThrow(/not a regular file/);
  });
});

describe("write", () => {
  test("makes folders and leaves nothing else behind", async () => {
    const folder = await tempFolder();
    const workspace = await workspaceIn(folder);
    await workspace.write(join(folder, "a/b/c.txt"), "text é");
    await workspace.write(join(folder, "a/b/d.bin"), new Uint8Array([0, 255]));
    expect(readFileSync(join(folder, "a/b/c.txt"), "utf8")).toBe("text é");
    expect([...readFileSync(join(folder, "a/b/d.bin"))]).toEqual([0, 255]);
    expect(readdirSync(join(folder, "a/b"))).toEqual(["c.txt", "d.bin"]);
  });

  test("keeps the mode of an existing file", async () => {
    const folder = await tempFolder();
    const file = join(folder, "run.sh");
    writeFileSync(file, "old");
    chmodSync(file, 0o755);
    await (await workspaceIn(folder)).write(file, "new");
    expect(statSync(file).mode & 0o7777).toBe(0o755);
    expect(readFileSync(file, "utf8")).toBe("new");
  });

  test("a file that others may not read is not readable while it is being written, either; the owner stays", async () => {
    const folder = await tempFolder();
    const workspace = await workspaceIn(folder);
    writeFileSync(join(folder, "secret"), "old", { mode: 0o600 });
    const isRoot = process.getuid?.() === 0;
    if (isRoot) chownSync(join(folder, "secret"), 1234, 5678);
    let isWritten = false;
    const written = workspace.write(join(folder, "secret"), Buffer.alloc(8 * 1024 * 1024)).finally(() => {
      isWritten = true;
    });
    const modes = new Set<number>();
    while (!isWritten) {
      for (const name of readdirSync(folder)) modes.add((statSync(join(folder, name), { throwIfNoEntry: false })?.mode ?? 0o600) & 0o777);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await written;
    expect([...modes]).toEqual([0o600]);
    if (isRoot) expect(statSync(join(folder, "secret"))).toMatchObject({ uid: 1234, gid: 5678 });
  });

  test("goes to where a link led when it was judged; the link stays one", async () => {
    const folder = await tempFolder();
    writeFileSync(join(folder, "target"), "old");
    symlinkSync("target", join(folder, "link"));
    symlinkSync("later", join(folder, "dangling"));
    const workspace = await workspaceIn(folder);
    await workspace.write((await workspace.resolve("link")).path, "new");
    await workspace.write((await workspace.resolve("dangling")).path, "born");
    expect(readFileSync(join(folder, "target"), "utf8")).toBe("new");
    expect(readFileSync(join(folder, "later"), "utf8")).toBe("born");
    expect(realpathSync(join(folder, "link"))).toBe(realpathSync(join(folder, "target")));
  });

  test("a reader sees the old content or the new", async () => {
    const folder = await tempFolder();
    const file = join(folder, "a");
    const workspace = await workspaceIn(folder);
    const [old, fresh] = ["a".repeat(500_000), "b".repeat(500_000)];
    await workspace.write(file, old);
    let writing = true;
    const writer = (async () => {
      for (let round = 0; round < 20; round++) await workspace.write(file, round % 2 === 0 ? fresh : old);
      writing = false;
    })();
    while (writing) {
      const seen = Buffer.from(await workspace.read(file, 1_000_000)).toString();
      expect(seen === old || seen === fresh).toBe(true);
    }
    await writer;
  });

  test("a failure leaves no temporary file", async () => {
    const folder = await tempFolder();
    mkdirSync(join(folder, "folder/full"), { recursive: true });
    writeFileSync(join(folder, "file"), "x");
    const workspace = await workspaceIn(folder);
    await expect(workspace.write(join(folder, "folder"), "x")).rejects.toThrow(/it is a folder/);
    await expect(workspace.write(join(folder, "file/below"), "x")).rejects.toThrow(/not a folder/);
    await expect(workspace.write(join(folder, "n".repeat(300)), "x")).rejects.toThrow(/name is too long/);
    await expect(workspace.write("/dev/null", "x")).rejects.toThrow(/not a regular file/);
    expect(readdirSync(folder).sort()).toEqual(["file", "folder"]);
    expect(statSync("/dev/null").isCharacterDevice()).toBe(true);
  });

  test.skipIf(process.getuid?.() === 0)("a read-only file is not replaced", async () => {
    const folder = await tempFolder();
    writeFileSync(join(folder, "a"), "old", { mode: 0o444 });
    await expect((await workspaceIn(folder)).write(join(folder, "a"), "new")).rejects.toThrow(/permission denied/);
  });
});

describe("exec", () => {
  test("both channels, the exit code, the root as the folder, the environment as given", async () => {
    const folder = await tempFolder();
    const workspace = await localWorkspace(folder, { env: { ...ENV, MINE: "yes" } });
    const out = { stdout: "", stderr: "" };
    const running = await workspace.exec({
      argv: ["sh", "-c", 'pwd -P; echo "$MINE,$HOME" >&2; exit 3'],
      onOutput: (channel, text) => (out[channel] += text),
    });
    expect(await running.exited).toEqual({ code: 3, signal: null });
    expect(out).toEqual({ stdout: `${workspace.root}\n`, stderr: "yes,\n" });
  });

  test("characters split over writes come whole", async () => {
    const script =
      "process.stdout.write(Buffer.from([0xf0,0x9f])); setTimeout(() => process.stdout.write(Buffer.from([0x98,0x80,0xc3])), 50)";
    const pieces: string[] = [];
    const workspace = await workspaceIn(await tempFolder());
    const running = await workspace.exec({ argv: [process.execPath, "-e", script], onOutput: (_, text) => pieces.push(text) });
    await running.exited;
    expect(pieces.join("")).toBe("😀\uFFFD");
  });

  test("large output is complete at the exit", async () => {
    const workspace = await workspaceIn(await tempFolder());
    let length = 0;
    const running = await workspace.exec({
      argv: ["sh", "-c", "head -c 8000000 /dev/zero | tr '\\0' x"],
      onOutput: (_, text) => (length += text.length),
    });
    expect(await running.exited).toMatchObject({ code: 0 });
    expect(length).toBe(8_000_000);
  });

  test("a program that is not there", async () => {
    const workspace = await workspaceIn(await tempFolder());
    const start = workspace.exec({ argv: ["no-such-program-here"], onOutput: () => undefined });
    await expect(start).rejects.toMatchObject({ fault: { code: "launch" } });
  });

  test("a grandchild that keeps the pipes open does not hold the exit, and ends with the tree", async () => {
    const workspace = await workspaceIn(await tempFolder());
    let out = "";
    const running = await workspace.exec({ argv: ["sh", "-c", "sleep 300 & echo $!; echo done"], onOutput: (_, text) => (out += text) });
    const exit = await running.exited;
    expect(exit).toEqual({ code: 0, signal: null });
    expect(await running.leftover).toBe(true);
    expect(out).toMatch(/^\d+\ndone\n$/);
    const grandchild = Number.parseInt(out, 10);
    expect(isAlive(grandchild)).toBe(true);
    await running.end(1000);
    await until(() => !isAlive(grandchild));
  });

  test("a caller that asks for it gets the output of processes left behind, too", async () => {
    const folder = await tempFolder();
    const workspace = await workspaceIn(folder);
    let out = "";
    const script = "sh -c 'while [ ! -e go ]; do sleep 0.02; done; echo late' & echo soon";
    const running = await workspace.exec({ argv: ["sh", "-c", script], onOutput: (_, text) => (out += text), leftovers: true });
    await running.exited;
    expect(out).toBe("soon\n");
    writeFileSync(join(folder, "go"), "");
    await until(() => out === "soon\nlate\n");
    await running.end(0);
  });

  test("end reaches a grandchild that ignores TERM", async () => {
    const folder = await tempFolder();
    const workspace = await workspaceIn(folder);
    const script = "trap '' TERM; sh -c 'trap \"\" TERM; echo $$ > pid; while :; do sleep 1; done' & wait; while :; do sleep 1; done";
    const running = await workspace.exec({ argv: ["sh", "-c", script], onOutput: () => undefined });
    await until(() => existsSync(join(folder, "pid")) && readFileSync(join(folder, "pid"), "utf8") !== "");
    const grandchild = Number(readFileSync(join(folder, "pid"), "utf8"));
    await running.end(50);
    expect(await running.exited).toMatchObject({ signal: "SIGKILL" });
    await until(() => !isAlive(grandchild));
  });
});
