import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { HostReply } from "../session/host-requests.js";
import { hostedWorkspace } from "./hosted.js";
import { localWorkspace } from "./local.js";
import type { Workspace } from "./workspace.js";

interface Asked {
  do: string;
  [key: string]: unknown;
}

/** A host that answers as it is told, and remembers what it was asked. */
async function hosted(
  answer: (asked: Asked) => HostReply | Promise<HostReply>,
): Promise<{ workspace: Workspace; asked: Asked[]; dir: string }> {
  const dir = mkdtempSync(join(tmpdir(), "parley-hosted-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const asked: Asked[] = [];
  const ask = (_kind: string, data: object): Promise<HostReply> => {
    const said = { do: "", ...data };
    asked.push(said);
    return Promise.resolve(answer(said));
  };
  const local = await localWorkspace(dir, { env: {} });
  const everything = { read: "host", write: "host", exec: "host" } as const;
  return { workspace: hostedWorkspace(local, everything, { ask, askAlways: ask }), asked, dir: local.root };
}

const refused: HostReply = { ok: false, data: { message: "read-only" } };
const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

test("a file is read as the host has it, and from the disk where the host does not know it", async () => {
  const { workspace, dir } = await hosted(({ path }) =>
    String(path).endsWith("a.txt") ? { ok: true, data: { content: "unsaved" } } : refused,
  );
  for (const name of ["a.txt", "b.txt"]) writeFileSync(join(dir, name), "on disk");
  expect(text(await workspace.read(join(dir, "a.txt"), 100))).toBe("unsaved");
  expect(text(await workspace.read(join(dir, "b.txt"), 100))).toBe("on disk");
  await expect(workspace.read(join(dir, "a.txt"), 7)).resolves.toHaveLength(7);
});

test("what the host has may not be larger than what is asked for", async () => {
  const { workspace, dir } = await hosted(() => ({ ok: true, data: { content: "x".repeat(50) } }));
  writeFileSync(join(dir, "a.txt"), "small");
  await expect(workspace.read(join(dir, "a.txt"), 10)).rejects.toThrow("10 are the limit");
});

test("a file that is no text is not asked for, and written here", async () => {
  const { workspace, asked, dir } = await hosted(() => refused);
  const bytes = new Uint8Array([1, 0, 2]);
  await workspace.write(join(dir, "a.bin"), bytes);
  expect([...(await workspace.read(join(dir, "a.bin"), 100))]).toEqual([1, 0, 2]);
  expect(asked).toEqual([]);
});

test("a write that the host refuses fails, and nothing is written here", async () => {
  const { workspace, dir } = await hosted(() => refused);
  writeFileSync(join(dir, "a.txt"), "before");
  await expect(workspace.write(join(dir, "a.txt"), "after")).rejects.toThrow("read-only");
  expect(readFileSync(join(dir, "a.txt"), "utf8")).toBe("before");
});

test("a command runs in a terminal of the host, its output is heard before its end, and the terminal is let go", async () => {
  const answers: Record<string, HostReply> = {
    create: { ok: true, data: { terminal: "t" } },
    wait: { ok: true, data: { exit: { code: 3, signal: null } } },
    output: { ok: true, data: { output: "said" } },
  };
  const { workspace, asked, dir } = await hosted(({ do: what }) => answers[what] ?? { ok: true });
  let heard = "";
  const running = await workspace.exec({ argv: ["bash", "-c", "x"], onOutput: (_channel, words) => (heard += words) });
  expect(await running.exited).toEqual({ code: 3, signal: null });
  expect(heard).toBe("said");
  expect(asked.map(({ do: what }) => what)).toEqual(["create", "wait", "output", "release"]);
  expect(asked[0]).toMatchObject({ command: "bash", args: ["-c", "x"], cwd: dir });
});

test("a command that is ended is killed and let go, once", async () => {
  let leave = (): void => {};
  const waiting = new Promise<HostReply>((resolve) => {
    leave = () => resolve({ ok: true, data: { exit: { code: null, signal: "SIGKILL" } } });
  });
  const { workspace, asked } = await hosted(({ do: what }) => {
    if (what === "wait") return waiting;
    if (what === "kill") leave();
    return { ok: true, data: { terminal: "t", output: "" } };
  });
  const running = await workspace.exec({ argv: ["bash", "-c", "x"], onOutput() {} });
  await running.end(1000);
  expect(await running.exited).toMatchObject({ signal: "SIGKILL" });
  expect(asked.map(({ do: what }) => what).toSorted()).toEqual(["create", "kill", "output", "release", "wait"]);
});

test("a terminal that cannot be made is a command that could not start", async () => {
  const { workspace } = await hosted(() => refused);
  await expect(workspace.exec({ argv: ["bash", "-c", "x"], onOutput() {} })).rejects.toMatchObject({ fault: { code: "launch" } });
});

test("commands with input, and those that stay behind their call, run here", async () => {
  const { workspace, asked } = await hosted(() => refused);
  let heard = "";
  const running = await workspace.exec({ argv: ["cat"], input: "here", onOutput: (_channel, words) => (heard += words) });
  await running.exited;
  expect(heard).toBe("here");
  expect(asked).toEqual([]);
});
