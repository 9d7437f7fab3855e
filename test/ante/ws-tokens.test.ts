/** Several tokens on one server: each has its own sessions; and what may stand in a file of tokens. */
import { chmodSync, existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import { describe, expect, it, onTestFinished } from "vitest";
import { WebSocket } from "ws";
import { Event, type EventOf } from "../../src/core/event.js";
import { mintId } from "../../src/core/ids.js";
import type { Op } from "../../src/core/op.js";
import { run, scratch, until } from "../process/harness.js";
import { serveWs, WsClient, type WsServer } from "./ws-client.js";

const ALICE = "alice-knows-this";
const BOB = "bob-knows-this";
const NAMED = `alice:${ALICE}\nbob:${BOB}\n`;

function tokenFile(content: string): string {
  const file = join(scratch({ tokens: content }), "tokens");
  chmodSync(file, 0o600);
  return file;
}

interface Shared {
  home: string;
  cwd: string;
}

const shared = (): Shared => ({ home: scratch(), cwd: scratch() });

function serveNative({ home, cwd }: Shared, tokens: string | undefined): Promise<WsServer> {
  const args = ["--dialect", "native", "--provider", "rehearsal", ...(tokens === undefined ? [] : ["--token-file", tokenFile(tokens)])];
  return serveWs({ args, env: { PARLEY_HOME: home }, cwd });
}

/** A client that speaks the native dialect, and one session `s` of it. */
class Client {
  readonly #socket: WebSocket;
  readonly #events: Event[] = [];

  constructor(server: WsServer, token: string | undefined) {
    this.#socket = new WebSocket(server.url, { headers: token === undefined ? {} : { authorization: `Bearer ${token}` } });
    this.#socket.on("message", (data) => this.#events.push(v.parse(Event, JSON.parse(Buffer.isBuffer(data) ? data.toString() : ""))));
    onTestFinished(() => this.#socket.terminate());
  }

  async opened(): Promise<this> {
    await new Promise((resolve, reject) => this.#socket.once("open", resolve).once("error", reject));
    return this;
  }

  /** The reply; that to an open which succeeds is `session.ready`. */
  async ask(op: Op): Promise<EventOf<"reply"> | EventOf<"session.ready">> {
    const id = mintId();
    this.#socket.send(JSON.stringify({ ...op, id }));
    const isReply = (event: Event): event is EventOf<"reply"> | EventOf<"session.ready"> =>
      (event.type === "reply" || event.type === "session.ready") && event.parent === id;
    await until(() => this.#events.some(isReply));
    const reply = this.#events.find(isReply);
    if (reply === undefined) throw new Error("unreachable");
    return reply;
  }

  /** A session with one turn in it, closed again. */
  async keep(sessionId: string): Promise<void> {
    expect(await this.ask({ type: "session.open", session: "s", open: "new", sessionId })).toMatchObject({
      type: "session.ready",
      sessionId,
    });
    this.#socket.send(JSON.stringify({ type: "turn.prompt", session: "s", parts: [{ type: "text", text: "say hello" }] }));
    await until(() => this.#events.some((event) => event.type === "turn.ended"));
    await this.close();
  }

  async close(): Promise<void> {
    this.#events.length = 0;
    this.#socket.send(JSON.stringify({ type: "session.close", session: "s" }));
    await until(() => this.#events.some((event) => event.type === "session.ended"));
    this.#events.length = 0;
  }

  async command(name: string, args?: string): Promise<string> {
    const reply = await this.ask({ type: "turn.prompt", session: "s", parts: [], command: { name, ...(args !== undefined && { args }) } });
    return JSON.stringify(reply);
  }

  /** Ids of the stored sessions that it is told of. */
  async stored(): Promise<string[]> {
    const reply = await this.ask({ type: "session.list" });
    const { stored } = v.parse(v.object({ stored: v.array(v.object({ id: v.string() })) }), "data" in reply ? reply.data : undefined);
    return stored.map(({ id }) => id).sort();
  }
}

const connected = (server: WsServer, token?: string): Promise<Client> => new Client(server, token).opened();

describe("clients with different tokens", () => {
  it("list, resume and copy their own sessions only, and another's id is as good as unknown", async () => {
    const server = await serveNative(shared(), NAMED);
    const [alice, bob] = [await connected(server, ALICE), await connected(server, BOB)];
    await alice.keep("plan");
    expect(await bob.stored()).toEqual([]);
    for (const more of [
      { open: "resume" },
      { open: "resume", fork: true },
      { open: "resume", after: { seq: 0 } },
      { open: "attach" },
    ] as const) {
      const [theirs, nobodys] = [
        await bob.ask({ type: "session.open", session: "s", sessionId: "plan", ...more }),
        await bob.ask({ type: "session.open", session: "s", sessionId: "none", ...more }),
      ];
      expect(theirs).toMatchObject({ status: "error", fault: { code: "session" } });
      const answered = (reply: unknown, id: string): string =>
        JSON.stringify(reply, (key, value: unknown) => (["parent", "at", "seq"].includes(key) ? 0 : value)).replaceAll(`'${id}'`, "ID");
      expect(answered(theirs, "plan")).toBe(answered(nobodys, "none"));
    }
    expect(await bob.ask({ type: "session.open", session: "s", open: "resume", sessionId: "latest" })).toMatchObject({
      fault: { message: expect.stringContaining("No session was kept in") },
    });
    await bob.keep("plan");
    expect(await bob.stored()).toEqual(["plan"]);
    const again = await connected(server, ALICE);
    expect(await again.stored()).toEqual(["plan"]);
    expect(await again.ask({ type: "session.open", session: "s", open: "resume", sessionId: "latest" })).toMatchObject({
      sessionId: "plan",
    });
  });

  it("see neither each other's sessions nor saved chats in commands", async () => {
    const server = await serveNative(shared(), NAMED);
    const [alice, bob] = [await connected(server, ALICE), await connected(server, BOB)];
    await alice.keep("plan");
    await alice.ask({ type: "session.open", session: "s", open: "resume", sessionId: "plan" });
    expect(await alice.command("chat", "save secret-point")).toContain('"ok"');
    await bob.ask({ type: "session.open", session: "s", open: "new", sessionId: "other" });
    expect(await bob.command("chat", "list")).toContain("No chat is saved");
    expect(await bob.command("chat", "resume secret-point")).toContain("No chat 'secret-point' is saved");
    expect(await bob.command("resume")).not.toContain("plan");
    expect(await alice.command("chat", "list")).toContain("secret-point");
    expect(await alice.command("resume")).toContain("plan");
  });

  it("have them after a restart and with a new token of the same name", async () => {
    const place = shared();
    const first = await serveNative(place, NAMED);
    await (await connected(first, ALICE)).keep("plan");
    first.child.kill("SIGTERM");
    await first.exited;
    const second = await serveNative(place, `# the old one leaked\n\nbob:${BOB}\nalice:a-new-one-for-alice\n`);
    await expect(connected(second, ALICE)).rejects.toThrow("401");
    expect(await (await connected(second, BOB)).stored()).toEqual([]);
    const alice = await connected(second, "a-new-one-for-alice");
    expect(await alice.ask({ type: "session.open", session: "s", open: "resume", sessionId: "plan" })).toMatchObject({ sessionId: "plan" });
  });

  it("do not have the sessions of the command line; a token without a name and a server without tokens do", async () => {
    const place = shared();
    await run(["-p", "say hello", "--provider", "rehearsal", "--session-id", "mine"], { env: { PARLEY_HOME: place.home }, cwd: place.cwd });
    const server = await serveNative(place, `${NAMED}our-own-without-a-name\n`);
    const [own, alice] = [await connected(server, "our-own-without-a-name"), await connected(server, ALICE)];
    await alice.keep("hers");
    expect(await alice.stored()).toEqual(["hers"]);
    expect(await own.stored()).toEqual(["mine"]);
    expect(await (await connected(await serveNative(place, undefined))).stored()).toEqual(["mine"]);
  });

  it("do not push each other's sessions out of the store", async () => {
    const place = shared();
    writeFileSync(join(place.home, "config.yaml"), "sessions: { keep: 2 }");
    const server = await serveNative(place, NAMED);
    const [alice, bob] = [await connected(server, ALICE), await connected(server, BOB)];
    await alice.keep("plan");
    for (const id of ["1", "2", "3", "4"]) await bob.keep(id);
    server.child.kill("SIGTERM");
    await server.exited;
    expect(await (await connected(await serveNative(place, NAMED), ALICE)).stored()).toEqual(["plan"]);
  });

  it("are heard through Ante's protocol, too", async () => {
    const server = await serveWs({ args: ["--token-file", tokenFile(NAMED)] });
    const client = async (token: string): Promise<WsClient> => {
      const made = new WsClient(new WebSocket(server.url, { headers: { authorization: `Bearer ${token}` } }));
      await made.open();
      return made;
    };
    const alice = await client(ALICE);
    await alice.start();
    const { session_id } = await alice.next("SessionStart");
    alice.socket.terminate();
    const bob = await client(BOB);
    bob.send({ ResumeSession: { session_id } });
    expect(await bob.next("Error")).toContain("not found");
    const back = await client(ALICE);
    back.send({ ResumeSession: { session_id } });
    expect(await back.next("SessionStart")).toMatchObject({ session_id });
  });
});

describe("parley sessions", () => {
  it("has the sessions of a token under --owner", async () => {
    const place = shared();
    const env = { PARLEY_HOME: place.home };
    await (await connected(await serveNative(place, NAMED), ALICE)).keep("plan");
    expect((await run(["sessions"], { env })).stdout).toBe("No session is stored.\n");
    expect((await run(["sessions", "rm", "plan"], { env })).stderr).toContain("not found");
    expect((await run(["sessions", "--owner", "alice"], { env })).stdout).toMatch(/^plan /);
    expect((await run(["sessions", "show", "plan", "--owner", "alice"], { env })).stdout).toContain("say hello");
    expect((await run(["sessions", "rm", "plan", "--owner", "alice"], { env })).code).toBe(0);
    expect(existsSync(join(place.home, "owners", "alice", "sessions", "plan"))).toBe(false);
    expect(await run(["sessions", "--owner", "../alice"], { env })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("is no name"),
    });
  });
});

describe("a file of tokens", () => {
  const serving = (content: string) => run(["serve", "--ws", "127.0.0.1:0", "--token-file", tokenFile(content)]);

  it.each([
    ["", "is empty"],
    ["# nothing\n\n", "is empty"],
    ["short", "line 1: a token has 8 characters or more"],
    [`alice:${ALICE}\nbob:1234567`, "line 2: a token has 8 characters or more"],
    [`alice:${ALICE}\n\nalice:${BOB}`, "line 3: the name 'alice' is there already"],
    [`alice:${ALICE}\nAlice:${BOB}`, "line 2: the name 'Alice' is there already"],
    [`alice:${ALICE}\nbob:${ALICE}`, "line 2: this token is there already"],
    [`${ALICE}\n${BOB}`, "line 2: a second token without a name; write name:token"],
    [`../up:${ALICE}`, "line 1: before the colon stands no name"],
    [`:${ALICE}`, "line 1: before the colon stands no name"],
  ])("with %j is wrong usage", async (content, words) => {
    const { code, stderr } = await serving(content);
    expect(stderr).toContain(words);
    expect(stderr).not.toContain(ALICE);
    expect(code).toBe(2);
  });

  it("that others can read is warned about", async () => {
    const file = tokenFile(NAMED);
    expect((await serveWs({ args: ["--token-file", file] })).stderr).not.toContain("parley:");
    chmodSync(file, 0o640);
    expect((await serveWs({ args: ["--token-file", file] })).stderr).toContain(
      `parley: The token file '${file}' can be read or written by other users; 'chmod 600 ${file}' keeps it to you`,
    );
  });

  it("holds one token for a client", async () => {
    const words = ["relay", "--as", "native", "--drive", "ante", "--url", "ws://127.0.0.1:1", "--token-file", tokenFile(NAMED)];
    const { code, stderr } = await run(words);
    expect(stderr).toContain("holds 2 tokens; a client takes a file with its own alone");
    expect(code).toBe(2);
  });
});
