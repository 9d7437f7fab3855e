/** Connections through a proxy by a tunnel (CONNECT); the proxy cannot read TLS traffic in it. */
import { Agent as HttpAgent, request as httpRequest, type ClientRequestArgs } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { isIP, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { connect as tlsConnect, type ConnectionOptions } from "node:tls";
import { ParleyError } from "../../core/errors.js";

/** Milliseconds within which a proxy must answer. */
const ANSWER_MS = 30_000;

type Done = (error: Error | null, stream?: Duplex) => void;

/** `protocol` is that of the target servers: "http:" or "https:". Connections are kept for later requests. */
export function proxyAgent(proxy: string, protocol: string): HttpAgent {
  const address = addressOf(proxy);
  const isSecure = protocol === "https:";
  const agent = isSecure ? new HttpsAgent({ keepAlive: true }) : new HttpAgent({ keepAlive: true });
  const open = async (options: ClientRequestArgs & ConnectionOptions): Promise<Duplex> => {
    const host = options.host ?? "";
    const socket = await tunnel(address, `${isIP(host) === 6 ? `[${host}]` : host}:${options.port ?? (isSecure ? 443 : 80)}`);
    if (!isSecure) return socket;
    return tlsConnect({ ...options, socket, ...(isIP(host) === 0 && { servername: options.servername ?? host }) });
  };
  return Object.assign(agent, {
    createConnection(options: ClientRequestArgs & ConnectionOptions, done: Done): undefined {
      open(options).then(
        (stream) => done(null, stream),
        (error: unknown) => done(error instanceof Error ? error : new Error(String(error))),
      );
    },
  });
}

function addressOf(proxy: string): URL {
  const address = URL.canParse(proxy) ? new URL(proxy) : undefined;
  if (address?.protocol === "http:" || address?.protocol === "https:") return address;
  const shown = address === undefined ? "that" : `${address.protocol}//`;
  throw refusal(`HTTPS_PROXY and HTTP_PROXY take an http or https address such as http://proxy.example:3128, not ${shown}`);
}

/** A connection to `target` (host:port) through the proxy. */
export function tunnelThrough(proxy: string, target: string): Promise<Socket> {
  return tunnel(addressOf(proxy), target);
}

function tunnel(proxy: URL, target: string): Promise<Socket> {
  const { protocol, hostname, port, username, password } = proxy;
  const request = protocol === "https:" ? httpsRequest : httpRequest;
  const login = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString("base64");
  return new Promise((resolve, reject) => {
    const asking = request({
      host: hostname.replace(/^\[|\]$/g, ""),
      port: port || (protocol === "https:" ? 443 : 80),
      method: "CONNECT",
      path: target,
      headers: { host: target, ...(username !== "" && { "proxy-authorization": `Basic ${login}` }) },
      agent: false,
      timeout: ANSWER_MS,
    });
    asking.once("connect", ({ statusCode }, socket, head) => {
      // A server that speaks first may have spoken already.
      if (head.length > 0) socket.unshift(head);
      if (statusCode === 200) return resolve(socket);
      socket.destroy();
      reject(refused(proxy, target, statusCode));
    });
    asking.once("response", (response) => {
      response.destroy();
      reject(refused(proxy, target, response.statusCode));
    });
    asking.once("timeout", () => asking.destroy(Object.assign(new Error(`The proxy ${proxy.host} did not answer`), { code: "ETIMEDOUT" })));
    asking.once("error", (error) => reject(new Error(`The proxy ${proxy.host} cannot be reached: ${error.message}`, { cause: error })));
    asking.end();
  });
}

function refused({ host }: URL, target: string, status = 0): Error {
  const why = status === 407 ? "it wants a name and a password: http://NAME:PASSWORD@HOST:PORT" : "it refused the connection";
  const message = `The proxy ${host} answered ${status} for ${target}: ${why} (check HTTPS_PROXY, HTTP_PROXY and NO_PROXY)`;
  // A target server may be down for a moment, so the failure is retryable.
  return status >= 500 ? new Error(message) : refusal(message);
}

function refusal(message: string): ParleyError {
  return new ParleyError({ code: "config", message, retryable: false });
}
