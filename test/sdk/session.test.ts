/** The host's own surface, against the built command in every dialect: approvals and tools as functions, results as values. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { describe, expect, it, test } from "vitest";
import { loadDialect } from "../../src/dialects/index.js";
import { createEngine, openRehearsal } from "../../src/engine/index.js";
import { drive } from "../../src/host/drive.js";
import { query } from "../../src/host/query.js";
import { openSession, type Hosting, type HostSession } from "../../src/host/session.js";
import { agents } from "../matrix/agents.js";
import { environment, PARLEY, scratch } from "../process/harness.js";

/** An engine in this process, with a scripted model. */
async function engineSession(steps: unknown[], hosting: Hosting = {}): Promise<{ session: HostSession; cwd: string }> {
  const cwd = scratch({ "model.json": JSON.stringify({ responses: steps }) });
  const agent = createEngine({
    defaults: { cwd, provider: "rehearsal" },
    env: {},
    openModel: () => openRehearsal({ script: join(cwd, "model.json") }),
  });
  return { session: await openSession(agent, hosting), cwd };
}

const write = (name: string) => ({ call: { tool: "Write", args: { file_path: name, content: name } } });

describe("run", () => {
  it("gathers a turn into one value", async () => {
    const heard: string[] = [];
    const { session } = await engineSession([write("a.txt"), { say: "Done." }], {
      approve: "allow",
      onEvent: ({ type }) => heard.push(type),
    });
    const result = await session.run("go");
    expect(result).toMatchObject({ text: "Done.", outcome: "completed", calls: [{ tool: "Write", status: "ok" }] });
    expect(result.usage.output).toBeGreaterThan(0);
    expect(heard.at(-1)).toBe("turn.ended");
    await session.close();
  });

  it("asks the function about each call; a reason reaches the model, and what is thrown denies", async () => {
    const asked: string[] = [];
    const responses = [
      write("one"),
      { expect: { toolResult: "not that one" }, ...write("two") },
      { expect: { toolResult: "no opinion" }, ...write("three") },
      { say: "so be it" },
    ];
    const { session, cwd } = await engineSession(responses, {
      async approve(call) {
        asked.push(call.name);
        if (asked.length === 1) return { decision: "deny", reason: "not that one" };
        if (asked.length === 2) throw new Error("no opinion");
        return { decision: "allow", grant: "tool" };
      },
    });
    expect(await session.run("go")).toMatchObject({
      text: "so be it",
      calls: [{ status: "denied" }, { status: "denied" }, { status: "ok" }],
    });
    expect([asked, ["one", "two", "three"].map((name) => existsSync(join(cwd, name)))]).toEqual([
      ["Write", "Write", "Write"],
      [false, false, true],
    ]);
    await session.close();
  });

  it("is interrupted by its signal, before the turn and within it, and the session goes on", async () => {
    const { session } = await engineSession([{ call: { tool: "Bash", args: { command: "sleep 600" } } }, { say: "again" }], {
      approve: "allow",
    });
    expect(await session.run("go", { signal: AbortSignal.abort() })).toMatchObject({ outcome: "interrupted", text: "" });
    const controller = new AbortController();
    const running = session.run("go", { signal: controller.signal });
    controller.abort();
    expect(await running).toMatchObject({ outcome: "interrupted" });
    await session.close();
  });

  it("fails as a value, with the code and the sentence", async () => {
    const { session } = await engineSession([{ fail: { status: 401, message: "bad key" } }]);
    expect(await session.run("go")).toMatchObject({
      outcome: "failed",
      error: { code: "provider", message: expect.stringContaining("bad key") },
    });
    await session.close();
    expect(await session.run("more")).toMatchObject({ outcome: "failed", error: { code: "launch" } });
  });
});

describe("tools of the host", () => {
  const city = v.object({ city: v.string() });
  const call = (args: Record<string, unknown>) => ({ call: { tool: "weather", args } });

  it.each([
    ["a JSON Schema", { type: "object", properties: { city: { type: "string" } }, required: ["city"] }],
    ["a schema of a library", toStandardJsonSchema(city)],
  ])("take their arguments by %s, and run here", async (_, parameters) => {
    const responses = [call({ city: "Oslo" }), { expect: { toolResult: "sunny in Oslo" }, ...call({ city: 3 }) }, { say: "fine" }];
    const seen: unknown[] = [];
    const { session } = await engineSession(responses, {
      approve: "allow",
      tools: {
        weather: {
          description: "The weather of a city.",
          parameters,
          run: async (args) => {
            seen.push(args);
            return `sunny in ${String(args["city"])}`;
          },
        },
      },
    });
    expect(await session.run("how is it?")).toMatchObject({
      text: "fine",
      calls: [{ tool: "weather", status: "ok" }, { status: "failed" }],
    });
    expect(seen).toEqual([{ city: "Oslo" }]);
    await session.close();
  });

  it("fail with what they throw, and hear an interrupt", async () => {
    let aborted = false;
    const { session } = await engineSession([call({}), { expect: { toolResult: "no sky" }, ...call({}) }], {
      approve: "allow",
      tools: {
        weather: {
          description: "The weather.",
          run: (_args, { signal }) =>
            aborted
              ? undefined
              : new Promise((_resolve, reject) => {
                  if (tries++ === 0) return reject(new Error("no sky"));
                  signal.addEventListener("abort", () => (aborted = true));
                  void session.interrupt();
                }),
        },
      },
    });
    let tries = 0;
    expect(await session.run("go")).toMatchObject({ outcome: "interrupted" });
    await session.close();
    expect(aborted).toBe(true);
  });
});

test("a session is forked, steered and configured", async () => {
  const home = scratch();
  const command = [process.execPath, PARLEY, "serve", "--dialect", "native", "--provider", "rehearsal"];
  const agent = drive(await loadDialect("native"), command, { env: environment({ PARLEY_HOME: home }) });
  await using session = await openSession(agent, { config: { cwd: scratch() }, approve: "allow" });
  expect((await session.run("remember the word heron")).outcome).toBe("completed");
  expect(await session.steer("too late")).toBe(false);
  await session.configure({ mode: "plan" });
  const other = await session.fork();
  expect((await other.run("what word did I tell you to remember?")).text).toContain("heron");
  expect(other.sessionId).not.toBe(session.sessionId);
  await other.close();
  expect((await session.run("say fine")).text).toBe("fine");
  await expect(session.configure({ provider: "nobody" })).rejects.toMatchObject({ fault: { code: "config" } });
});

test.each(Object.keys(agents))("query drives our own agent in %s", async (id) => {
  const command = [process.execPath, PARLEY, ...(agents[id] ?? [])];
  const agent = drive(await loadDialect(id), command, { env: environment({ PARLEY_HOME: scratch() }) });
  const result = await query("say heron", { agent, config: { cwd: scratch(), provider: "rehearsal", model: "rehearsal" } });
  expect(result).toMatchObject({ outcome: "completed", text: expect.stringContaining("heron") });
});
