/** A listener for WebSockets: whoever passes the rules becomes a transport. Everybody else gets an HTTP answer, or nothing. */
import { lookup } from "node:dns/promises";
import { createServer, STATUS_CODES, type Server } from "node:http";
import { isIPv6 } from "node:net";
import type { Duplex } from "node:stream";
import { WebSocketServer } from "ws";
import { messageOf, ParleyError, systemCode } from "../core/errors.js";
import type { Framing } from "../os/lines.js";
import { KEEP_ALIVE_MS, SocketTransport, socketSettings } from "./ws.js";
import { isLoopback, refusal, type Rules } from "./ws-rules.js";

/** How long a client from elsewhere may leave unread what it asked for. */
const PATIENCE_MS = 60_000;

export interface ListenOptions extends Pick<Rules, "token" | "allowOrigins"> {
  host: string;
  /** 0 picks a free one. */
  port: number;
  framing: Framing;
  frameCap?: number;
  patienceMs?: number;
  /** How often a client from elsewhere is asked whether it is there; 0 never. */
  keepAliveMs?: number | undefined;
}

export interface Listener {
  /** `ws://HOST:PORT`, as it is bound. */
  readonly url: string;
  /** Accepts nobody any more; the connections that there are go on. */
  close(): void;
}

/** Off loopback a token is required. Rejects with a fault that says what is wrong. */
export async function listen(options: ListenOptions, accept: (transport: SocketTransport) => void): Promise<Listener> {
  const { framing, frameCap, token, allowOrigins } = options;
  const address = await resolved(options.host);
  const rules: Rules = { token, allowOrigins, isLoopback: isLoopback(address) };
  if (!rules.isLoopback && token === undefined) {
    throw fault(
      "usage",
      `${options.host} can be reached from other machines, so a token is needed: --token-file FILE (or listen on 127.0.0.1)`,
    );
  }
  const patienceMs = rules.isLoopback ? undefined : (options.patienceMs ?? PATIENCE_MS);
  const keepAliveMs = rules.isLoopback ? undefined : (options.keepAliveMs ?? KEEP_ALIVE_MS) || undefined;
  const sockets = new WebSocketServer({ noServer: true, clientTracking: false, ...socketSettings(frameCap) });
  const server = createServer((_request, response) => {
    response.writeHead(426, { upgrade: "websocket", connection: "Upgrade" }).end("This is a WebSocket\n");
  });
  server.on("upgrade", (request, stream, head) => {
    stream.on("error", () => {});
    const refused = refusal(request.headers, rules);
    if (refused !== undefined) return answer(stream, refused.status, refused.why);
    sockets.handleUpgrade(request, stream, head, (socket) =>
      accept(new SocketTransport(socket, { framing, tooLong: "shorten", frameCap, patienceMs, keepAliveMs, stream })),
    );
  });
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
  // Later ones are about single connections that could not be accepted.
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

function answer(stream: Duplex, status: number, why: string): void {
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
