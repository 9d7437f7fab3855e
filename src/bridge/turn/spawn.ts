/** The process of one turn: started by the profile, watched by its clocks, and ended with its children. */
import { messageOf, ParleyError, systemCode } from "../../core/errors.js";
import type { Closed } from "../../core/event.js";
import { timerMs } from "../../core/limits.js";
import type { Frame, Launch, Transport } from "../../core/wire.js";
import type { Dialect } from "../../dialects/index.js";
import { withFlags } from "../../host/launch.js";
import { spawnTransport } from "../../transports/process.js";
import type { Placeholders } from "../profile/expand.js";
import { deathOf } from "./outcome.js";
import { findProgram, isFolder, prepare, remedy, type Place, type Prepared } from "./prepare.js";
import type { Profile } from "../profile/profile.js";

/** The characters of stderr that are kept, from the end. */
const STDERR_CHARS = 64 * 1024;

export interface SpawnOptions {
  place: Place;
  values: Placeholders;
  framing: Dialect["framing"];
  /** Receives warnings. */
  warn(text: string): void;
  /** Whether the process may be waiting for us: then the idle clock stands still. */
  isAwaited(): boolean;
  /** The time is over; the caller sends its last record and calls `end`. */
  onTimeout(): void;
}

export interface TurnProcess {
  dial(launch: Launch): Promise<Transport>;
  /** Input was delivered; restarts the idle timer. */
  answered(): void;
  /** Sends TERM, waits the profile's grace, sends KILL. */
  end(): void;
  /** The time when it must have ended, in milliseconds since the epoch. */
  readonly deadline: number | undefined;
  readonly timedOut: boolean;
  /** The reason why it could not start. */
  readonly refused: string | undefined;
  readonly stderr: string;
  /** How the process ended, with its last stderr as the reason. */
  readonly left: Closed | undefined;
}

export function spawnPerTurn(profile: Profile, { place, values, framing, warn, isAwaited, onTimeout }: SpawnOptions): TurnProcess {
  let transport: Transport | undefined;
  let stopped = false;
  let stderr = "";
  let whole: NodeJS.Timeout | undefined;
  let idle: NodeJS.Timeout | undefined;
  const state = {
    dial,
    answered: alive,
    end,
    deadline: undefined as number | undefined,
    timedOut: false,
    refused: undefined as string | undefined,
    left: undefined as Closed | undefined,
    get stderr() {
      return stderr;
    },
  };
  return state;

  async function dial(launch: Launch): Promise<Transport> {
    const prepared = prepare(profile, place, values);
    for (const warning of prepared.warnings) warn(warning);
    const started = await start(prepared, launch).catch((error: unknown) => {
      state.refused = messageOf(error);
      throw error;
    });
    transport = started;
    if (profile.timeoutSecs > 0) {
      state.deadline = Date.now() + timerMs(profile.timeoutSecs);
      whole = setTimeout(timeOut, timerMs(profile.timeoutSecs));
    }
    alive();
    if (stopped) started.close("term");
    return {
      frames: heard(started.frames),
      write: (records) => started.write(records),
      close: (how) => started.close(how),
      closed: started.closed.then(settled),
    };
  }

  async function start(prepared: Prepared, launch: Launch): Promise<Transport> {
    // Flags are compared with the author's words: filled-in words must not replace a flag.
    const added = withFlags(profile.argv, launch.argv).slice(profile.argv.length);
    const argv = [...prepared.argv, ...added];
    const env = { ...prepared.env, ...launch.env };
    const [name] = Object.entries(env).find(([, value]) => value?.includes("\0") === true) ?? [];
    if (name !== undefined || argv.some((word) => word.includes("\0"))) {
      const where = name === undefined ? "an argument" : `the variable ${name}`;
      throw refusal(`Could not start ${argv[0] ?? ""}: ${where} would hold a NUL character, which the system cannot pass on`);
    }
    const { input } = launch;
    try {
      return await spawnTransport(
        { argv, env, cwd: prepared.cwd, ...(input !== undefined && { input }) },
        {
          framing,
          graceMs: 1000 * profile.killGraceSecs,
          onStderr(text) {
            stderr = (stderr + text).slice(-STDERR_CHARS);
            alive();
          },
        },
      );
    } catch (error) {
      throw explained(error, profile, prepared);
    }
  }

  async function* heard(frames: AsyncIterable<Frame>): AsyncIterable<Frame> {
    for await (const frame of frames) {
      // The idle clock stands still while we handle a frame.
      clearTimeout(idle);
      yield frame;
      alive();
    }
  }

  /** Restarts the idle clock. */
  function alive(): void {
    clearTimeout(idle);
    if (profile.idleTimeoutSecs > 0 && !stopped && !state.timedOut) idle = setTimeout(fallSilent, timerMs(profile.idleTimeoutSecs));
  }

  function fallSilent(): void {
    if (isAwaited()) alive();
    else timeOut();
  }

  function timeOut(): void {
    if (stopped || state.timedOut) return;
    state.timedOut = true;
    onTimeout();
  }

  function end(): void {
    stopped = true;
    transport?.close("term");
  }

  /** Users read faults, and stderr is not meant for them. */
  function settled(closed: Closed): Closed {
    stopped = true;
    clearTimeout(whole);
    clearTimeout(idle);
    state.left = closed;
    const reason = deathOf(closed);
    return { ...closed, ...(reason !== undefined && { reason }), ...(state.timedOut && { timedOut: true }) };
  }
}

/** Adds the remedy. The system reports ENOENT for several causes. */
function explained(error: unknown, profile: Profile, prepared: Prepared): unknown {
  if (!(error instanceof ParleyError) || !isFolder(prepared.cwd)) return error;
  const [command = ""] = prepared.argv;
  switch (systemCode(error.cause)) {
    case "E2BIG":
      return refusal(`${error.message}; ${tooLong(prepared)}`);
    case "EACCES": {
      const found = findProgram(command, prepared);
      return refusal("problem" in found ? `Could not start ${command}: ${found.problem}` : error.message);
    }
    case "ENOENT": {
      const found = findProgram(command, prepared);
      if ("path" in found) return refusal(`Could not start ${command}: the interpreter that '${found.path}' names was not found`);
      const help = remedy(profile, prepared);
      return help === "" ? error : refusal(`${error.message}; ${help}`);
    }
    default:
      return error;
  }
}

/** The longest argument or variable on Linux. */
const LONGEST = 128 * 1024;

function tooLong({ argv, env }: Prepared): string {
  const isLong = (text: string): boolean => Buffer.byteLength(text) + 1 > LONGEST;
  if (argv.some(isLong)) return "an argument cannot hold such a message: take {{MESSAGE}} out of 'args'";
  const own = Object.entries(env).find(([name, value]) => isLong(`${name}=${value}`));
  if (own !== undefined) return `the variable ${own[0]} of the profile is too long`;
  return `'stdin: message' or 'protocol: "0.4"' takes messages of any length, and the latter such attachments, too`;
}

function refusal(message: string): ParleyError {
  return new ParleyError({ code: "launch", message, retryable: false });
}
