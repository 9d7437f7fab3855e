/**
 * The proxy by which commands in the sandbox reach the hosts that the config lists. It opens tunnels (CONNECT) and reads nothing in them:
 * the name of the host decides, and the address that it stands for.
 */
import { lookup } from "node:dns";
import { timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type Server } from "node:http";
import { connect, isIP, type LookupFunction, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { patternFor } from "../../../core/text/host-pattern.js";
import { contentHash } from "../../../os/digest.js";
import { proxyFor } from "../../../os/proxy/proxy.js";
import { isPublicAddress } from "../../tools/web/public-address.js";

/** The most clients at a time. */
const MAX_TUNNELS = 256;
const CONNECT_MS = 30_000;

export interface HostProxy {
  close(): void;
}

/** `token`: the password that a client must give, where others than the commands could reach the proxy. */
export async function openProxy(
  hosts: readonly string[],
  at: { path: string } | { port: 0 },
  token?: string,
): Promise<HostProxy & { port: number }> {
  const open = new Set<Duplex>();
  const server = createServer((_, response) => {
    response.writeHead(405, { "content-type": "text/plain", connection: "close" });
    response.end("The sandbox lets https through (CONNECT), and not plain http.\n");
  });
  server.on("connect", (request: IncomingMessage, client: Duplex, head: Buffer) => {
    open.add(client);
    client.on("close", () => open.delete(client));
    client.on("error", () => client.destroy());
    const refuse = (status: string, why: string): void => {
      client.end(`HTTP/1.1 ${status}\r\ncontent-type: text/plain\r\nconnection: close\r\n\r\n${why}\n`);
    };
    if (token !== undefined && !isLogin(request.headers["proxy-authorization"], token))
      return refuse("407 Proxy Authentication Required", "This proxy is for commands of a sandbox.");
    const target = targetOf(request.url ?? "");
    const pattern = target && patternFor(hosts, target.host, target.port);
    // An address has no hosts below it.
    if (target === undefined || pattern === undefined || (isIP(target.host) !== 0 && !pattern.isExact))
      return refuse("403 Forbidden", `The sandbox does not let ${request.url} through; sandbox.network in the config lists the hosts.`);
    reach(target, pattern.isExact).then(
      (remote) => {
        if (client.destroyed) return void remote.destroy();
        open.add(remote);
        remote.on("close", () => {
          open.delete(remote);
          client.destroy();
        });
        client.on("close", () => remote.destroy());
        remote.on("error", () => client.destroy());
        client.write("HTTP/1.1 200 Connection established\r\n\r\n");
        if (head.length > 0) remote.write(head);
        remote.pipe(client).pipe(remote);
      },
      (error: unknown) => refuse("502 Bad Gateway", error instanceof Error ? error.message : String(error)),
    );
  });
  server.maxConnections = MAX_TUNNELS;
  await listening(server, at);
  const address = server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : 0,
    close() {
      server.close();
      server.closeAllConnections();
      for (const socket of open) socket.destroy();
    },
  };
}

function listening(server: Server, at: { path: string } | { port: 0 }): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen("path" in at ? at : { ...at, host: "127.0.0.1" }, resolve);
    server.unref();
  });
}

function isLogin(given: string | undefined, token: string): boolean {
  const [, basic = ""] = /^Basic +(\S+)$/i.exec(given ?? "") ?? [];
  const password = Buffer.from(basic, "base64")
    .toString()
    .replace(/^[^:]*:/, "");
  return timingSafeEqual(Buffer.from(contentHash(password)), Buffer.from(contentHash(token)));
}

interface Target {
  host: string;
  port: number;
}

function targetOf(text: string): Target | undefined {
  const [, bracketed, plain, port] = /^(?:\[([a-f\d:.]+)\]|([^:[\]/@\s]+)):(\d{1,5})$/i.exec(text) ?? [];
  const host = (bracketed ?? plain)?.toLowerCase();
  return host === undefined ? undefined : { host, port: Number(port) };
}

/** Through the proxy of our own environment, if it names one for that host. */
async function reach({ host, port }: Target, isExact: boolean): Promise<Socket> {
  const name = isIP(host) === 6 ? `[${host}]` : host;
  const proxy = proxyFor(new URL(`https://${name}:${port}`));
  if (proxy !== undefined) {
    const { tunnelThrough } = await import("../../../os/proxy/proxy-agent.js");
    return tunnelThrough(proxy, `${name}:${port}`);
  }
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, lookup: lookupFor(host, isExact), timeout: CONNECT_MS });
    socket.once("error", reject);
    socket.once("timeout", () => socket.destroy(new Error(`${host} did not answer`)));
    socket.once("connect", () => {
      socket.setTimeout(0);
      resolve(socket);
    });
  });
}

/**
 * A name must not lead to this machine or its neighbours, unless the config names that very host: then it may be of a private network, but
 * still not of this machine. The connection goes to the checked address.
 */
function lookupFor(host: string, isExact: boolean): LookupFunction {
  return (name, options, callback) => {
    lookup(name, { ...options, all: true }, (error, found) => {
      if (error !== null) return callback(error, "");
      const isOwn = host === "localhost" && isExact;
      const allowed = found.filter(({ address }) => isOwn || isPublicAddress(address) || (isExact && isNeighbour(address)));
      const [first] = allowed;
      if (first === undefined)
        return callback(new Error(`${host} leads to ${found.map(({ address }) => address).join(", ")}, which is not let through`), "");
      if (options.all === true) callback(null, allowed);
      else callback(null, first.address, first.family);
    });
  };
}

function isNeighbour(address: string): boolean {
  return /^(?:10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.|f[cd][\da-f]{2}:)/i.test(address);
}
