/**
 * The two lines that a case runs over: the pipe of a daemon of its own, and a socket of a server that somebody else has a session on,
 * too. That bystander must hear nothing of the case, nor the case of it.
 */
import { expect, onTestFinished } from "vitest";
import { WebSocket } from "ws";
import { scratch } from "../process/harness.js";
import { AnteClient, Daemon, homeOf, modelOf, nameOf, type AnteLine, type ClientOptions, type DaemonOptions } from "./client.js";
import { serveWs, WsLine, type WsServer } from "./ws-client.js";

interface Over {
  over: string;
  /** A client of a daemon of its own, as far as it can tell. */
  launch(options?: ClientOptions): AnteClient;
  /** The same, with a session. */
  started(options?: ClientOptions & { session?: Record<string, unknown> }): Promise<AnteClient>;
}

export const LINES: Over[] = [
  over("stdio", (options) => new AnteClient(new Daemon(options), modelOf(options))),
  over("WebSocket", (options) => new AnteClient(new SharedServer(options), modelOf(options))),
];

function over(name: string, connect: (options: ClientOptions) => AnteClient): Over {
  const launch = (options: ClientOptions = {}): AnteClient => connect(options);
  return {
    over: name,
    launch,
    async started(options = {}) {
      const client = launch(options);
      await client.start(options.session);
      return client;
    },
  };
}

/** `parley serve --ws` with a bystander's session, and the socket of the client under test; its end is that of the process. */
class SharedServer implements AnteLine {
  readonly closed: Promise<number | null>;
  /** Nothing is sent before the bystander is there. */
  readonly #opened: Promise<Opened>;

  constructor(options: DaemonOptions) {
    this.#opened = open(options);
    this.closed = this.#opened.then(async ({ server }) => (await server.exited).code);
  }

  send(text: string): void {
    void this.#opened.then(({ line }) => line.send(text));
  }

  onRecord(hear: (text: string) => void): void {
    void this.#opened.then(({ line }) => line.onRecord(hear));
  }

  end(): void {
    void this.#opened.then(({ line }) => line.end());
  }

  kill(): void {
    void this.#opened.then(({ server }) => server.child.kill("SIGKILL"));
  }
}

interface Opened {
  server: WsServer;
  line: WsLine;
}

async function open(options: DaemonOptions): Promise<Opened> {
  const env = { PARLEY_HOME: homeOf(options), ...options.env };
  const server = await serveWs({ ...options, env });
  const bystander = new AnteClient(await connect(server));
  await bystander.start({ cwd: scratch() });
  const line = await connect(server);
  const heard: string[] = [];
  line.onRecord((text) => heard.push(text));
  onTestFinished(() => apart(server, bystander, heard));
  return { server, line };
}

/** Holds what the bystander heard, up to now or up to the end of the server, against what is its own. */
async function apart(server: WsServer, bystander: AnteClient, heard: string[]): Promise<void> {
  const probe = bystander.send({ Probe: {} });
  if (server.child.exitCode === null) await bystander.error(probe);
  else await bystander.closed;
  const [session] = bystander.of("SessionStart");
  const others = bystander.msgs.filter(({ parent }) => parent !== session?.parent && parent !== probe);
  expect(others.map(nameOf).filter((name) => !/^(ExtensionRefreshed|InfoBlock\w+|SessionEnd|Goodbye)$/.test(name))).toEqual([]);
  for (const { fields } of bystander.of("ExtensionRefreshed")) expect(fields.session_id).toBe(session?.fields.session_id);
  for (const own of [session?.parent, session?.fields.session_id]) expect(heard.join("\n")).not.toContain(own);
}

async function connect(server: WsServer): Promise<WsLine> {
  const socket = new WebSocket(server.url);
  await new Promise((resolve, reject) => {
    socket.once("open", resolve);
    socket.once("error", reject);
  });
  socket.on("error", () => {});
  return new WsLine(socket);
}
