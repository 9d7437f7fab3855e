/**
 * What must hold for every host dialect and every agent dialect, written once. A scenario sees a host and the folder that the agent works
 * in; whether there are processes or only memory between them it cannot tell.
 */
import { existsSync, readFileSync } from "node:fs";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { expect } from "vitest";
import { processesWith, until } from "../process/harness.js";
import type { Host } from "./host.js";
import type { Opening } from "./hosts.js";

/** Where a relay runs; several may run in it, one after the other. Files `a.txt` and `b.txt` are there. */
export interface Room {
  dir: string;
  /** Whether the wires between carry why a call was denied. */
  reasons: boolean;
  /** Whether the wires between ask about several calls at once. */
  together: boolean;
  /** Starts a relay and waits until the session is ready. */
  start(opening?: Opening): Promise<Host>;
}

type Scenario = (host: Host, room: Room) => Promise<void>;

/** These leave the session as they found it, so one relay may play them all. */
export const conversation: Readonly<Record<string, Scenario>> = {
  async text(host) {
    expect(await host.say("text", "say hello there")).toMatchObject({ text: "hello there", results: [], errors: [] });
  },

  async thinking(host) {
    const turn = await host.say("thinking", "think about birds, then say done");
    expect(turn.thinking).toContain("birds");
    expect(turn).toMatchObject({ text: expect.stringContaining("done"), errors: [] });
  },

  async "an approved tool"(host, { dir }) {
    host.prompt("approved", "write 'first' to approved.txt");
    const { call, tool, args } = await host.asked("approved");
    expect({ tool, args }).toEqual({ tool: "Write", args: { file_path: "approved.txt", content: "first" } });
    expect(existsSync(join(dir, "approved.txt"))).toBe(false);
    host.send(host.script.allow(call));
    expect(await host.turn("approved")).toMatchObject({ results: [{ call, status: "ok" }], errors: [] });
    expect(readFileSync(join(dir, "approved.txt"), "utf8")).toContain("first");
  },

  async "a denied tool, and the model hears why"(host, { dir, reasons }) {
    host.prompt("denied", "write 'x' to denied.txt");
    const { call } = await host.asked("denied");
    host.send(host.script.deny(call, "not on a Friday"));
    const turn = await host.turn("denied");
    expect(turn).toMatchObject({ results: [{ call, status: "refused" }], errors: [] });
    expect(turn.text).toContain(reasons ? "not on a Friday" : "denied");
    expect(existsSync(join(dir, "denied.txt"))).toBe(false);
  },

  async "two calls at once, answered in another order and differently"(host, { reasons, together }) {
    host.prompt("two", "read a.txt and b.txt");
    const a = await host.asked("two", 1);
    // A wire that asks about one call at a time asks for the second when the first is answered.
    if (!together) host.send(host.script.allow(a.call));
    const b = await host.asked("two", 2);
    expect([a.args["file_path"], b.args["file_path"]]).toEqual(["a.txt", "b.txt"]);
    host.send(host.script.deny(b.call, "b is private"));
    if (together) host.send(host.script.allow(a.call));
    const turn = await host.turn("two");
    expect(new Map(turn.results.map(({ call, status }) => [call, status]))).toEqual(
      new Map([
        [a.call, "ok"],
        [b.call, "refused"],
      ]),
    );
    expect(turn.text).toContain("alpha");
    expect(turn.text).toContain(reasons ? "b is private" : "denied");
    expect(turn.text).not.toContain("beta");
  },

  async "a mode that asks nothing, and back"(host, { dir }) {
    // Where the wire sets it for a whole session there is nothing to change.
    if (host.script.mode === undefined) return;
    host.send(host.script.mode("yolo"));
    expect(await host.say("yolo", "write 'y' to yolo.txt")).toMatchObject({ asked: [], results: [{ status: "ok" }], errors: [] });
    expect(existsSync(join(dir, "yolo.txt"))).toBe(true);
    host.send(host.script.mode("default"));
    host.prompt("careful", "write 'z' to yolo.txt");
    host.send(host.script.deny((await host.asked("careful")).call, "no"));
    await host.turn("careful");
  },

  async "an interrupt while it streams"(host) {
    host.prompt("streams", "count to 3 then wait forever");
    await host.nextIn("streams", "text");
    host.send(host.script.interrupt("streams"));
    await interrupted(host, "streams");
    expect(await host.say("after the stream", "say on we go")).toMatchObject({ text: "on we go", errors: [] });
  },

  async "an interrupt right behind the prompt"(host) {
    host.prompt("hasty", "wait forever");
    host.send(host.script.interrupt("hasty"));
    await interrupted(host, "hasty");
  },

  async "an interrupt while a tool runs, which dies of it"(host) {
    const mark = newMark();
    host.prompt("runs", `run \`export TOOL=${mark}; sleep 300\``);
    const { call } = await host.asked("runs");
    host.send(host.script.allow(call));
    await until(() => processesWith(mark).length > 0);
    host.send(host.script.interrupt("runs"));
    const turn = await interrupted(host, "runs");
    expect(turn.results).toMatchObject([{ call, status: "refused" }]);
    await until(() => processesWith(mark).length === 0);
  },

  async "an interrupt while an approval waits, and an answer that comes too late"(host, { dir }) {
    host.prompt("late", "write 'x' to late.txt");
    const { call } = await host.asked("late");
    host.send(host.script.interrupt("late"));
    await interrupted(host, "late");
    host.send(host.script.allow(call));
    expect(await host.say("after the late one", "say fine")).toMatchObject({ text: expect.stringContaining("fine"), errors: [] });
    expect(existsSync(join(dir, "late.txt"))).toBe(false);
  },

  async "a provider error, and the next turn works"(host) {
    const turn = await host.say("fails", "say one, then fail with a 429");
    expect(turn.errors).toMatchObject([{ message: expect.stringContaining("Rate limit"), retryable: true, turn: "fails" }]);
    expect([undefined, "failed"]).toContain(turn.outcome);
    expect(await host.say("after the failure", "say better")).toMatchObject({ text: "better", errors: [] });
  },

  async "memory over turns"(host) {
    await host.say("learns", "remember the word heron");
    expect((await host.say("knows", "what word did I tell you to remember?")).text).toMatch(/heron/i);
  },

  async "prompts during a turn, which wait in order"(host) {
    host.prompt("first", "write 'x' to queue.txt");
    const { call } = await host.asked("first");
    host.prompt("second", "say two");
    host.prompt("third", "say three");
    host.send(host.script.allow(call));
    expect(await host.turn("second")).toMatchObject({ text: "two", errors: [] });
    expect(await host.turn("third")).toMatchObject({ text: "three", errors: [] });
    const order = host.heard.flatMap((heard) => (heard.is === "started" || heard.is === "ended" ? [`${heard.turn} ${heard.is}`] : []));
    expect(order.slice(order.indexOf("first started"))).toEqual(
      ["first", "second", "third"].flatMap((turn) => [`${turn} started`, `${turn} ended`]),
    );
  },

  async "a malformed line, which is answered, and the session lives on"(host) {
    const before = host.all("error").length;
    host.raw('{"oops\n');
    expect((await host.next("error", undefined, before + 1)).message).toMatch(/JSON/);
    expect(await host.say("after the line", "say alive")).toMatchObject({ text: "alive", errors: [] });
  },

  async "unknown input, which is answered by its name"(host) {
    const before = host.all("error").length;
    host.send(host.script.unknown);
    expect((await host.next("error", undefined, before + 1)).message).toContain("no.such.thing");
    expect(await host.say("after the unknown", "say alive")).toMatchObject({ text: "alive", errors: [] });
  },
};

/** These end the relay in one way or another; each has one of its own. */
export const endings: Readonly<Record<string, Scenario>> = {
  async "the driven agent is killed: one end, a clear error, nothing left behind"(host) {
    const mark = newMark();
    host.prompt("doomed", `run \`export TOOL=${mark}; sleep 300\``);
    const { call } = await host.asked("doomed");
    host.send(host.script.allow(call));
    await until(() => processesWith(mark).length > 0);
    host.prompt("queued", "say never");
    host.killAgent();
    const turn = await host.turn("doomed");
    expect(turn.results).toMatchObject([{ call, status: "refused" }]);
    expect(turn.errors).toMatchObject([{ message: expect.stringContaining("SIGKILL"), turn: "doomed" }]);
    expect([undefined, "failed"]).toContain(turn.outcome);
    if (host.script.opensMore) host.endInput();
    expect((await host.ended).code).not.toBe(0);
    await until(() => processesWith(mark).length === 0);
  },

  async "the end of input: what waits is denied, what is queued still runs, and then a clean exit"(host, { dir }) {
    host.prompt("waits", "write 'x' to eof.txt");
    const { call } = await host.asked("waits");
    host.prompt("last", "say goodbye");
    host.endInput();
    expect((await host.turn("waits")).results).toMatchObject([{ call, status: "refused" }]);
    expect(await host.turn("last")).toMatchObject({ text: "goodbye", errors: [] });
    expect((await host.ended).code).toBe(0);
    expect(existsSync(join(dir, "eof.txt"))).toBe(false);
  },

  async "a signal: the turn is interrupted and told so, children are dead"(host) {
    const mark = newMark();
    host.prompt("runs", `run \`export TOOL=${mark}; sleep 300\``);
    host.send(host.script.allow((await host.asked("runs")).call));
    await until(() => processesWith(mark).length > 0);
    host.terminate();
    await interrupted(host, "runs");
    expect((await host.ended).code).toBe(143);
    await until(() => processesWith(mark).length === 0);
  },

  async "a session is resumed by the name that the host saw"(host, room) {
    const { sessionId } = await host.next("ready");
    expect(sessionId).toBeDefined();
    await host.say("learns", "remember the word otter");
    await cleanEnd(host);
    const again = await room.start({ ...(sessionId !== undefined && { resume: sessionId }) });
    expect(await again.next("ready")).toMatchObject({ sessionId });
    expect((await again.say("knows", "what word did I tell you to remember?")).text).toMatch(/otter/i);
    await cleanEnd(again);
  },
};

/** A grant covers what it says, on whichever side of the wire it is kept, and no more. */
export const grants: Readonly<Record<"tool" | "category", Scenario>> = {
  async tool(host) {
    await allowed(host, "one", "write 'x' to one.txt", "tool");
    expect(await host.say("two", "write 'x' to two.txt")).toMatchObject({ asked: [], results: [{ status: "ok" }], errors: [] });
    host.prompt("three", "replace x with y in one.txt");
    expect((await answeredUntil(host, "three", "Edit")).tool).toBe("Edit");
    await cleanEnd(host);
  },

  async category(host, { dir }) {
    await allowed(host, "one", "write 'x' to one.txt", "category");
    host.prompt("two", "replace x with y in one.txt");
    host.send(host.script.allow((await host.asked("two")).call));
    expect((await host.turn("two")).asked.map(({ tool }) => tool)).toEqual(["Read"]);
    expect(readFileSync(join(dir, "one.txt"), "utf8")).toContain("y");
    host.prompt("three", "run `echo hi`");
    expect((await host.asked("three")).tool).toBe("Bash");
    await cleanEnd(host);
  },
};

async function cleanEnd(host: Host): Promise<void> {
  host.endInput();
  expect((await host.ended).code).toBe(0);
}

async function interrupted(host: Host, name: string): ReturnType<Host["turn"]> {
  const turn = await host.turn(name);
  expect([undefined, "interrupted"]).toContain(turn.outcome);
  expect(turn.errors).toEqual([]);
  return turn;
}

async function allowed(host: Host, turn: string, text: string, grant: "tool" | "category"): Promise<void> {
  host.prompt(turn, text);
  host.send(host.script.allow((await host.asked(turn)).call, grant));
  expect(await host.turn(turn)).toMatchObject({ results: [{ status: "ok" }], errors: [] });
}

/** Allows, one by one, what is asked for on the way to a tool. */
async function answeredUntil(host: Host, turn: string, tool: string): ReturnType<Host["asked"]> {
  for (let nth = 1; ; nth++) {
    const asked = await host.asked(turn, nth);
    if (asked.tool === tool) return asked;
    host.send(host.script.allow(asked.call));
  }
}

function newMark(): string {
  return `matrix-${randomBytes(6).toString("hex")}`;
}
