/** `parley serve --ws`: one engine a connection, until a client says Shutdown or a signal comes. */
import type { Agent } from "../../core/agent.js";
import { timerMs } from "../../core/limits.js";
import { loadDialect } from "../../dialects/index.js";
import type { Env, Loaded } from "../../settings/settings.js";
import { serve } from "../../link/serve.js";
import { listen } from "../../transports/ws-server.js";
import { originOf } from "../../transports/ws-rules.js";
import type { SocketTransport } from "../../transports/ws.js";
import { text, usage, type Parsed } from "../command-line/flags.js";
import { keepStdoutClean } from "../compose/protocol-stdout.js";
import { prepareServing, type Onlookers } from "./serving.js";
import { endOnSignal } from "../compose/signals.js";
import { readTokens } from "../compose/token-file.js";

/** The time that other clients have to read their last records when the server leaves. */
const LEAVE_MS = 5000;

export async function serveWs(
  dialectId: string,
  parsed: Parsed,
  load: () => Promise<Loaded>,
  env: Env,
  onlookers: Onlookers,
): Promise<number> {
  const address = addressOf(text(parsed, "ws") ?? "");
  const allowOrigins = originsOf(parsed);
  const keepAliveMs = keepAliveOf(parsed);
  const tokens = await readTokens(parsed);
  const dialect = await loadDialect(dialectId);
  keepStdoutClean();
  const serving = await prepareServing(dialect, load, env, { ...onlookers, secrets: tokens.map(({ token }) => token) });
  const connections = new Map<SocketTransport, { agent: Agent; done: Promise<void> }>();
  /** Engines that still hold sessions although their clients are gone. */
  const letting = new Set<Promise<void>>();
  let accepted = 0;
  let leave = (): void => {};
  const leaving = new Promise<void>((resolve) => {
    leave = resolve;
  });
  const frameCap = serving.settings.limits.lineBytes;
  try {
    const listener = await listen({ ...address, tokens, allowOrigins, framing: dialect.framing, frameCap, keepAliveMs }, accept);
    const signals = endOnSignal({ send: async () => leave() });
    console.error(`listening on ${listener.url}`);
    await leaving;
    listener.close();
    await dismissAll();
    return signals.code() ?? 0;
  } finally {
    await serving.end();
  }

  function accept(socket: SocketTransport, owner: string | undefined): void {
    // A client that lost its connection resumes its session: the next engine waits until the last one has let go of it.
    const resumable = (): Promise<unknown> => Promise.race([Promise.all(letting), socket.closed]);
    const { agent, transport } = serving.connection(socket, { conn: String(++accepted), resumable, owner });
    const done = serve(agent, dialect, transport, { ...serving.launch, onLog: tellPeople, onShutdown: leave }).then(
      ({ reason }) => (reason === undefined ? undefined : tellPeople(reason)),
      (error: unknown) => console.error("parley: internal error:", error),
    );
    void socket.closed.then(() => letting.add(done));
    const forget = (): void => {
      connections.delete(socket);
      letting.delete(done);
    };
    connections.set(socket, { agent, done: done.finally(forget) });
  }

  /** Shuts every connection down. A client that does not read its last records in time is cut off. */
  async function dismissAll(): Promise<void> {
    for (const { agent } of connections.values()) void agent.send({ type: "shutdown", when: "now" });
    const impatient = setTimeout(() => {
      for (const transport of connections.keys()) transport.close("term");
    }, LEAVE_MS);
    await Promise.all([...connections.values()].map(({ done }) => done));
    clearTimeout(impatient);
  }
}

/** The address is `HOST:PORT`; an IPv6 address stands in brackets. */
function addressOf(given: string): { host: string; port: number } {
  const [, host, port] = /^(\[[\da-f:.%]+\]|[^:[\]/]+):(\d+)$/i.exec(given) ?? [];
  if (host === undefined || Number(port) > 65_535) throw usage(`--ws takes HOST:PORT, as in 127.0.0.1:0, not '${given}'`);
  return { host: host.replace(/^\[(.*)\]$/, "$1"), port: Number(port) };
}

/** 0 turns the question off. */
function keepAliveOf(parsed: Parsed): number | undefined {
  const given = text(parsed, "keep-alive");
  if (given === undefined) return undefined;
  if (!/^\d+(\.\d+)?$/.test(given)) throw usage(`--keep-alive takes seconds, as in 30 (0 is never), not '${given}'`);
  return timerMs(Number(given));
}

function originsOf(parsed: Parsed): string[] {
  return (parsed.values.get("allow-origin") ?? []).map((given) => {
    const origin = originOf(String(given).replace(/\/$/, ""));
    if (origin === undefined)
      throw usage(`--allow-origin takes an origin, scheme://host[:port] as in https://example.com, not '${String(given)}'`);
    return origin;
  });
}

function tellPeople(words: string): void {
  console.error(`parley: ${words}`);
}
