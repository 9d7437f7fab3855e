/** Runs one turn: dials an agent, hears its events to the end, and returns the facts. */
import type { SessionConfig } from "../../core/config.js";
import { textPart, type Part } from "../../core/content.js";
import { toFault, type Fault } from "../../core/errors.js";
import { ANSWER_SECONDS } from "../../core/limits.js";
import { loadDialect, type Dialect } from "../../dialects/index.js";
import { openSession, type HostSession } from "../../host/session.js";
import { connect } from "../../link/connect.js";
import { Listener } from "./listener.js";
import type { Facts } from "./outcome.js";
import { plainMessage } from "./plain-message.js";
import { folderOf, type Place } from "./prepare.js";
import type { Profile } from "../profile/profile.js";
import { agentproc, attachmentPart, EXT } from "../protocol.js";
import { spawnPerTurn } from "./spawn.js";
import type { BridgeTurn, TurnEvents } from "./turn.js";

export interface Asked {
  profile: Profile;
  place: Place;
  turn: BridgeTurn;
  on: TurnEvents;
  signal: AbortSignal;
}

/** The longest wait for an agent that does not read our last record. */
const LAST_WORD_MS = 500;
/** The cap of the protocol's first revisions. */
const FIRST_CAP = 8000;

/** `stored` is the session to resume; "" begins a new one. Rejects only where the dialect is unknown. */
export async function runTurn({ profile, place, turn, on, signal }: Asked, stored: string): Promise<Facts> {
  const dialect = await dialectOf(profile);
  const message = plainMessage(turn.message, profile.expands);
  const cap = profile.maxReplyChars ?? defaultCap(profile);
  let session: HostSession | undefined;
  const values = { MESSAGE: message, SESSION_ID: stored, SESSION_NAME: turn.sessionName, PROFILE_DIR: profile.dir };
  const child = spawnPerTurn(profile, {
    place,
    values,
    framing: dialect.framing,
    warn: (text) => on.warning(text),
    isAwaited: () => listener.isBehind,
    onTimeout: () => void soon(listener.deny("permission timed out")).then(() => child.end()),
  });
  // The profile's clocks alone limit the time of a turn.
  const agent = connect(dialect, child.dial, { exitSeconds: Infinity });
  const listener = new Listener({
    profile,
    on,
    cap,
    deadline: () => Math.min(child.deadline ?? Infinity, Date.now() + 1000 * ANSWER_SECONDS),
    async answer(answers) {
      await session?.answer(answers);
      child.answered();
    },
  });
  const stop = (): void => void agent.close();
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  let fault: Fault | undefined;
  try {
    const known = stored === "" ? {} : ({ open: "resume", sessionId: stored } as const);
    session = await openSession(agent, { name: turn.sessionName, config: configOf(profile, folderOf(profile, place, values)), ...known });
    await listener.hear(session.ready);
    const sender = profile.dialect === undefined ? { ext: { [EXT]: { from_user: turn.from } } } : {};
    // `mentions` is off: the words of a message stay words.
    for await (const event of session.prompt(partsOf(message, turn), sender)) await listener.hear(event);
  } catch (error) {
    fault = toFault(error);
  }
  signal.removeEventListener("abort", stop);
  // A process that still runs now is ended by us.
  const left = signal.aborted || child.timedOut ? undefined : child.left;
  await (session ?? agent).close();
  const { ended, reply, streamTruncated, usage, isNamed, sessionId = stored } = listener;
  const { refused, timedOut, stderr } = child;
  const said = { sessionId, isNamed, reply, cap, streamTruncated, usage, stderr };
  return { profile, ...said, ended, fault, refused, left, opened: session !== undefined, timedOut, interrupted: signal.aborted };
}

async function dialectOf({ dialect, protocol, streaming, permission, stdin, output, sessionLinePrefix }: Profile): Promise<Dialect> {
  if (dialect !== undefined) return loadDialect(dialect);
  return agentproc({ wire: protocol, streaming, permission, stdin, sessionPrefix: sessionLinePrefix, output });
}

/** AgentProc cannot say a session's configuration. */
function configOf({ dialect, provider, model, mode }: Profile, cwd: string): SessionConfig {
  if (dialect === undefined) return {};
  return { cwd, ...(provider !== undefined && { provider }), ...(model !== undefined && { model }), ...(mode !== undefined && { mode }) };
}

function defaultCap({ dialect, protocol }: Profile): number | undefined {
  return dialect === undefined && (protocol === "0.1" || protocol === "0.2") ? FIRST_CAP : undefined;
}

function partsOf(message: string, { attachments }: BridgeTurn): Part[] {
  return [textPart(message), ...attachments.map(attachmentPart)];
}

/** Settles with the work, or after a time limit. */
async function soon(work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, LAST_WORD_MS);
  });
  await Promise.race([work, late]);
  clearTimeout(timer);
}
