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

/** The engine makes these once; all of its sessions use them. */
export interface EngineServices {
  readonly redactor: Redactor;
  /** Characters of a tool's output that go to the model and the host. */
  readonly outputChars: number;
  /** The most that one answer of a model may hold. */
  readonly answerMiB: number;
  readonly memory: MemoryLimit;
  /** Providers of the config: each brings its own models. */
  readonly providers: OwnProviders;
  /** Rules and tools that the config forbids, whatever a host says. */
  readonly bounds: Bounds;
  /** Undefined: sessions have no extensions. */
  readonly extensions: ExtensionSources | undefined;
  /** A hub owns the sessions. */
  readonly hub: boolean;
  readonly env: Record<string, string | undefined>;
  readonly version: string;
  /** Undefined: no traces are collected, and no code for them is loaded. */
  readonly openTrace: ((handle: string, sessionId: string | undefined) => Promise<SessionTrace | undefined>) | undefined;
  openModel(config: SessionConfig): Promise<Model>;
  openStore(): Promise<SessionStore> | undefined;
  /** Redacts the secrets of these servers from now on. */
  learnSecrets(servers: Readonly<Record<string, McpServer>>): void;
  nextSeq(): number;
  /** Hands a stamped event to the host. Only `SessionEvents` calls it, once the event is in the log. */
  push(event: Event): Promise<void> | undefined;
}

/** The session, as its own parts see it. */
export interface SessionServices {
  /** The name that ops and events use. */
  readonly handle: string;
  /** The name under which the session is kept, if it is. */
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
  /** Keeps writes to one file in order, whichever agent makes them. */
  readonly fileOrder: FileOrder;
  /** The lock of the session's own agent; each sub-agent has another. */
  readonly access: AccessLock;
  /** The shell of the session's own agent; each sub-agent has another. */
  readonly shell: AgentShell;
  /** Whole outputs of commands, of all agents. */
  readonly outputs: OutputFiles;
  /** Files that the session's own agent has seen; each sub-agent has a record of its own. */
  readonly seen: SeenFileMap;
  /** Processes that outlive their calls. */
  readonly children: Set<{ end(graceMs: number): Promise<void> }>;
  /** Notes about the model that the host has been told. */
  readonly notes: Set<string>;
  /** The todo list that the model wrote last. */
  todos(): readonly TodoItem[];
  /** Notes the changes of one turn; undefined where no copies of files are kept. `warn` tells people of a file that has none. */
  changes(warn: (text: string) => void): FileChanges | undefined;
  /** Changes the mode from within a turn, and tells the host. */
  setMode(mode: Mode): void;
  /** The session as its store keeps it. */
  kept(): KeptSession;
}
