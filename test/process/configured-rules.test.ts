/** What the user's config forbids or asks about: a host adds to it, by whatever op, and never takes it away. */
import { expect, test } from "vitest";
import type { SessionConfig } from "../../src/core/config.js";
import type { EventOf } from "../../src/core/event.js";
import type { OpOf } from "../../src/core/op.js";
import { type NativeHost, scratch, script, start } from "./harness.js";

const CONFIG = `
disallowedTools: [Glob]
rules:
  - deny: "Bash(echo no*)"
  - ask: "Bash(echo hm*)"
  - allow: "Bash(echo fine)"
`;
const LOOSE: SessionConfig = { mode: "yolo", rules: [{ allow: "Bash" }], disallowedTools: [] };
const HELD = { no: "denied", hm: "asked", fine: "ok", glob: "unknown" };

test("a host's own rules and lists leave the config's denies and asks, on every way into a session", async () => {
  const host = start({ env: { PARLEY_HOME: scratch({ "config.yaml": CONFIG }) }, responses: [{ say: "ok" }], then: "repeat" });
  await host.open(LOOSE, "open");
  expect.soft(await outcomes(host, "open"), "open").toEqual(HELD);
  expect.soft(await outcomes(host, "open", { tools: ["Bash", "Glob"] }), "a prompt's overrides").toEqual(HELD);

  await host.open({}, "changed");
  await configure(host, "changed", LOOSE);
  expect.soft(await outcomes(host, "changed"), "configure").toEqual(HELD);
  await configure(host, "changed", { rules: [] });
  expect.soft(await outcomes(host, "changed"), "configure with no rules").toEqual(HELD);

  host.send({ type: "session.open", session: "copy", open: "resume", sessionId: "open", fork: true, config: LOOSE });
  await host.next("session.ready", ({ session }) => session === "copy");
  expect.soft(await outcomes(host, "copy"), "fork").toEqual(HELD);

  host.send({ type: "session.close", session: "open" });
  await host.next("session.ended", ({ session }) => session === "open");
  host.send({ type: "session.open", session: "again", open: "resume", sessionId: "open", config: LOOSE });
  await host.next("session.ready", ({ session }) => session === "again");
  expect.soft(await outcomes(host, "again"), "resume").toEqual(HELD);

  const spawn = { tool: "Spawn", args: { tasks: [{ name: "one", prompt: "go" }] } };
  const child = { tool: "Bash", args: { command: "echo no" }, id: "below" };
  await host.open({ ...LOOSE, model: script([{ call: spawn }, { call: child }, { say: "child" }, { say: "parent" }]) }, "parent");
  host.prompt("go", { session: "parent" });
  const below = await host.next("tool.ended", ({ call }) => call === "below");
  expect.soft(below, "a sub-agent").toMatchObject({ status: "denied", reason: "denied by the rule Bash(echo no*)" });
  expect(await host.finish()).toBe(0);
});

test("the host's own rules take the place of what the config allows, and are its own to take back", async () => {
  const host = start({ env: { PARLEY_HOME: scratch({ "config.yaml": CONFIG }) }, responses: [{ say: "ok" }], then: "repeat" });
  await host.open({ rules: [{ deny: "Bash(echo fine)" }] });
  expect((await outcomes(host, "s")).fine).toBe("denied");
  await configure(host, "s", { rules: [] });
  expect((await outcomes(host, "s")).fine).toBe("asked");
  expect(host.ofType("session.updated").at(-1)?.config?.rules).toEqual([{ deny: "Bash(echo no*)" }, { ask: "Bash(echo hm*)" }]);
  expect(await host.finish()).toBe(0);
});

/** What becomes of calls that the host asks for itself; what asks is denied, and so are known apart. */
async function outcomes(host: NativeHost, session: string, overrides: { tools?: string[] } = {}): Promise<Record<string, string>> {
  const at = host.events.length;
  const calls = ["no", "hm", "fine"].map((word) => ({ id: `${word}-${at}`, name: "Bash", args: { command: `echo ${word}` } }));
  host.send({ type: "turn.prompt", id: `calls-${at}`, session, parts: [], calls, overrides });
  const deny = ({ calls: asked }: EventOf<"approval.requested">): void =>
    host.send({ type: "approval.answer", session, answers: asked.map(({ id }) => ({ call: id, decision: "deny", reason: "asked" })) });
  void host.next("approval.requested", (event) => event.calls.some(({ id }) => id === `hm-${at}`)).then(deny, () => {});
  await host.next("turn.ended", ({ parent }) => parent === `calls-${at}`);
  const glob = [{ name: "Glob", args: { pattern: "*" } }];
  host.send({ type: "turn.prompt", id: `glob-${at}`, session, parts: [], calls: glob, overrides });
  const globbed = await Promise.race([
    host.next("reply", ({ parent }) => parent === `glob-${at}`),
    host.next("turn.ended", ({ parent }) => parent === `glob-${at}`),
  ]);
  const statuses = calls.map(({ id }) => {
    const { status, reason } = host.ofType("tool.ended").find(({ call }) => call === id) ?? {};
    return [id.slice(0, -`-${at}`.length), reason === "asked" ? "asked" : status];
  });
  return { ...Object.fromEntries(statuses), glob: globbed.type === "reply" ? "unknown" : "there" };
}

async function configure(host: NativeHost, session: string, patch: OpOf<"session.configure">["patch"]): Promise<void> {
  const id = `configure-${host.events.length}`;
  host.send({ type: "session.configure", id, session, patch });
  await host.next("session.updated", ({ parent }) => parent === id);
}
