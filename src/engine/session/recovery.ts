/** Closes in the log a turn that a crash left open, before any event of the session, so that a replay is complete. */
import { nextSeq } from "../store/seq.js";
import type { Crash, KeptSession, StoredSession } from "../store/store.js";
import { unsaved } from "./open.js";
import type { SessionEvents } from "./session-events.js";

/** Throws a fault when the log cannot be written. */
export function recover(events: SessionEvents, stored: StoredSession, kept: KeptSession): void {
  const { recorder } = events;
  for (const entry of stored.crash?.mend ?? []) {
    if (entry.kind === "message") recorder.message(entry.message);
    else events.record({ ...entry.event });
  }
  const { id, cwd, name, config } = kept;
  recorder.reopened({ at: Date.now(), id, cwd, name, config, seq: nextSeq(stored.seq) });
  recorder.write();
  if (recorder.failure !== undefined) throw unsaved(recorder.failure);
}

export function recoveryText({ unknown, torn }: Crash): string {
  const cut = "The last run of this session ended in the middle of a turn.";
  if (unknown.length === 0) return `${cut} ${torn ? "Whether a call was running then is not known." : "No call was running then."}`;
  return `${cut} Whether these calls took effect is unknown, and they are not run again: ${unknown.map(({ name, title }) => title ?? name).join("; ")}`;
}
