/** `parley relay`: a host of one dialect, an agent of another, and us between them. */
import { Console } from "node:console";
import { loadDialect } from "../dialects/index.js";
import type { Env, Loaded } from "../engine/config.js";
import { relay } from "../link/relay.js";
import { spawnTransport } from "../transports/process.js";
import { stdio } from "../transports/stdio.js";
import { given, text, usage, type Parsed } from "./flags.js";
import { openingOf } from "./opening.js";
import { RelayReport } from "./relay-report.js";
import { sessionMap } from "./session-map.js";
import { endOnSignal } from "./signals.js";

export async function runRelay(parsed: Parsed, load: () => Promise<Loaded>, env: Env): Promise<number> {
  const command = parsed.positionals;
  if (command.length === 0) throw usage("Which agent? parley relay --as A --drive B -- COMMAND…");
  const as = await loadDialect(named(parsed, "as"));
  const drive = await loadDialect(named(parsed, "drive"));
  const loaded = await load();
  globalThis.console = new Console(process.stderr, process.stderr);
  const transport = stdio(as.framing, loaded.settings.limits.lineBytes);
  let violations = 0;
  const report = given(parsed, "report") ? new RelayReport(as, drive) : undefined;
  const { agent, closed } = relay({
    as,
    transport,
    drive,
    dial: (launch) =>
      spawnTransport(
        { argv: withFlags(command, launch.argv), env: { ...definedOnly(env), ...launch.env }, ...(launch.cwd !== undefined && { cwd: launch.cwd }) },
        { framing: drive.framing, lineCap: loaded.settings.limits.lineBytes, onStderr: (words) => process.stderr.write(words) },
      ),
    sessions: sessionMap(loaded.settings.home, drive.id),
    answerSeconds: loaded.settings.limits.approvalSeconds,
    unheard: given(parsed, "allow-unheard") ? "allow" : "deny",
    ...(as.lifetime !== "connection" && { launch: { argv: [], env: {}, open: openingOf(loaded) } }),
    ...(given(parsed, "check") && {
      onViolation(violation: string) {
        violations++;
        console.error(`parley: grammar: ${violation}`);
      },
    }),
    ...(report !== undefined && { onOp: (op) => report.op(op), onEvent: (event) => report.event(event) }),
  });
  const signals = endOnSignal(agent);
  const { code, signal, reason } = await closed;
  await transport.flushed();
  if (report !== undefined) console.error(text(parsed, "report") === "json" ? report.json() : report.text());
  if (violations > 0) return 3;
  if (signals.code() === undefined && reason !== undefined && code !== 0) console.error(`parley: ${reason}`);
  return signals.code() ?? code ?? (signal ? 1 : 0);
}

function named(parsed: Parsed, flag: string): string {
  const id = text(parsed, flag);
  if (id === undefined) throw usage(`--${flag} is missing: parley relay --as A --drive B -- COMMAND…`);
  return id;
}

/** What the command says itself is not said twice. */
function withFlags(command: readonly string[], flags: readonly string[]): string[] {
  const added: string[] = [];
  for (let at = 0; at < flags.length; ) {
    const flag = flags[at] ?? "";
    const next = flags[at + 1];
    const value = next !== undefined && !next.startsWith("--") ? [next] : [];
    if (!command.includes(flag)) added.push(flag, ...value);
    at += 1 + value.length;
  }
  return [...command, ...added];
}

function definedOnly(env: Env): Record<string, string> {
  return Object.fromEntries(Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
}
