/** A listener for WebSockets: a client that passes the rules becomes a transport. Other clients get an HTTP answer, or none. */
import { lookup } from "node:dns/promises";
import { createServer, STATUS_CODES, type IncomingMessage, type Server } from "node:http";
import { isIPv6 } from "node:net";
import type { Duplex } from "node:stream";
import { WebSocketServer } from "ws";
import { messageOf, ParleyError, systemCode } from "../core/errors.js";
import type { Framing } from "../os/lines.js";
import { KEEP_ALIVE_MS, SocketTransport, socketSettings } from "./ws.js";
import { isLoopback, refusal, tokenOf, userRefusal, type Refused, type Rules } from "./ws-rules.js";

/** How long a client of another machine may leave its requested output unread. */
const PATIENCE_MS = 60_000;

/** The most accepted connections; each has an agent of its own. */
const MOST_CLIENTS = 512;
/** The most connections that are not accepted yet, or never will be. */
const MOST_WAITING = 512;
/** The time from the connection to the last byte of its headers, and the interval of checks, so that it may take twice as long. */
const HANDSHAKE_MS = 10_000;

export interface ListenOptions extends Pick<Rules, "tokens" | "allowOrigins"> {
  host: string;
  /** 0 picks a free port. */
  port: number;
  framing: Framing;
  frameCap?: number;
  patienceMs?: number;
  /** The interval of pings to a client of another machine; 0 sends none. */
  keepAliveMs?: number | undefined;
  mostClients?: number;
  mostWaiting?: number;
  handshakeMs?: number;
}

export interface Listener {
  /** `ws://HOST:PORT` with the bound port. */
  readonly url: string;
  /** Accepts no more clients; open connections stay. */
  close(): void;
}

/** `owner` is the owner of the client's token. */
type Accept = (transport: SocketTransport, owner: string | undefined) => void;

/** A listener beyond this machine needs a token. Rejects with a fault that names the problem. */
export async function listen(options: ListenOptions, accept: Accept): Promise<Listener> {
  const { framing, frameCap, tokens, allowOrigins } = options;
  const address = await resolved(options.host);
  const rules: Rules = { tokens, allowOrigins, isLoopback: isLoopback(address) };
  if (!rules.isLoopback && tokens.length === 0) {
    throw fault(
      "usage",
      `${options.host} can be reached from other machines, so a token is needed: --token-file FILE (or listen on 127.0.0.1)`,
    );
  }
  const patienceMs = rules.isLoopback ? undefined : (options.patienceMs ?? PATIENCE_MS);
  const keepAliveMs = rules.isLoopback ? undefined : (options.keepAliveMs ?? KEEP_ALIVE_MS) || undefined;
  const sockets = new WebSocketServer({ noServer: true, clientTracking: false, ...socketSettings(frameCap) });
  const { mostClients = MOST_CLIENTS, mostWaiting = MOST_WAITING, handshakeMs = HANDSHAKE_MS } = options;
  const limits = { headersTimeout: handshakeMs, requestTimeout: handshakeMs, connectionsCheckingInterval: handshakeMs };
  const server = createServer(limits, (_request, response) => {
    response.writeHead(426, { upgrade: "websocket", connection: "Upgrade" }).end("This is a WebSocket\n");
  });
  /** Connections that are not accepted yet, oldest first. */
  const waiting = new Set<Duplex>();
  let clients = 0;
  server.on("connection", (stream) => {
    waiting.add(stream);
    stream.once("close", () => waiting.delete(stream));
    const [longest] = waiting;
    // A legitimate client is accepted within moments, so the oldest waiting connection is dropped first.
    if (longest !== undefined && waiting.size > mostWaiting)
      turnAway(longest, unavailable(`More than ${mostWaiting} connections wait to be let in`));
  });
  server.on("upgrade", (request, stream, head) => {
    stream.on("error", () => {});
    void admit(request, stream, head);
  });

  async function admit(request: IncomingMessage, stream: Duplex, head: Buffer): Promise<void> {
    const token = tokenOf(request.headers.authorization, tokens);
    const refused = refusal(request, token, rules) ?? (tokens.length === 0 ? await userRefusal(request.socket) : undefined);
    if (refused !== undefined) return turnAway(stream, refused);
    // The listener was closed while the client's user was looked up.
    if (!server.listening) return void stream.destroy();
    if (clients >= mostClients) return turnAway(stream, unavailable(`${clients} clients are connected, and that is the most`));
    sockets.handleUpgrade(request, stream, head, (socket) => {
      waiting.delete(stream);
      clients++;
      socket.once("close", () => clients--);
      const transport = new SocketTransport(socket, { framing, tooLong: "shorten", frameCap, patienceMs, keepAliveMs, stream });
      accept(transport, token?.owner);
    });
  }

  function turnAway(stream: Duplex, refused: Refused): void {
    waiting.delete(stream);
    answer(stream, refused);
  }

  await listening(server, address, options);
  return {
    url: urlOf(server),
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function resolved(host: string): Promise<string> {
  try {
    return (await lookup(host)).address;
  } catch (error) {
    throw fault("usage", `Cannot listen on '${host}': ${systemCode(error) === "ENOTFOUND" ? "there is no such host" : messageOf(error)}`);
  }
}

async function listening(server: Server, address: string, { host, port }: ListenOptions): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) => reject(fault("config", `Cannot listen on ${host}:${port}: ${unusable(error)}`)));
    server.listen({ host: address, port }, resolve);
  });
  // Later errors concern single connections that could not be accepted.
  server.on("error", () => {});
}

function unusable(error: unknown): string {
  switch (systemCode(error)) {
    case "EADDRINUSE":
      return "another program listens there; choose another port, or 0 for a free one";
    case "EACCES":
      return "the system does not allow it; choose a port from 1024";
    case "EADDRNOTAVAIL":
      return "this machine does not have that address";
    default:
      return messageOf(error);
  }
}

function urlOf(server: Server): string {
  const bound = server.address();
  if (bound === null || typeof bound === "string") throw new Error("a listener without a port");
  return `ws://${isIPv6(bound.address) ? `[${bound.address}]` : bound.address}:${bound.port}`;
}

function unavailable(why: string): Refused {
  return { status: 503, why: `${why}; try again later` };
}

function answer(stream: Duplex, { status, why }: Refused): void {
  const body = `${why}\n`;
  const challenge = status === 401 ? "WWW-Authenticate: Bearer\r\n" : "";
  stream.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\n${challenge}Connection: close\r\nContent-Type: text/plain\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    () => stream.destroy(),
  );
}

function fault(code: "usage" | "config", message: string): ParleyError {
  return new ParleyError({ code, message, retryable: false });
}
