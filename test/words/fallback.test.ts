/** Models that answer in the place of one whose server is overloaded, and what the host is told of retries. */
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { type NativeHost, scratch, script, start } from "../process/harness.js";
import { modelServer, type Reply } from "../support/model-server.js";
import { kill } from "./sessions.js";

const [SONNET, HAIKU, OPUS] = ["claude-sonnet-4-6", "claude-haiku-4-5", "claude-opus-4-5"];

/** Every try of one model fails, at once, since the server says when to come back. */
const down = (status = 529): Reply[] => Array.from({ length: 4 }, () => ({ error: { status, retryAfter: 0 } }));

async function serve(replies: Reply[]) {
  const server = await modelServer("anthropic", replies);
  const env = { ANTHROPIC_API_KEY: server.key, ANTHROPIC_BASE_URL: server.url, PARLEY_HOME: scratch() };
  const run = (): NativeHost => start({ provider: "anthropic", env, args: ["--model", SONNET] });
  const asked = (): string[] => server.requests.map(({ body }) => v.parse(v.looseObject({ model: v.string() }), body).model);
  return { run, asked };
}

const told = (host: NativeHost, kind: string) => host.ofType("notice").filter((notice) => notice.kind === kind);

test("the next of the list answers, for the rest of the turn; the next turn tries the session's own again", async () => {
  const glob = { name: "Glob", args: { pattern: "*" } };
  const { run, asked } = await serve([...down(), ...down(429), { calls: [glob] }, { text: ["Here."] }, { text: ["Back."] }]);
  const host = run();
  await host.open({ fallbackModels: [HAIKU, OPUS] });
  host.prompt("Hi");
  expect(await host.turnEnded()).toMatchObject({ outcome: "completed" });
  expect(told(host, "model_fallback")).toMatchObject([
    { level: "warning", data: { from: SONNET, to: HAIKU, status: 529, index: 0 } },
    { level: "warning", data: { from: HAIKU, to: OPUS, status: 429, index: 1 } },
  ]);
  expect(host.ofType("error")).toEqual([]);
  host.prompt("And now?");
  await host.turnEnded(2);
  expect(host.text()).toBe("Here.\nBack.");
  expect(asked()).toEqual([...Array<string>(4).fill(SONNET), ...Array<string>(4).fill(HAIKU), OPUS, OPUS, SONNET]);
  await kill(host);
  const again = run();
  again.send({ type: "session.open", session: "s", open: "resume" });
  expect(await again.next("session.ready")).toMatchObject({ config: { model: SONNET, fallbackModels: [HAIKU, OPUS] } });
  expect(await again.finish()).toBe(0);
});

test("a retry is told with its number, its delay and the status", async () => {
  const { run } = await serve([{ error: { status: 503, retryAfter: 0 } }, { cut: "before" }, { text: ["Here."] }]);
  const host = run();
  await host.open();
  host.prompt("Hi");
  expect(await host.turnEnded()).toMatchObject({ outcome: "completed" });
  expect(told(host, "retry").map(({ data }) => data)).toEqual([
    { attempt: 1, maxAttempts: 10, delayMs: 0, status: 503 },
    { attempt: 2, maxAttempts: 10, delayMs: expect.any(Number) },
  ]);
  expect(await host.finish()).toBe(0);
});

describe("no other model answers", () => {
  test.each<[string, Reply[], Record<string, unknown>, string[]]>([
    ["when all are down", [...down(), ...down(503), ...down(503), ...down(503)], { status: 503 }, [HAIKU]],
    ["when the request itself is wrong", [{ error: { status: 400 } }, { text: ["never"] }], { status: 400 }, []],
  ])("%s", async (_name, replies, fault, to) => {
    const { run } = await serve(replies);
    const host = run();
    await host.open({ fallbackModels: [HAIKU] });
    host.prompt("Hi");
    expect(await host.turnEnded()).toMatchObject({ outcome: "failed", fault });
    expect(told(host, "model_fallback").map(({ data }) => v.parse(v.looseObject({ to: v.string() }), data).to)).toEqual(to);
    expect(await host.finish()).toBe(0);
  });
});

test("one that cannot be had is told when the session opens, or is changed", async () => {
  const host = start({ responses: [{ say: "Hello." }] });
  host.send({ type: "session.open", session: "bad", open: "new", config: { fallbackModels: [SONNET] } });
  expect(await host.next("reply")).toMatchObject({
    status: "error",
    fault: { code: "config", message: expect.stringContaining("ANTHROPIC_API_KEY") },
  });
  await host.open();
  host.send({ type: "session.configure", session: "s", patch: { fallbackModels: ["/no/such/script.yaml"] } });
  expect(await host.next("reply", ({ to }) => to === "session.configure")).toMatchObject({
    status: "error",
    fault: { code: "config", message: expect.stringContaining("/no/such/script.yaml") },
  });
  const patch = { fallbackModels: [script([{ say: "Here." }])] };
  host.send({ type: "session.configure", session: "s", patch });
  expect(await host.next("session.updated")).toMatchObject({ config: patch });
  expect(await host.finish()).toBe(0);
});
