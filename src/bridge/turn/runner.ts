/** Runs turns of one profile: one at a time in each conversation, each with its stored session, and always with a result. */
import { toFault, type Fault } from "../../core/errors.js";
import { homeOf } from "../../os/files/home.js";
import type { Env } from "./environment.js";
import { linkProblem } from "./links.js";
import { nothingRan, outcome, type Facts } from "./outcome.js";
import type { Profile } from "../profile/profile.js";
import { runTurn, type Asked } from "./run-turn.js";
import { Sessions, type Conversation } from "./sessions.js";
import type { Runner, TurnEvents, TurnResult } from "./turn.js";

/** Where sessions are remembered, and the environment of agents. */
export interface RunnerOptions {
  /** The bridge's environment; by default this process's. */
  env?: Env;
  /** The bridge's folder; by default this process's. */
  cwd?: string;
  /** The folder of stored sessions; by default PARLEY_HOME. */
  home?: string;
  /** Set when turns come from people elsewhere: they may attach files of this folder, and no other file of this machine. */
  files?: string;
}

/** Runs turns of agents that profiles describe. */
export function createRunner(profile: Profile, options: RunnerOptions = {}): Runner {
  const { env = process.env, cwd = process.cwd() } = options;
  const { home = homeOf(env, cwd) } = options;
  const sessions = new Sessions(home, profile.id);
  const closing = new AbortController();
  const running = new Set<Promise<unknown>>();

  return {
    async run(turn, on, given) {
      const warn = warningTo(on);
      const refused = options.files === undefined ? undefined : linkProblem(turn.attachments, options.files);
      const nothing = async (fault: Fault): Promise<TurnResult> =>
        outcome(
          { ...nothingRan(profile, given.aborted || closing.signal.aborted, fault), sessionId: await sessions.sessionId(turn.sessionName) },
          warn,
        );
      if (refused !== undefined) return nothing({ code: "usage", message: refused, retryable: false });
      const signal = AbortSignal.any([given, closing.signal]);
      const heard: TurnEvents = {
        partial: (text, role) => on.partial(text, role),
        permission: (request) => on.permission(request),
        warning: warn,
      };
      const asked: Asked = { profile, place: { env, cwd }, turn, on: heard, signal };
      const result = sessions
        .alone(turn.sessionName, { signal, warn }, (conversation) => inConversation(asked, conversation))
        .catch((error: unknown) => nothing(toFault(error)));
      running.add(result);
      void result.finally(() => running.delete(result));
      return result;
    },
    async forget(sessionName, on, given) {
      const signal = AbortSignal.any([given, closing.signal]);
      await sessions.alone(sessionName, { signal, warn: warningTo(on) }, (conversation) => conversation.forget());
    },
    async close() {
      closing.abort();
      await Promise.all(running);
    },
  };
}

/** A turn must not fail because a warning could not be written. */
function warningTo(on: Pick<TurnEvents, "warning">): TurnEvents["warning"] {
  return (text) => {
    try {
      on.warning(text);
    } catch {
      return;
    }
  };
}

/** Keeps the last session id where the agent names none, and where the turn failed. */
async function inConversation(asked: Asked, conversation: Conversation): Promise<TurnResult> {
  const stored = await conversation.sessionId();
  const first = await runTurn(asked, stored);
  const isLost = stored !== "" && refusesSession(first);
  if (isLost) {
    asked.on.warning(
      `The agent did not go on with its session '${stored}' (${first.fault?.message ?? first.left?.reason ?? ""}); a new one begins`,
    );
  }
  const facts = isLost ? await runTurn(asked, "") : first;
  const sessionId = facts.sessionId || stored;
  if (sessionId !== stored) await conversation.keep(sessionId);
  return outcome({ ...facts, sessionId }, (text) => asked.on.warning(text));
}

/** Most wires have only a text for a session that is busy elsewhere. */
const BUSY = /\b(in use|locked|busy)\b/i;

/**
 * Forgets a stored session that the agent no longer knows, so that turns do not fail for ever. A busy session, or one whose agent was
 * killed, is kept.
 */
function refusesSession({ profile, opened, isNamed, refused, fault, left, timedOut, interrupted }: Facts): boolean {
  if (refused !== undefined || timedOut || interrupted) return false;
  // A program that names its session first has refused this one when it leaves without that.
  const isSilent = profile.output !== undefined && !isNamed && Boolean(left?.code);
  if (opened && !isSilent) return false;
  return !left?.signal && !BUSY.test(fault?.message ?? "");
}
