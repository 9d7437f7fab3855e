/** The session as its extensions see it: the only way for commands to change the session. */
import type { Part } from "../../core/content.js";
import type { SessionConfig } from "../../core/config.js";
import type { Compacted } from "../turn/compaction/compaction.js";
import type { Message, Model } from "../models/model.js";
import type { Emit } from "../turn/turn.js";
import type { SessionServices } from "./services.js";
import type { RewindReply } from "../../core/rewind.js";
import type { LoggedTurn } from "../store/logged-turns.js";
import type { Asked } from "../undo/asked.js";
import type { SessionStore } from "../store/store.js";
import type { Trace } from "../trace/trace.js";

/** The services of a session that its extensions use. */
export type ExtensionServices = Pick<
  SessionServices,
  | "workspace"
  | "extensions"
  | "permissions"
  | "approvals"
  | "callIds"
  | "hostRequests"
  | "redactor"
  | "outputChars"
  | "answerSeconds"
  | "todos"
  | "shell"
  | "events"
>;

export interface SessionControl {
  config(): SessionConfig;
  model(): Model;
  readonly session: ExtensionServices;
  /** The conversation that the model gets. */
  readonly messages: readonly Message[];
  /** The session's handle. */
  readonly handle: string;
  /** Tokens of the last request and its answer, if the model told them. */
  used(): number | undefined;
  /** The name under which the session is stored, if it is. */
  readonly sessionId: string | undefined;
  /** Emits an event of the session, outside any turn. */
  readonly emit: Emit;
  /** Works like the host's `session.configure`. Throws for an invalid patch, and then nothing has changed. */
  configure(patch: SessionConfig): Promise<void>;
  /** Replaces the conversation; the log keeps the old one. Only between turns. */
  reset(messages: readonly Message[]): void;
  /** The turns that can be undone, oldest first. */
  turns(): Promise<LoggedTurn[]>;
  /** The files that are not as before the session, as far as tools changed them, each as a part. */
  changes(): Promise<Part[]>;
  /** Undoes a turn and all later ones. Only between turns. Throws a fault with the reason if it cannot. */
  rewind(asked: Asked): Promise<RewindReply>;
  /** Makes room in the model's window by trimming or a summary, and reports the result. Throws when interrupted. Only between turns. */
  compact(signal: AbortSignal): Promise<Compacted>;
  openStore(): Promise<SessionStore> | undefined;
  /** The present place in a trace, if traces are collected. */
  trace(): Trace | undefined;
}
