/** Undoes turns of a stored session that no process has open, without a model. */
import type { SessionConfig } from "../../core/config.js";
import type { Event } from "../../core/event.js";
import type { RewindReply } from "../../core/rewind.js";
import { Permissions } from "../permissions/permissions.js";
import { protectionOf } from "../permissions/protection.js";
import { boundsGoingOn } from "../session/configured-bounds.js";
import { recover } from "../session/recovery.js";
import { SessionEvents } from "../session/session-events.js";
import { rulesOf } from "../session/settings.js";
import { readTurns, type LoggedTurn } from "../store/logged-turns.js";
import { nextSeq } from "../store/seq.js";
import type { SessionLog, SessionStore } from "../store/store.js";
import { localWorkspace } from "../workspace/local.js";
import type { Asked } from "./asked.js";
import { rewind } from "./rewind.js";

interface Around {
  /** The config's own rules for that folder hold beside the session's. */
  configured(cwd: string): Promise<Pick<SessionConfig, "rules" | "disallowedTools">>;
  env: Record<string, string | undefined>;
  places: { home: string; userHome: string };
  /** Reports problems beside the rewind. */
  warn(text: string): void;
}

/** `choose` picks the turn. Throws a fault if the session is open elsewhere, or with the reason if it cannot. */
export async function rewindStored(
  store: SessionStore,
  id: string,
  choose: (turns: readonly LoggedTurn[]) => Asked,
  { configured, env, places, warn }: Around,
): Promise<RewindReply> {
  const { session, log } = await store.open(id);
  try {
    const asked = choose(readTurns(log.entries()).turns);
    const { cwd, config } = session;
    const workspace = await localWorkspace(cwd, { env: {}, directories: config.directories });
    const rules = await rulesOf(boundsGoingOn(await configured(cwd), config));
    const permissions = new Permissions("default", [], rules, protectionOf(places, env, workspace));
    const events = eventsOf(id, log, session.seq, warn);
    recover(events, session, session);
    const { reply, note } = await rewind(asked, { log, events, workspace, permissions });
    if (note !== undefined) events.recorder.message(note);
    events.recorder.write();
    return reply;
  } finally {
    await log.close();
  }
}

/** Only warnings are shown; the log has the events. */
function eventsOf(id: string, log: SessionLog, before: number, warn: (text: string) => void): SessionEvents {
  let seq = nextSeq(before);
  const push = (event: Event): undefined => {
    if (event.type === "notice" && event.level === "warning") warn(event.text);
  };
  const events = new SessionEvents(id, { sessionId: id }, { nextSeq: () => seq++, push }, log, seq);
  events.opened();
  return events;
}
