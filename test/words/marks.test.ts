/** How stored sessions are listed: their names, and those that are out of the way. */
import { expect, test } from "vitest";
import type { EventOf } from "../../src/core/event.js";
import type { OpOf } from "../../src/core/op.js";
import { run, scratch, start, type NativeHost } from "../process/harness.js";

let count = 0;

async function mark(host: NativeHost, marks: Omit<OpOf<"session.mark">, "type">): Promise<EventOf<"reply">> {
  const id = `mark-${++count}`;
  host.send({ type: "session.mark", id, ...marks });
  return host.next("reply", ({ parent }) => parent === id);
}

test("a session that is open hears its new name, and keeps it when it is resumed, listed or copied", async () => {
  const home = scratch();
  const host = start({ env: { PARLEY_HOME: home }, responses: ["hi"] });
  await host.open();
  host.prompt("say hi");
  await host.turnEnded();
  expect(await mark(host, { sessionId: "s", name: "Mine" })).toMatchObject({ status: "ok" });
  expect(host.ofType("session.updated")).toMatchObject([{ sessionId: "s", name: "Mine" }]);
  expect(await mark(host, { sessionId: "s", name: " " })).toMatchObject({ status: "error", fault: { param: "name" } });
  expect(await mark(host, { sessionId: "none", name: "x" })).toMatchObject({ status: "error", fault: { code: "session" } });
  expect(await host.finish()).toBe(0);
  const again = start({ env: { PARLEY_HOME: home } });
  again.send({ type: "session.open", session: "s", open: "resume" });
  expect(await again.next("session.ready")).toMatchObject({ sessionId: "s", name: "Mine" });
  again.send({ type: "session.open", session: "copy", open: "resume", sessionId: "s", fork: true });
  expect(await again.next("session.ready", ({ session }) => session === "copy")).toMatchObject({ name: "Mine" });
  expect(await again.finish()).toBe(0);
  const { stdout } = await run(["sessions"], { env: { PARLEY_HOME: home } });
  expect(stdout.trim().split("\n")).toEqual([expect.stringContaining("Mine"), expect.stringContaining("Mine")]);
});

test("an archived session is not the latest, and its list says so", async () => {
  const [home, cwd] = [scratch(), scratch()];
  const host = start({ cwd, env: { PARLEY_HOME: home }, responses: ["one", "two"] });
  for (const session of ["old", "new"]) {
    host.send({ type: "session.open", session, open: "new" });
    await host.next("session.ready", (event) => event.session === session);
    host.prompt("say hi", { session });
    await host.next("turn.ended", (event) => event.session === session);
  }
  expect(await mark(host, { sessionId: "new", archived: true })).toMatchObject({ status: "ok" });
  expect(await host.finish()).toBe(0);
  const again = start({ cwd, env: { PARLEY_HOME: home } });
  again.send({ type: "session.open", session: "s", open: "resume", sessionId: "latest" });
  expect(await again.next("session.ready")).toMatchObject({ sessionId: "old" });
  again.send({ type: "session.list", id: "l" });
  const { data } = await again.next("reply", ({ parent }) => parent === "l");
  expect(data).toMatchObject({ stored: expect.arrayContaining([expect.objectContaining({ id: "new", archived: true })]) });
  expect(await mark(again, { sessionId: "new", archived: false })).toMatchObject({ status: "ok" });
  expect(await again.finish()).toBe(0);
  expect((await run(["sessions"], { env: { PARLEY_HOME: home } })).stdout).not.toContain("(archived)");
});

test("a session that is not kept has a name and no archive", async () => {
  const host = start({ args: ["--no-session"] });
  await host.open();
  expect(await mark(host, { sessionId: "s", name: "Mine" })).toMatchObject({ status: "ok" });
  expect(host.ofType("session.updated")).toMatchObject([{ name: "Mine" }]);
  expect(await mark(host, { sessionId: "s", archived: true })).toMatchObject({ status: "error" });
  expect(await host.finish()).toBe(0);
});

test("marks that come at the same time all count", async () => {
  const home = scratch();
  const host = start({ env: { PARLEY_HOME: home }, responses: ["hi"] });
  await host.open();
  host.prompt("say hi");
  await host.turnEnded();
  const all = [{ name: "One" }, { archived: true }, { name: "Two" }].map((marks) => mark(host, { sessionId: "s", ...marks }));
  expect((await Promise.all(all)).map(({ status }) => status)).toEqual(["ok", "ok", "ok"]);
  expect(await host.finish()).toBe(0);
  expect((await run(["sessions"], { env: { PARLEY_HOME: home } })).stdout).toContain("(archived) Two");
});
