/** `parley relay`: connects a host of one dialect with an agent of another. */
import type { SessionConfig } from "../../core/config.js";
import { messageOf, toFault } from "../../core/errors.js";
import { Redactor } from "../../core/secrets/redact.js";
import type { Closed } from "../../core/event.js";
import type { Launch, Transport } from "../../core/wire.js";
import { loadDialect, programOf, programs, type Dialect } from "../../dialects/index.js";
import type { Env, Loaded } from "../../settings/settings.js";
import { commandFor, withFlags } from "../../host/launch.js";
import { exitCode as exitOf } from "../command-line/exit-code.js";
import { includes } from "../../dialects/kit/covers.js";
import { relay } from "../../link/relay.js";
import { limitStandstill } from "../../os/processes/reaper.js";
import type { Seam, Tape, Taped } from "../../transports/tape.js";
import { spawnTransport } from "../../transports/process.js";
import { stdio } from "../../transports/stdio.js";
import { given, list, text, usage, type Parsed } from "../command-line/flags.js";
import { readToken } from "../compose/token-file.js";
import { answerSecondsOf, launchOf, idleSessionFlags, openingOf } from "../command-line/opening.js";
import { knownSecrets } from "../compose/known-secrets.js";
import { keepStdoutClean, refuseToStart } from "../compose/protocol-stdout.js";
import { RelayReport } from "./report.js";
import { beatSecondsOf, relayedSwitches, sessionFlags } from "../serve/structured-flags.js";
import { turnVariables, withoutTurn } from "../serve/turn-variables.js";
import type { RelayTrace } from "./trace.js";
import type { Onlookers } from "../serve/serving.js";
import { sessionMap } from "./session-map.js";
import { endOnSignal } from "../compose/signals.js";

/** The exit code when `--check` found a violation. */
const VIOLATED = 3;

export async function runRelay(parsed: Parsed, load: () => Promise<Loaded>, env: Env, onlookers: Onlookers): Promise<number> {
  refuseOnePrompt(parsed);
  const agentOf = await dialled(parsed);
  const as = await hostDialect(named(parsed, "as"), env);
  const driven = named(parsed, "drive");
  const drive = await agentDialect(driven, parsed);
  if (given(parsed, "url") && programOf(driven)?.opensOnWire !== true) {
    throw usage(`--url does not go with '${drive.id}': such an agent is told its session on its command line; use COMMAND`);
  }
  refuseFormats(parsed, as);
  const print = reportFormat(parsed);
  const beatSeconds = beatSecondsOf(parsed);
  const asked = { config: await sessionFlags(parsed, as.id), unasked: list(parsed, "unasked") ?? [] };
  const [idle] = idleSessionFlags(parsed, as.id);
  if (idle !== undefined) throw usage(idle);
  keepStdoutClean();
  const prepared = await prepare(as, drive, load, env, onlookers).catch(toFault);
  if (!("loaded" in prepared)) {
    return (await refuseToStart(as, prepared)) ?? exitOf(prepared);
  }
  const { loaded, taped, tape, seam, trace } = prepared;
  for (const warning of loaded.warnings) console.error(`parley: ${warning}`);
  const { home, limits } = loaded.settings;
  limitStandstill(limits.stuckSeconds);
  const pipe = stdio(as.framing, limits.lineBytes);
  const open = relayOpening(loaded, as, drive, asked);
  const report = print === undefined ? undefined : new RelayReport(as, drive);
  let violations = 0;
  let dialledSoFar = 0;
  const { agent, closed } = relay({
    as,
    transport: taped(pipe, as, "host", "host", { dir: "in", turn: turnVariables(env) }),
    drive,
    async dial(launch) {
      const agentTransport = await agentOf(launch, drive, loaded, env);
      return taped(agentTransport, drive, `agent-${++dialledSoFar}`, "agent", {
        dir: "out",
        turn: turnVariables(launch.env),
        input: launch.input,
      });
    },
    config: open.config ?? {},
    sessions: sessionMap(home, programOf(driven)?.drive?.sessions ?? drive.id),
    answerSeconds: answerSecondsOf(loaded, as),
    beatSeconds,
    unheard: given(parsed, "allow-unheard") ? "allow" : "deny",
    ...launchOf(as, loaded, { open, env: turnVariables(env), cwd: loaded.settings.workspace, switches: relayedSwitches(parsed) }),
    onLog: (words) => console.error(`parley: ${words}`),
    ...(given(parsed, "check") && {
      onViolation(violation: string) {
        violations++;
        console.error(`parley: grammar: ${violation}`);
      },
    }),
    onOp(op) {
      report?.op(op);
      trace?.op(op);
      void seam?.op(op);
    },
    onEvent(event) {
      report?.event(event);
      trace?.event(event);
      void seam?.event(event);
    },
  });
  const signals = endOnSignal(agent);
  const end = await closed;
  await pipe.flushed();
  await tape?.close();
  if (report !== undefined) console.error(print === "json" ? report.json() : report.text());
  if (violations > 0) return VIOLATED;
  return signals.code() ?? exitCode(end);
}

type Wrap = (transport: Transport, dialect: Dialect, conn: string, wire: "host" | "agent", begun: Taped["begun"]) => Transport;

interface Prepared {
  loaded: Loaded;
  trace: RelayTrace | undefined;
  tape: Tape | undefined;
  /** Takes ops and events for the tape. */
  seam: Seam | undefined;
  /** Puts a transport on the tape, where there is one. */
  taped: Wrap;
}

async function prepare(as: Dialect, drive: Dialect, load: () => Promise<Loaded>, env: Env, onlookers: Onlookers): Promise<Prepared> {
  const { tape: path, telemetry } = onlookers;
  const loaded = await load();
  const redactor = new Redactor(knownSecrets(loaded, env));
  const trace = await traceOf(telemetry, redactor);
  if (path === undefined) return { loaded, trace, tape: undefined, seam: undefined, taped: (transport) => transport };
  const { openTape } = await import("../compose/tape.js");
  const tape = await openTape(path, { side: "relay", as: as.id, drive: drive.id }, loaded, env);
  return {
    loaded,
    trace,
    tape,
    seam: tape.seam({ redactor }),
    taped: (transport, { framing }, conn, wire, begun) => tape.of(transport, { framing, conn, wire, redactor, begun }),
  };
}

async function traceOf({ openTracer }: Onlookers["telemetry"], redactor: Redactor): Promise<RelayTrace | undefined> {
  if (openTracer === undefined) return undefined;
  try {
    const { RelayTrace: Following } = await import("./trace.js");
    return new Following(await openTracer(), redactor);
  } catch (error) {
    console.error(`parley: no traces are collected: ${messageOf(error)}`);
    return undefined;
  }
}

/**
 * The session that the relay opens. It must not undo the flags of COMMAND: the mode is passed on only where the user chose one. Tools run
 * unasked as the host's wire promises, unless the driven wire promises the same.
 */
export function relayOpening(
  loaded: Loaded,
  as: Dialect,
  drive: Dialect,
  asked: HostAsked = { config: {}, unasked: [] },
): ReturnType<typeof openingOf> {
  const { config = {}, ...open } = openingOf(loaded);
  const { mode, ...rest } = config;
  const chosen = loaded.origins.get("mode") === "default" ? {} : { mode };
  const known = { ...unasked(loaded, as, drive), ...rest };
  return { ...open, config: { ...known, ...more(asked.unasked, known, drive), ...chosen, ...asked.config } };
}

/** Wishes of a host's command line for its session that are no settings. */
interface HostAsked {
  config: SessionConfig;
  /** Calls that run unasked beside the agent's own. */
  unasked: readonly string[];
}

/** Adds calls that run unasked: as rules, or as tools where the driven wire has no rules. */
function more(calls: readonly string[], { approveTools = [], rules = [] }: SessionConfig, drive: Dialect): SessionConfig {
  if (calls.length === 0) return {};
  if (includes(drive.coverage["session.open"], "rules")) return { rules: [...rules, ...calls.map((allow) => ({ allow }))] };
  return { approveTools: [...approveTools, ...calls] };
}

function unasked({ settings }: Loaded, as: Dialect, drive: Dialect): SessionConfig {
  if (as.unasked === undefined || as.unasked.join() === drive.unasked?.join()) return {};
  if (settings.approveTools !== undefined) return { approveTools: settings.approveTools };
  // A default that the wire cannot say, as an empty list in a flag, is not worth a warning in each session.
  const covers = drive.coverage["session.open"];
  const isSaid = covers === "exact" || (as.unasked.length > 0 && includes(covers, "approveTools"));
  return isSaid ? { approveTools: [...as.unasked] } : {};
}

/** We end as the driven agent ended; an agent that never ran, was killed, or left a turn unfinished is a failure. */
export function exitCode({ code, signal, reason }: Closed): number {
  const status = code || (signal || reason !== undefined ? 1 : 0);
  if (status !== 0 && reason !== undefined) console.error(`parley: ${reason}`);
  return status;
}

type Reach = (launch: Launch, drive: Dialect, loaded: Loaded, env: Env) => Promise<Transport>;

/** The agent is a command that we start, or listens at an address. */
async function dialled(parsed: Parsed): Promise<Reach> {
  const own = parsed.positionals;
  const url = text(parsed, "url");
  if (url === undefined) {
    const command = own.length > 0 ? own : (programOf(text(parsed, "drive") ?? "")?.drive?.command ?? []);
    if (command.length === 0) throw usage("Which agent? parley relay --as A --drive B -- COMMAND…, or --url ws://HOST:PORT");
    if (given(parsed, "token-file")) throw usage("--token-file means nothing without --url");
    return (launch, drive, loaded, env) => start(command, launch, drive, loaded, env);
  }
  if (own.length > 0) throw usage("--url and COMMAND exclude each other; give one of them");
  if (!/^wss?:\/\//i.test(url) || !URL.canParse(url))
    throw usage(`--url takes a WebSocket address, as in ws://127.0.0.1:8080, not '${url}'`);
  const token = await readToken(parsed);
  return async (_launch, drive, { settings }) => {
    const [{ dialSocket, KEEP_ALIVE_MS }, { isLoopback }] = await Promise.all([
      import("../../transports/ws.js"),
      import("../../transports/ws-rules.js"),
    ]);
    const keepAliveMs = isLoopback(new URL(url).hostname.replace(/^\[(.*)\]$/, "$1")) ? undefined : KEEP_ALIVE_MS;
    return dialSocket(url, { framing: drive.framing, frameCap: settings.limits.lineBytes, token, keepAliveMs });
  };
}

function start(command: readonly string[], launch: Launch, drive: Dialect, { settings }: Loaded, env: Env): Promise<Transport> {
  return spawnTransport(
    { ...launch, argv: withFlags(commandFor(drive, command), launch.argv), env: { ...withoutTurn(env), ...launch.env } },
    { framing: drive.framing, lineCap: settings.limits.lineBytes, onStderr: (words) => process.stderr.write(words) },
  );
}

/** Loads the host's dialect, in the revision that our environment tells. */
async function hostDialect(id: string, env: Env): Promise<Dialect> {
  const dialect = await loadDialect(id);
  return dialect.startedIn?.(env) ?? dialect;
}

/** Loads the agent's dialect, in the revision that the user chose. */
async function agentDialect(id: string, parsed: Parsed): Promise<Dialect> {
  const revisions = programOf(id)?.drive?.revisions;
  for (const flag of programs.flatMap(({ program }) => program.drive?.revisions?.flag ?? []))
    if (flag !== revisions?.flag && given(parsed, flag)) throw usage(`--${flag} means nothing to an agent of '${id}'`);
  const name = revisions === undefined ? undefined : text(parsed, revisions.flag);
  if (name !== undefined && revisions?.names.includes(name) === false)
    throw usage(`--${revisions.flag} is one of ${revisions.names.join(", ")}, not '${name}'`);
  const dialect = await loadDialect(id);
  return dialect.driven?.(name) ?? dialect;
}

/** Refuses flags of a one-prompt run: a relay lasts for a session, whose prompts come over the protocol. */
function refuseOnePrompt(parsed: Parsed): void {
  const refused = text(parsed, "refused");
  if (refused !== undefined) throw usage(refused);
  for (const flag of ["print", "json-schema"])
    if (given(parsed, flag)) throw usage(`--${flag} is for one prompt; a relay's prompts come over the protocol`);
}

function refuseFormats(parsed: Parsed, { id }: Dialect): void {
  const known = programOf(id)?.formats?.lines;
  for (const flag of ["input-format", "output-format"]) {
    const format = text(parsed, flag);
    if (format === undefined || known?.includes(format) !== false) continue;
    throw usage(`--${flag} is ${known.join(" or ")} in a relay with --as ${id}, not '${format}'`);
  }
}

function named(parsed: Parsed, flag: string): string {
  const id = text(parsed, flag);
  if (id === undefined) throw usage(`--${flag} is missing: parley relay --as A --drive B -- COMMAND…`);
  return id;
}

function reportFormat(parsed: Parsed): "text" | "json" | undefined {
  const format = text(parsed, "report");
  if (format !== undefined && format !== "text" && format !== "json") throw usage(`--report is text or json, not '${format}'`);
  return format;
}
