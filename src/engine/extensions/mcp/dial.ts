/** Connects to a server: picks the transport and the protocol, shakes hands, and tries the next way when one is refused. */
import { setTimeout as delay } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import {
  Client,
  ProtocolError,
  ProtocolErrorCode,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type Transport,
} from "@modelcontextprotocol/client";
import type { Redactor } from "../../../core/secrets/redact.js";
import type { HostRequests } from "../../session/host-requests.js";
import type { Sandbox } from "../../sandbox/sandbox.js";
import { untilAborted } from "../../turn/interrupt.js";
import type { Emit } from "../../turn/turn.js";
import type { Endpoint } from "./endpoint.js";
import { httpStatus, isRefusal } from "./failure.js";
import { fetchFrom } from "./http-fetch.js";
import { HostTransport } from "./host-transport.js";
import type { OAuth } from "./oauth.js";
import { StdioTransport } from "./stdio-transport.js";

export interface DialOptions {
  name: string;
  version: string;
  /** The workspace: where a server is started, and the one root that it is told of. */
  root: string;
  /** Some servers that we start run in it. */
  sandbox: Sandbox | undefined;
  /** Variables that a server which we start gets beside its own. */
  env: Record<string, string>;
  redactor: Redactor;
  oauth: OAuth | undefined;
  host: { requests: HostRequests; emit: Emit; seconds(): number };
  /** One of the server's lists has changed. */
  onListChanged(): void;
  timeoutMs: number;
}

export interface Dialled {
  client: Client;
  /** A sentence about the server, for the time when it fails. */
  report(): string | undefined;
  /** Resolves when the server has ended. Never throws. */
  close(): Promise<void>;
}

/** Time in which a server hears that its session is over. */
const GOODBYE_MS = 1000;

/** A dial that failed, with the last words of its server. */
export class DialError extends Error {
  override readonly name = "DialError";
  readonly report: string | undefined;

  constructor(cause: unknown, report: string | undefined) {
    super("The server could not be reached", { cause });
    this.report = report;
  }
}

/** Throws a `DialError`, at the latest when `signal` is aborted; then nothing of the server is left. */
export async function dial(endpoint: Endpoint, options: DialOptions, signal: AbortSignal): Promise<Dialled> {
  switch (endpoint.kind) {
    case "stdio":
      return dialStdio(endpoint, options, signal);
    case "http":
      return dialHttp(endpoint, options, signal);
    case "sse":
      return open(sse(endpoint, options), "legacy", options, signal);
    case "host":
      return open(new HostTransport({ server: options.name, ...options.host }), "legacy", options, signal);
    default:
      return endpoint satisfies never;
  }
}

/** The newer protocol is only tried with a server that refuses the older: many leave when the first thing they hear is unknown to them. */
async function dialStdio(endpoint: Endpoint & { kind: "stdio" }, options: DialOptions, signal: AbortSignal): Promise<Dialled> {
  const { name, root, sandbox } = options;
  const argv = sandbox?.hasServer(name) === true ? sandbox.confine(endpoint.argv, root) : endpoint.argv;
  const start = (): StdioTransport =>
    new StdioTransport({
      argv,
      cwd: root,
      env: { ...options.env, ...endpoint.env },
      redactor: options.redactor,
    });
  try {
    return await open(start(), "legacy", options, signal);
  } catch (error) {
    if (!(error instanceof DialError && isUnknownHandshake(error.cause))) throw error;
    return open(start(), "auto", options, signal);
  }
}

function isUnknownHandshake(error: unknown): boolean {
  return (
    error instanceof ProtocolError && [ProtocolErrorCode.MethodNotFound, ProtocolErrorCode.UnsupportedProtocolVersion].includes(error.code)
  );
}

async function dialHttp(endpoint: Endpoint & { kind: "http" }, options: DialOptions, signal: AbortSignal): Promise<Dialled> {
  const { url, headers, fallback } = endpoint;
  try {
    const transport = new StreamableHTTPClientTransport(url, { fetch: fetchFrom(url, headers), ...authOf(options) });
    return await open(transport, "auto", options, signal);
  } catch (error) {
    if (!fallback || !(error instanceof DialError) || !mayBeSse(error.cause)) throw error;
    return await open(sse(endpoint, options), "legacy", options, signal).catch((second: unknown) => {
      throw second instanceof DialError && isRefusal(second.cause) ? second : error;
    });
  }
}

/** Whether the address takes no POST, like a server that only speaks SSE. A refused login or a broken server does not say that. */
function mayBeSse(error: unknown): boolean {
  return [400, 404, 405, 406, 415].includes(httpStatus(error) ?? 0);
}

function sse({ url, headers }: { url: URL; headers: Record<string, string> }, options: DialOptions): Transport {
  return new SSEClientTransport(url, { fetch: fetchFrom(url, headers), ...authOf(options) });
}

function authOf({ oauth }: DialOptions): { authProvider?: OAuth } {
  return oauth === undefined ? {} : { authProvider: oauth };
}

async function open(
  transport: Transport & { report?(): string | undefined },
  mode: "legacy" | "auto",
  options: DialOptions,
  signal: AbortSignal,
): Promise<Dialled> {
  const client = clientFor(mode, options);
  try {
    await untilAborted(signal, client.connect(transport, { signal, timeout: options.timeoutMs }));
    const report = (): string | undefined => transport.report?.();
    const close = async (): Promise<void> => {
      if (transport instanceof StreamableHTTPClientTransport)
        await Promise.race([transport.terminateSession().catch(() => {}), delay(GOODBYE_MS, undefined, { ref: false })]);
      await client.close().catch(() => {});
    };
    return { client, report, close };
  } catch (error) {
    await Promise.all([client.close(), transport.close()]).catch(() => {});
    throw new DialError(error, transport.report?.());
  }
}

function clientFor(mode: "legacy" | "auto", options: DialOptions): Client {
  const onChanged = { autoRefresh: false, onChanged: options.onListChanged };
  const client = new Client(
    { name: "parley", version: options.version },
    {
      capabilities: { roots: {} },
      versionNegotiation: { mode },
      listChanged: { tools: onChanged, prompts: onChanged, resources: onChanged },
    },
  );
  const { root } = options;
  client.setRequestHandler("roots/list", () => ({ roots: [{ uri: pathToFileURL(root).href }] }));
  client.fallbackRequestHandler = ({ method }) =>
    Promise.reject(new ProtocolError(ProtocolErrorCode.MethodNotFound, `Parley does not do ${method} for servers`));
  return client;
}
