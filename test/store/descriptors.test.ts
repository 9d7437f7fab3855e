/** The built command with few file descriptors: a session is saved or refused, and pruning takes none. */
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { EventOf } from "../../src/core/event.js";
import { environment, NativeHost, PARLEY, scratch, script, until } from "../process/harness.js";

test(
  "four hundred sessions are opened at once with 1,024 descriptors, beside three hundred old ones: all are saved",
  { timeout: 180_000 },
  async () => {
    const home = scratch();
    for (let number = 0; number < 300; number++) {
      const folder = join(home, "sessions", `old${number}`);
      mkdirSync(folder, { recursive: true });
      const opened = { kind: "opened", at: 1, id: `old${number}`, cwd: "/w", config: {} };
      writeFileSync(join(folder, "log.jsonl"), `${JSON.stringify(opened)}\n`);
    }
    const host = startWith("ulimit -n 1024", home);
    expect(await openAll(host, 400)).toEqual({ ready: names(400), refused: [] });
    expect(host.ofType("notice")).toEqual([]);
    for (const name of names(400))
      expect(readFileSync(join(home, "sessions", name, "log.jsonl"), "utf8")).toMatch(/^\{"kind":"opened".*\n$/);
    // All but 200 and a tenth, and none of those that are open.
    await until(() => readdirSync(join(home, "sessions")).length <= 420, "the pruning");
    expect(readdirSync(join(home, "sessions"))).toEqual(expect.arrayContaining(names(400)));
    expect(await host.finish()).toBe(0);
  },
);

test("with 128 descriptors, sessions beyond them are refused with the remedy; those that are open work, and make room when they close", async () => {
  const home = scratch();
  const host = startWith("ulimit -n 128", home, [{ call: { tool: "Bash", args: { command: "echo works" }, id: "c" } }, { say: "Done." }]);
  const { ready, refused } = await openAll(host, 100);
  expect(ready.length).toBeGreaterThanOrEqual(20);
  expect(refused.length).toBe(100 - ready.length);
  for (const { fault } of refused) {
    expect(fault).toMatchObject({ code: "limit", retryable: true, param: "ulimit -n" });
    expect(fault?.message).toMatch(/^Too many files are open \(\d+ of 128\) for another session; close sessions, or start .* \('ulimit -n/);
  }
  expect(readdirSync(join(home, "sessions")).sort()).toEqual([...ready].sort());
  host.prompt("go", { session: ready[0] ?? "" });
  expect(await host.turnEnded()).toMatchObject({ outcome: "completed" });
  expect(host.ofType("tool.ended")).toMatchObject([{ status: "ok", output: [{ text: expect.stringContaining("works") }] }]);
  const closed = ready.slice(0, 12);
  for (const session of closed) host.send({ type: "session.close", session });
  const isHeld = (session: string): boolean => existsSync(join(home, "sessions", session, "lock"));
  await until(() => host.ofType("session.ended").length === 12 && !closed.some(isHeld), "the sessions to end and to let go of their files");
  await host.open({}, "late");
  expect(readdirSync(join(home, "sessions"))).toContain("late");
  expect(host.ofType("notice")).toEqual([]);
  expect(await host.finish()).toBe(0);
});

test("a soft limit of descriptors is no limit: it is raised to the hard one", async () => {
  const home = scratch();
  const host = startWith("ulimit -Sn 128", home);
  expect(await openAll(host, 80)).toEqual({ ready: names(80), refused: [] });
  expect(await host.finish()).toBe(0);
});

// --- helpers ---

function startWith(limit: string, home: string, responses: unknown[] = [{ say: "hello" }]): NativeHost {
  const args = ["serve", "--dialect", "native", "--provider", "rehearsal", "--auto-approve", "--model", script(responses)];
  const command = ["-c", `${limit}; exec "$@"`, "sh", process.execPath, PARLEY, ...args];
  return new NativeHost(spawn("sh", command, { cwd: scratch(), env: environment({ PARLEY_HOME: home }) }));
}

function names(count: number): string[] {
  return Array.from({ length: count }, (_, number) => `s${number}`);
}

/** All at once; in the order of their names. */
async function openAll(host: NativeHost, count: number): Promise<{ ready: string[]; refused: EventOf<"reply">[] }> {
  for (const session of names(count)) host.send({ type: "session.open", session, open: "new" });
  const refused = (): EventOf<"reply">[] => host.ofType("reply").filter(({ status }) => status === "error");
  await until(() => host.ofType("session.ready").length + refused().length === count, "all sessions to be ready or refused");
  const ready = new Set(host.ofType("session.ready").map(({ session }) => session));
  return { ready: names(count).filter((name) => ready.has(name)), refused: refused() };
}
