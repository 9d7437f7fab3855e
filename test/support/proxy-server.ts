/** A proxy on loopback: it takes tunnels (CONNECT) to whatever name, and leads each to the port that the test says. */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { connect, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { createServer as createTlsServer } from "node:tls";
import { onTestFinished } from "vitest";

const TLS = join(import.meta.dirname, "../fixtures/tls");
/** The certificate of models.test and its subdomains, signed by itself. */
export const CERTIFICATE = join(TLS, "models.test.pem");

export interface ProxyServer {
  url: string;
  /** The targets that were asked for, in order. */
  targets: string[];
  /** The logins that came with them. */
  logins: string[];
}

/** `ports` by target, as in "models.test:443"; a target without one is refused with 403. `login`: "NAME:PASSWORD" that it wants. */
export async function proxyServer(ports: Readonly<Record<string, number>>, login?: string): Promise<ProxyServer> {
  const seen: ProxyServer = { url: "", targets: [], logins: [] };
  const server = createServer((_request, response) => void response.writeHead(400).end());
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => sockets.add(socket));
  server.on("connect", (request, socket: Socket) => {
    const target = request.url ?? "";
    seen.targets.push(target);
    const given = Buffer.from(request.headers["proxy-authorization"]?.replace("Basic ", "") ?? "", "base64").toString();
    seen.logins.push(given);
    const port = ports[target];
    if (login !== undefined && given !== login) return socket.end("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n");
    if (port === undefined) return socket.end("HTTP/1.1 403 Forbidden\r\n\r\n");
    const behind = connect(port, "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 Connection Established\r\n\r\n");
      behind.pipe(socket).pipe(behind);
    });
    sockets.add(behind);
    for (const end of [socket, behind]) end.on("error", () => [socket, behind].forEach((one) => one.destroy()));
  });
  seen.url = `http://127.0.0.1:${await listen(server, sockets)}`;
  return seen;
}

/** The port of a server that takes the TLS off, and hands on to another port what was inside. */
export async function tlsBefore(port: number): Promise<number> {
  const sockets = new Set<Socket>();
  const key = readFileSync(join(TLS, "models.test.key.pem"));
  const server = createTlsServer({ key, cert: readFileSync(CERTIFICATE) }, (secure) => {
    const behind = connect(port, "127.0.0.1");
    for (const end of [secure, behind]) end.on("error", () => [secure, behind].forEach((one) => one.destroy()));
    sockets.add(behind);
    secure.pipe(behind).pipe(secure);
  });
  server.on("connection", (socket) => sockets.add(socket));
  return listen(server, sockets);
}

async function listen(server: Server, sockets: ReadonlySet<Socket>): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The server has no port");
  return address.port;
}

export function portOf(url: string): number {
  return Number(new URL(url).port);
}
