/** The services that a session's turns, calls and extensions share, and those that its engine lends to every session. */
import type { McpServer, Mode, SessionConfig } from "../../core/config.js";
import type { TodoItem } from "../../core/content.js";
import type { OwnProviders } from "../../core/providers/choose-provider.js";
import type { Event } from "../../core/event.js";
import type { Redactor } from "../../core/secrets/redact.js";
import type { CallIds } from "../calls/ids.js";
import type { AccessLock, FileOrder } from "../calls/locks.js";
import type { ExtensionSources } from "../extensions/extensions.js";
import type { Model } from "../models/model.js";
import type { PendingApprovals } from "../permissions/pending-approvals.js";
import type { Permissions } from "../permissions/permissions.js";
import type { KeptSession, SessionStore } from "../store/store.js";
import type { SessionTrace } from "../trace/trace.js";
import type { AgentShell } from "../tools/shell/agent-shell.js";
import type { OutputFiles } from "../tools/shell/output-files.js";
import type { FileChanges } from "../undo/file-changes.js";
import type { Workspace } from "../workspace/workspace.js";
import type { Bounds } from "./configured-bounds.js";
import type { SessionExtensions } from "./extensions.js";
import type { History } from "./history.js";
import type { HostRequests } from "./host-requests.js";
import type { MemoryLimit } from "./memory-limit.js";
import type { SeenFileMap } from "./seen-files.js";
import type { SessionEvents } from "./session-events.js";
import type { SessionSettings } from "./settings.js";

/** Made once by the engine, for all its sessions. */
export interface EngineServices {
  readonly redactor: Redactor;
  /** The most characters of a tool's output for the model and the host. */
  readonly outputChars: number;
  /** The largest answer of a model. */
  readonly answerMiB: number;
  readonly memory: MemoryLimit;
  /** Providers of the config: each brings its own models. */
  readonly providers: OwnProviders;
  /** Rules and tools that the config forbids, whatever a host asks for. */
  readonly bounds: Bounds;
  /** Undefined: sessions have no extensions. */
  readonly extensions: ExtensionSources | undefined;
  /** A hub owns the sessions. */
  readonly hub: boolean;
  readonly env: Record<string, string | undefined>;
  readonly version: string;
  /** Undefined: no traces are collected, and their code is not loaded. */
  readonly openTrace: ((handle: string, sessionId: string | undefined) => Promise<SessionTrace | undefined>) | undefined;
  openModel(config: SessionConfig): Promise<Model>;
  openStore(): Promise<SessionStore> | undefined;
  /** Redacts the secrets of these servers from now on. */
  learnSecrets(servers: Readonly<Record<string, McpServer>>): void;
  nextSeq(): number;
  /** Sends a stamped event to the host. Only `SessionEvents` calls it, after the event is in the log. */
  push(event: Event): Promise<void> | undefined;
}

/** The session as its own parts see it. */
export interface SessionServices {
  /** The session's handle. */
  readonly handle: string;
  /** The name under which the session is stored, if it is. */
  readonly sessionId: string | undefined;
  readonly engine: EngineServices;
  readonly settings: SessionSettings;
  readonly events: SessionEvents;
  readonly history: History;
  readonly extensions: SessionExtensions;
  readonly workspace: Workspace;
  readonly permissions: Permissions;
  readonly approvals: PendingApprovals;
  readonly callIds: CallIds;
  readonly hostRequests: HostRequests;
  readonly redactor: Redactor;
  readonly outputChars: number;
  /** Seconds that an approval or a host request waits. */
  readonly answerSeconds: number;
  /** Orders the writes of all agents to each file. */
  readonly fileOrder: FileOrder;
  /** The lock of the session's own agent; each sub-agent has its own. */
  readonly access: AccessLock;
  /** The shell of the session's own agent; each sub-agent has its own. */
  readonly shell: AgentShell;
  /** The whole outputs of commands, of all agents. */
  readonly outputs: OutputFiles;
  /** The files that the session's own agent has seen; each sub-agent has its own record. */
  readonly seen: SeenFileMap;
  /** Processes that outlive their calls. */
  readonly children: Set<{ end(graceMs: number): Promise<void> }>;
  /** Notes about the model that the host has received. */
  readonly notes: Set<string>;
  /** The todo list that the model wrote last. */
  todos(): readonly TodoItem[];
  /** Starts to record the file changes of a turn; undefined if no copies of files are kept. `warn` reports a file without a copy. */
  changes(warn: (text: string) => void): FileChanges | undefined;
  /** Changes the mode within a turn, and notifies the host. */
  setMode(mode: Mode): void;
  /** The session as it is stored. */
  kept(): KeptSession;
}
