/** Ante over WebSockets, from the outside: connections side by side, how they end, and what a client may send. */
import { connect } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { processesWith, run, scratch, until } from "../process/harness.js";
import { idle, rss } from "../support/load.js";
import { fixture } from "../support/processes.js";
import { started } from "./client.js";
import { serveWs } from "./ws-client.js";

const bash = (command: string, id = "b") => ({ call: { tool: "Bash", args: { command }, id } });
const mark = (): string => `parley-mark-${process.pid}-${Math.random().toString(36).slice(2)}`;

describe("a connection", () => {
  it("speaks the same protocol, one object a frame", async () => {
    const server = await serveWs();
    const client = await server.session([{ say: "hello" }]);
    const id = client.send({ UserInput: "hi" });
    expect(await client.next("TurnEnd")).toMatchObject({ status: "Completed" });
    expect(client.of("AgentMessage")).toEqual(["hello"]);
    expect(client.heard.at(-1)?.parent).toBe(id);
    expect(client.names().slice(0, 2)).toEqual(["SessionStart", "ExtensionRefreshed"]);
  });

  it("accepts an object over several lines, and blank frames", async () => {
    const server = await serveWs();
    const client = await server.connect();
    client.raw("  \n");
    client.raw('{\n  "op": "Shutdown",\n  "id":"op_01ARZ3NDEKTSV4RRFFQ69G5FAV"\n}\n');
    await client.closed;
    expect(client.names()).toEqual(["Goodbye"]);
  });

  it("N78: answers what is no JSON, and binary frames, and lives", async () => {
    const server = await serveWs();
    const client = await server.session([{ say: "still here" }]);
    client.raw("not json");
    client.socket.send(Buffer.from('{"op":"Shutdown"}'), { binary: true });
    await client.next("Error", 2);
    expect(client.of("Error")).toEqual([expect.stringContaining("not JSON"), expect.stringContaining("Binary frames")]);
    client.send({ UserInput: "hi" });
    await client.next("TurnEnd");
    expect(client.of("AgentMessage")).toEqual(["still here"]);
  });

  it("skips a frame over the cap with an Error, and one far over it closes with 1009", async () => {
    const home = scratch({ "config.yaml": "limits: { lineBytes: 4096 }" });
    const server = await serveWs({ env: { PARLEY_HOME: home } });
    const client = await server.session([{ say: "still here" }]);
    client.send({ UserInput: "x".repeat(5000) });
    expect(await client.next("Error")).toContain("longer than 4096 bytes");
    client.send({ UserInput: "hi" });
    expect(await client.next("TurnEnd")).toMatchObject({ status: "Completed" });
    client.send({ UserInput: "x".repeat(20_000) });
    expect(await client.closed).toMatchObject({ code: 1009 });
    expect((await server.session([{ say: "next" }])).of("SessionStart")).toHaveLength(1);
  });
});

describe("two clients", () => {
  it("N77: do not see each other's events, and neither waits for the other", async () => {
    const server = await serveWs();
    const [one, two] = await Promise.all([
      server.session([{ say: "for one" }]),
      server.session([bash("echo up; sleep 300"), { say: "no" }], { policy: "yolo" }),
    ]);
    two.send({ UserInput: "go" });
    await two.next("ToolUpdate");
    one.send({ UserInput: "hi" });
    await one.next("TurnEnd");
    expect(one.of("AgentMessage")).toEqual(["for one"]);
    expect(two.names()).not.toContain("AgentMessage");
    expect(one.of("SessionStart")[0]?.session_id).not.toBe(two.of("SessionStart")[0]?.session_id);
    two.send("Interrupt");
    expect(await two.next("TurnEnd")).toMatchObject({ status: { Interrupted: {} } });
  });

  it("cannot have the same session at once", async () => {
    const server = await serveWs();
    const one = await server.session([{ say: "a" }]);
    one.send({ UserInput: "hi" });
    await one.next("TurnEnd");
    const { session_id } = await one.next("SessionStart");
    const two = await server.connect();
    two.send({ ResumeSession: { session_id } });
    expect(await two.next("Error")).toContain("Failed to resume session:");
    one.socket.terminate();
    await one.closed;
    const three = await server.connect();
    three.send({ ResumeSession: { session_id } });
    expect(await three.next("SessionStart")).toMatchObject({ session_id });
    expect(three.names()).not.toContain("Error");
  });

  it("a client that comes back for its session gets it, though what its turn ran takes its time to end", async () => {
    const server = await serveWs();
    const lost = await server.session([bash("trap '' TERM; echo up; sleep 300; sleep 300")], { policy: "yolo" });
    lost.send({ UserInput: "go" });
    await lost.next("ToolUpdate", 2);
    const { session_id } = await lost.next("SessionStart");
    lost.socket.terminate();
    await lost.closed;
    const back = await server.connect();
    back.send({ ResumeSession: { session_id } });
    await Promise.race([back.next("SessionStart"), back.next("Error")]);
    expect([back.of("Error"), back.of("SessionStart")]).toMatchObject([[], [{ session_id }]]);
  });

  it("that leave while they wait for their sessions keep nobody", async () => {
    const server = await serveWs();
    const lost = await server.session([bash("trap '' TERM; echo up; sleep 300; sleep 300")], { policy: "yolo" });
    lost.send({ UserInput: "go" });
    await lost.next("ToolUpdate", 2);
    const { session_id } = await lost.next("SessionStart");
    const waiting = await Promise.all([server.connect(), server.connect()]);
    const last = await server.connect();
    lost.socket.terminate();
    await lost.closed;
    for (const { socket } of waiting) {
      socket.send(JSON.stringify({ op: { ResumeSession: { session_id } }, id: "op_01ARZ3NDEKTSV4RRFFQ69G5FAV" }));
      socket.terminate();
    }
    await Promise.all(waiting.map(({ closed }) => closed));
    last.send("Shutdown");
    expect(await server.exited).toEqual({ code: 0, signal: null });
  });
});

describe("the end", () => {
  it.runIf(process.platform === "linux")(
    "of a client ends what left its group and emptied its environment, and nobody else's",
    async () => {
      const [one, other] = [mark(), mark()];
      onTestFinished(() => {
        for (const pid of [one, other].flatMap(processesWith)) process.kill(pid, "SIGKILL");
      });
      const server = await serveWs();
      const [first, second] = await Promise.all(
        [one, other].map(async (tag) => {
          const hide = `env -i setsid sh -c 'while :; do sleep 1; done' ${tag} >/dev/null 2>&1 & echo up`;
          const client = await server.session([bash(hide), { say: "done" }], { policy: "yolo" });
          client.send({ UserInput: "go" });
          await client.next("TurnEnd");
          // The shell's own copy is there until it has become the sleep.
          await until(() => processesWith(tag).length === 1);
          return client;
        }),
      );
      first?.socket.terminate();
      await until(() => processesWith(one).length === 0);
      await until(() => processesWith(other).length === 1);
      second?.socket.terminate();
      await until(() => processesWith(other).length === 0);
    },
  );

  it("N75: of a client in the middle of a turn leaves no process, and the next one gets a clean daemon", async () => {
    const tag = mark();
    const server = await serveWs();
    const client = await server.session([bash(`export MARK=${tag}; echo up; sleep 300 & sleep 301`)], { policy: "yolo" });
    client.send({ UserInput: "go" });
    await client.next("ToolUpdate");
    await until(() => processesWith(tag).length > 0);
    client.socket.terminate();
    await until(() => processesWith(tag).length === 0);
    const next = await server.session([{ say: "clean" }]);
    next.send({ UserInput: "hi" });
    await next.next("TurnEnd");
    expect(next.of("AgentMessage")).toEqual(["clean"]);
  });

  it("N76: by Shutdown is the end of the connection, of the others and of the server", async () => {
    const tag = mark();
    const server = await serveWs();
    const other = await server.session([bash(`export MARK=${tag}; echo up; sleep 300`)], { policy: "yolo" });
    other.send({ UserInput: "go" });
    await other.next("ToolUpdate");
    const client = await server.session();
    client.send("Shutdown");
    expect(await client.closed).toMatchObject({ code: 1000 });
    expect(client.names().slice(-2)).toEqual(["SessionEnd", "Goodbye"]);
    expect(await other.closed).toMatchObject({ code: 1000 });
    expect(other.names().slice(-3)).toEqual(["TurnEnd", "SessionEnd", "Goodbye"]);
    expect(other.of("TurnEnd")).toMatchObject([{ status: { Interrupted: {} } }]);
    expect(await server.exited).toEqual({ code: 0, signal: null });
    await until(() => processesWith(tag).length === 0);
  });

  it("by Shutdown does not wait forever for a client that does not read", async () => {
    const server = await serveWs();
    const deaf = await server.session([{ say: { text: "0123456789abcdef ", pieces: 100_000 } }]);
    deaf.send({ UserInput: "go" });
    await deaf.next("MessageDelta");
    deaf.socket.pause();
    const client = await server.connect();
    client.send("Shutdown");
    await client.closed;
    expect(await server.exited).toEqual({ code: 0, signal: null });
  });

  it.each([
    ["SIGTERM", 143],
    ["SIGINT", 130],
  ] as const)("by %s tells every client and exits with %i", async (signal, code) => {
    const server = await serveWs();
    const clients = await Promise.all([server.session(), server.session()]);
    clients[0].send({ UserInput: "wait forever" });
    await clients[0].next("TurnStart");
    server.child.kill(signal);
    expect(await server.exited).toEqual({ code, signal: null });
    for (const client of clients) {
      await client.closed;
      expect(client.names().slice(-2)).toEqual(["SessionEnd", "Goodbye"]);
    }
  });

  it("of a process by kill -9 leaves no child", async () => {
    const tag = mark();
    const server = await serveWs();
    const client = await server.session([bash(`export MARK=${tag}; echo up; sleep 300`)], { policy: "yolo" });
    client.send({ UserInput: "go" });
    await client.next("ToolUpdate");
    server.child.kill("SIGKILL");
    await server.exited;
    await until(() => processesWith(tag).length === 0);
  });
});

describe("what is no client", () => {
  it("N74: does no harm: a bare connection, garbage, a request, half a handshake", async () => {
    const server = await serveWs();
    const living = await server.session([{ say: "alive" }]);
    for (const words of [
      "",
      "\u0000\u0001garbage\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
    ]) {
      await new Promise<void>((resolve) => {
        const socket = connect(server.port, "127.0.0.1", () => socket.end(words));
        socket.on("error", () => {});
        socket.on("close", () => resolve());
        socket.resume();
      });
    }
    const half = connect(server.port, "127.0.0.1", () => half.write("GET / HTTP/1.1\r\nHost: 127"));
    half.on("error", () => {});
    living.send({ UserInput: "hi" });
    await living.next("TurnEnd");
    expect(living.of("AgentMessage")).toEqual(["alive"]);
    living.send("Shutdown");
    await living.closed;
    expect(await server.exited).toEqual({ code: 0, signal: null });
    half.destroy();
    expect(server.stderr.trim()).toBe(`listening on ${server.url}`);
  });
});

describe("flags", () => {
  it("decide where StartSession says nothing", async () => {
    const server = await serveWs({ args: ["--yolo", "--disallowed-tools", "Write"] });
    const free = await server.session([bash("echo free"), { say: "done" }]);
    free.send({ UserInput: "go" });
    await free.next("TurnEnd");
    expect(free.names()).not.toContain("TurnPause");
    const asked = await server.session([bash("echo asked")], { policy: "default" });
    asked.send({ UserInput: "go" });
    await asked.next("TurnPause");
    asked.send("Interrupt");
    await asked.next("TurnEnd");
    const without = await server.session([{ call: { tool: "Write", args: { file_path: "a.txt", content: "x" } } }, { say: "done" }]);
    without.send({ UserInput: "go" });
    await without.next("TurnEnd");
    expect(without.of("ToolEnd")).toMatchObject([{ status: "Failed" }]);
  });

  it.each([
    [["serve", "--stdio", "--ws", "127.0.0.1:0"], "exclude each other"],
    [["serve", "--ws", "nonsense"], "HOST:PORT"],
    [["serve", "--ws", "127.0.0.1:70000"], "HOST:PORT"],
    [["serve", "--ws", "0.0.0.0:0"], "--token-file"],
    [["serve", "--ws", "[::]:0"], "--token-file"],
    ...[
      "*",
      "null",
      "",
      "file://",
      "https://",
      "https://a.example/path",
      "https://a.example,https://b.example",
      "https://*.example",
      "https://u@a.example",
      "https://a.example:99999",
    ].map((origin): [string[], string] => [["serve", "--ws", "127.0.0.1:0", "--allow-origin", origin], "--allow-origin takes an origin"]),
    [["serve", "--ws", "127.0.0.1:0", "--token-file", "/no/such/file"], "/no/such/file"],
    [["serve", "--token-file", "x"], "without --ws"],
    [["serve", "-p", "hello"], "prompts come over the protocol"],
    [["serve", "--ws", "127.0.0.1:0", "--prompt", "hello"], "prompts come over the protocol"],
  ])("N79, N80: %j is wrong usage", async (args, words) => {
    const { code, stderr } = await run(args);
    expect(stderr).toContain(words);
    expect(code).toBe(2);
  });

  it.each(["--resume", "--session-id"])("%s is told to mean nothing where the host opens its sessions itself", async (flag) => {
    const { code, stderr } = await run(["serve", flag, "mine", "--provider", "rehearsal"]);
    expect(stderr).toContain(`${flag} means nothing to a host of 'ante': it opens its sessions itself`);
    expect(code).toBe(0);
  });

  it("a port that is taken is one clear error", async () => {
    const server = await serveWs();
    const { code, stderr } = await run(["serve", "--ws", `127.0.0.1:${server.port}`]);
    expect(stderr).toContain("another program listens there");
    expect(code).toBe(1);
  });

  it("and Ante's own settings.json bring the servers of a user who comes from there", async () => {
    const old = {
      command: process.execPath,
      args: [fixture("mcp/official.mjs"), "stdio"],
      env: { FROM: "ante" },
      enabled_tools: ["echo", "env"],
    };
    const server = await serveWs({
      env: { ANTE_HOME: scratch({ "settings.json": JSON.stringify({ theme: "dark", mcp_servers: { old } }) }) },
    });
    const client = await server.session([{ call: { tool: "mcp__old__env", args: { name: "FROM" }, id: "e" } }, { say: "done" }], {
      policy: "yolo",
    });
    await until(() => client.of("ExtensionRefreshed").some(({ mcp_servers }) => mcp_servers.length > 0));
    expect(client.of("ExtensionRefreshed").at(-1)?.mcp_servers).toMatchObject([
      { name: "old", tools: [{ qualified_name: "mcp__old__echo" }, { qualified_name: "mcp__old__env" }] },
    ]);
    client.send({ UserInput: "go" });
    await client.next("TurnEnd");
    expect(client.of("ToolEnd")).toMatchObject([{ status: "Completed", result_json: expect.anything() }]);
    expect(JSON.stringify(client.of("ToolEnd"))).toContain("ante");
  });

  it("a broken settings.json of Ante's home is one warning", async () => {
    const server = await serveWs({ env: { ANTE_HOME: scratch({ "settings.json": "{ no" }) } });
    expect(server.stderr.match(/settings\.json/g)).toHaveLength(1);
  });
});

/** More than the system itself would buffer between two sockets. */
const FLOOD = 100_000;

describe("a client that stops reading", () => {
  it("loses nothing", { timeout: 120_000 }, async () => {
    const server = await serveWs();
    const client = await server.session([{ say: { text: "0123456789abcdef ", pieces: FLOOD } }]);
    client.socket.pause();
    client.send({ UserInput: "go" });
    await idle(server.child.pid);
    client.socket.resume();
    await client.next("TurnEnd");
    const deltas = client.of("MessageDelta");
    expect(deltas).toHaveLength(FLOOD);
    expect(deltas.join("") === client.of("AgentMessage")[0]).toBe(true);
  });

  it("costs bounded memory, and still has its Interrupt heard", { timeout: 120_000 }, async () => {
    const server = await serveWs();
    const client = await server.session([{ say: { text: "0123456789abcdef ", pieces: 20 * FLOOD } }]);
    client.socket.pause();
    client.send({ UserInput: "go" });
    await idle(server.child.pid);
    // All of it would be several times as much.
    expect(rss(server.child.pid)).toBeLessThan(250 * 1024 * 1024);
    client.send("Interrupt");
    client.socket.resume();
    expect(await client.next("TurnEnd")).toMatchObject({ status: { Interrupted: {} } });
    expect(client.heard.length).toBeLessThan(20 * FLOOD);
  });

  it("over a pipe loses nothing, too", { timeout: 120_000 }, async () => {
    const client = await started({ responses: [{ say: { text: "0123456789abcdef ", pieces: FLOOD } }] });
    const { pid, stdout } = client.daemon.child;
    stdout.pause();
    const op = client.input();
    await idle(pid);
    stdout.resume();
    expect(await client.status(op)).toBe("Completed");
    expect(client.names(op).filter((name) => name === "MessageDelta")).toHaveLength(FLOOD);
    expect(await client.finish()).toBe(0);
  });

  it("over a pipe costs bounded memory, and still has its Interrupt heard, too", { timeout: 120_000 }, async () => {
    const client = await started({ responses: [{ say: { text: "0123456789abcdef ", pieces: 20 * FLOOD } }] });
    const { pid, stdout } = client.daemon.child;
    stdout.pause();
    const op = client.input();
    await idle(pid);
    expect(rss(pid)).toBeLessThan(250 * 1024 * 1024);
    client.send("Interrupt");
    stdout.resume();
    expect(await client.status(op)).toMatchObject({ Interrupted: {} });
    expect(await client.finish()).toBe(0);
  });
});
