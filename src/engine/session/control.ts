/** The session as its extensions see it: commands change the session through this, and through nothing else. */
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
>;

export interface SessionControl {
  config(): SessionConfig;
  model(): Model;
  readonly session: ExtensionServices;
  /** The conversation as the model gets it. */
  readonly messages: readonly Message[];
  /** The name that ops and events use. */
  readonly handle: string;
  /** Tokens of the last request and its answer, when the model told. */
  used(): number | undefined;
  /** The name under which it is kept, if it is. */
  readonly sessionId: string | undefined;
  /** Tells an event of the session, outside any turn. */
  readonly emit: Emit;
  /** Works like the host's `session.configure`: throws for a wrong patch, and then nothing has changed. */
  configure(patch: SessionConfig): Promise<void>;
  /** Replaces the conversation; the log keeps the old one. Only between turns. */
  reset(messages: readonly Message[]): void;
  /** The turns that can be taken back, in their order. */
  turns(): Promise<LoggedTurn[]>;
  /** Takes a turn back, and all behind it. Only between turns. Throws a fault that says why it is not done. */
  rewind(asked: Asked): Promise<RewindReply>;
  /** Makes room in the model's window: trims, sums up, and tells what came of it. Throws when interrupted. Only between turns. */
  compact(signal: AbortSignal): Promise<Compacted>;
  openStore(): Promise<SessionStore> | undefined;
  /** The place of the running work in a trace, where traces are collected. */
  trace(): Trace | undefined;
}
