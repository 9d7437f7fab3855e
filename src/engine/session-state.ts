/** What a session keeps between its turns, and what its calls share. */
import type { PendingApprovals, Permissions } from "./approval.js";
import type { CallIds } from "./call-ids.js";
import type { HostRequests } from "./host-requests.js";
import type { Locks } from "./locks.js";
import type { SeenFiles } from "./tools/tool.js";
import type { Workspace } from "./workspace.js";

export interface SessionState {
  readonly workspace: Workspace;
  readonly permissions: Permissions;
  readonly approvals: PendingApprovals;
  readonly callIds: CallIds;
  readonly hostRequests: HostRequests;
  readonly locks: Locks;
  readonly seen: SeenFiles;
  readonly children: Set<{ end(graceMs: number): Promise<void> }>;
  readonly outputChars: number;
  /** Levels of sub-agents below the session's own. */
  readonly nesting: number;
  /** What the host has been told about its model. */
  readonly notes: Set<string>;
  /** Seconds that an approval or a host request waits. */
  answerSeconds: number;
}

export class SeenFileMap implements SeenFiles {
  readonly #stamps = new Map<string, string>();

  note(path: string, stamp: string): void {
    this.#stamps.set(path, stamp);
  }

  stampOf(path: string): string | undefined {
    return this.#stamps.get(path);
  }
}
