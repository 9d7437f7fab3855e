/** Undo for an open session: records the changes of its turns, and undoes turns. */
import type { Part } from "../../core/content.js";
import { ParleyError } from "../../core/errors.js";
import type { RewindReply } from "../../core/rewind.js";
import { workspaceOf } from "../calls/workspace-for.js";
import type { SessionServices } from "../session/services.js";
import type { LoggedTurn } from "../store/logged-turns.js";
import type { SessionLog } from "../store/store.js";
import type { Workspace } from "../workspace/workspace.js";
import { FileChanges } from "./file-changes.js";
import type { Asked } from "./asked.js";

export class SessionUndo {
  readonly #session: SessionServices;
  readonly #log: SessionLog | undefined;
  readonly #ending: AbortSignal;
  #running: Promise<unknown> = Promise.resolve();

  /** Without a log nothing can be undone. After `ending` is aborted the host gets no more requests. */
  constructor(session: SessionServices, log: SessionLog | undefined, ending: AbortSignal) {
    this.#session = session;
    this.#log = log;
    this.#ending = ending;
  }

  changes(warn: (text: string) => void): FileChanges | undefined {
    const copies = this.#log?.copies;
    return copies && new FileChanges({ recorder: this.#session.events.recorder, copies, warn });
  }

  /** The turns that can be undone, oldest first. */
  async turns(): Promise<LoggedTurn[]> {
    const { readTurns } = await import("../store/logged-turns.js");
    const log = this.#kept();
    this.#session.events.recorder.write();
    return readTurns(log.entries()).turns;
  }

  /** The files that are not as before the session, each as a part. */
  async changed(): Promise<Part[]> {
    const log = this.#kept();
    if (log.copies === undefined) throw noCopies();
    const { sessionChanges } = await import("./session-changes.js");
    const turns = await this.turns();
    return sessionChanges(
      turns.flatMap(({ changes }) => changes),
      this.#workspace(),
      log.copies,
    );
  }

  /** Only between turns. Throws a fault with the reason if it cannot. */
  rewind(asked: Asked): Promise<RewindReply> {
    const rewound = this.#rewind(asked);
    this.#running = rewound.catch(() => {});
    return rewound;
  }

  /** Resolves when no file is being restored. */
  async settled(): Promise<void> {
    await this.#running;
  }

  async #rewind(asked: Asked): Promise<RewindReply> {
    const log = this.#kept();
    const { rewind } = await import("./rewind.js");
    const { events, permissions, history, seen } = this.#session;
    const workspace = this.#workspace();
    const { reply, conversation, note } = await rewind(asked, { log, events, workspace, permissions });
    if (conversation !== undefined) {
      history.goBack(conversation);
      seen.goBack(conversation.seen);
    }
    if (note !== undefined) history.push(note);
    return reply;
  }

  #workspace(): Workspace {
    const { events, settings } = this.#session;
    return workspaceOf(this.#session, {
      hosted: settings.config.workspace,
      signal: this.#ending,
      emit: (event) => events.tell(event),
    });
  }

  #kept(): SessionLog {
    if (this.#log !== undefined) return this.#log;
    throw new ParleyError({ code: "session", message: "This session is not kept, so nothing of it can be undone", retryable: false });
  }
}

function noCopies(): ParleyError {
  const message = "No copies of files are kept (sessions.undoMiB is 0), so what they were is not known";
  return new ParleyError({ code: "unsupported", message, retryable: false });
}
