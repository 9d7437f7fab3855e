/**
 * Undoes a turn and all later ones: first the files, then the conversation, and last the log entry about it. A crash in between
 * leaves a session that can be rewound to the same turn again, as restored files need no change then.
 */
import { ParleyError } from "../../core/errors.js";
import type { RewindReply } from "../../core/rewind.js";
import { callPath } from "../calls/prepare.js";
import type { Message } from "../models/model.js";
import type { Permissions } from "../permissions/permissions.js";
import type { SessionEvents } from "../session/session-events.js";
import type { EarlierConversation, ReadEntry } from "../store/entry.js";
import { readTurns, type LoggedTurn } from "../store/logged-turns.js";
import { emptySession, rebuild } from "../store/rebuild.js";
import type { Recorder } from "../store/recorder.js";
import type { SessionLog } from "../store/store.js";
import { shownPath } from "../tools/files/text-file.js";
import type { Workspace } from "../workspace/workspace.js";
import type { Asked } from "./asked.js";
import { FileChanges } from "./file-changes.js";
import { restoreFiles, type Restored, type Restoring, wantedFiles } from "./restore-files.js";
import { sessionChanges } from "./session-changes.js";

const NOTHING: Restored = { files: [], asBefore: [], left: [] };

export interface Rewinding {
  log: Pick<SessionLog, "entries" | "copies">;
  events: SessionEvents;
  workspace: Workspace;
  permissions: Pick<Permissions, "forbidsRestoring">;
}

export interface Rewound {
  reply: RewindReply;
  /** The restored conversation, if it was restored. */
  conversation?: EarlierConversation;
  /** Tells the model about files that were restored without the conversation. */
  note?: Message;
}

/** Throws a fault, and then nothing has changed, except for files if the disk is full. */
export async function rewind({ turn, files, conversation, force, preview = false }: Asked, rewinding: Rewinding): Promise<Rewound> {
  const { log, events, workspace } = rewinding;
  const { recorder } = events;
  if (!files && !conversation) throw refusal("invalid", "A rewind takes back files, the conversation, or both");
  if (files && log.copies === undefined)
    throw refusal("unsupported", "No copies of files are kept (sessions.undoMiB is 0): rewind the conversation alone");
  write(recorder);
  const { turns } = readTurns(log.entries());
  const first = turns.findLastIndex(({ id }) => id === turn);
  const found = turns[first];
  if (found === undefined) throw refusal("session", `There is no turn '${turn}' in this session, or it was undone already`, "turn");
  if (preview) return { reply: files ? await previewOf(turns.slice(first), rewinding, force) : replyOf(NOTHING, workspace) };
  const restored = files ? await restoredBy(turns.slice(first), rewinding, force) : NOTHING;
  const earlier = conversation ? conversationBefore(found, log.entries()) : undefined;
  if (earlier !== undefined) knowAgain(earlier.seen, restored);
  recorder.rewind({ at: Date.now(), turn, ...(earlier !== undefined && { conversation: earlier }) });
  write(recorder);
  const reply = replyOf(restored, workspace);
  const note = earlier === undefined && reply.files.length > 0 ? noteOn(reply.files) : undefined;
  const text = sentenceOn(reply, found, earlier !== undefined);
  void events.tell({ type: "notice", level: "info", kind: "rewind", text, data: { turn, conversation, ...reply } });
  await recorder.sync();
  return { reply, ...(earlier !== undefined && { conversation: earlier }), ...(note !== undefined && { note }) };
}

/** A file is restored only if the log has its change. */
function write(recorder: Recorder): void {
  recorder.write();
  if (recorder.failure !== undefined) throw refusal("session", "This session can no longer be saved, so nothing of it can be undone");
}

async function restoredBy(
  turns: readonly LoggedTurn[],
  { log: { copies }, events, workspace, permissions }: Rewinding,
  force: boolean,
): Promise<Restored> {
  if (copies === undefined) return NOTHING;
  const { recorder } = events;
  const noted = new FileChanges({
    recorder: { change: (change) => recorder.change(change), write: () => write(recorder) },
    copies,
    warn: (text) => events.warn(text, "undo"),
  });
  const changes = turns.flatMap((each) => each.changes);
  return restoreFiles(changes, { workspace: noted.within(workspace), copies, force, forbids: forbidding(permissions, workspace) });
}

function forbidding(permissions: Rewinding["permissions"], workspace: Workspace): Restoring["forbids"] {
  return async (path) => permissions.forbidsRestoring(callPath(workspace, await workspace.resolve(path)));
}

/** The reply that a rewind would have now, with the lines that would change. */
async function previewOf(
  turns: readonly LoggedTurn[],
  { log: { copies }, workspace, permissions }: Rewinding,
  force: boolean,
): Promise<RewindReply> {
  if (copies === undefined) return replyOf(NOTHING, workspace);
  const changes = turns.flatMap((each) => each.changes);
  const { wanted, left } = await wantedFiles(changes, { workspace, copies, force, forbids: forbidding(permissions, workspace) });
  const files = wanted.map(({ path }) => path);
  const parts = await sessionChanges(
    changes.filter(({ path }) => files.includes(path)),
    workspace,
    copies,
  );
  const stats = parts.flatMap((part) => (part.type === "diff" ? [part.stat] : []));
  // The lines that the turns added are those that would go.
  const stat = { added: sum(stats.map(({ removed }) => removed)), removed: sum(stats.map(({ added }) => added)) };
  return { ...replyOf({ files, asBefore: [], left }, workspace), stat };
}

function sum(counts: readonly number[]): number {
  return counts.reduce((all, count) => all + count, 0);
}

function conversationBefore({ place }: LoggedTurn, entries: Iterable<ReadEntry>): EarlierConversation {
  const { messages, lastTurn, seen } = rebuild(emptySession(), first(place, entries)) ?? emptySession();
  return { messages, ...(lastTurn !== undefined && { lastTurn }), seen };
}

/** A file in the state that the model saw counts as seen. */
function knowAgain(seen: Record<string, string>, { asBefore }: Restored): void {
  for (const { path, then, now } of asBefore)
    if (then?.stamp !== undefined && seen[path] === then.stamp && now?.stamp !== undefined) seen[path] = now.stamp;
}

function* first(count: number, entries: Iterable<ReadEntry>): Generator<ReadEntry> {
  let left = count;
  if (left === 0) return;
  for (const entry of entries) {
    yield entry;
    if (--left === 0) return;
  }
}

function replyOf({ files, left }: Restored, workspace: Workspace): RewindReply {
  const named = left.map(({ path, why }) => [shownPath(workspace, path), why] as const);
  return {
    files: files.map((path) => shownPath(workspace, path)).toSorted(),
    left: named.map(([path]) => path).toSorted(),
    ...(named.length > 0 && { why: Object.fromEntries(named) }),
  };
}

function noteOn(files: readonly string[]): Message {
  const text = `The user has taken back changes of files: these are as they were before. Read them again before you go on with them.\n${files.join("\n")}`;
  return { role: "user", kind: "note", parts: [{ type: "text", text }] };
}

function sentenceOn({ files, left }: RewindReply, { prompt }: LoggedTurn, conversation: boolean): string {
  const what = [
    ...(conversation ? ["the conversation"] : []),
    ...(files.length > 0 ? [files.length === 1 ? "1 file" : `${files.length} files`] : []),
  ];
  const line = prompt.replace(/\s+/g, " ").trim();
  const words = line.length > 60 ? `${line.slice(0, 59)}…` : line;
  const done = what.length === 0 ? "Nothing went back" : `${what.join(" and ")} went back`;
  const stays = left.length === 0 ? "" : `; left as they are: ${left.join(", ")}`;
  return `${done.charAt(0).toUpperCase()}${done.slice(1)} to before “${words}”${stays}`;
}

function refusal(code: string, message: string, param?: string): ParleyError {
  return new ParleyError({ code, message, retryable: false, ...(param !== undefined && { param }) });
}
