/** What a session keeps between its turns, and what its calls share. */
import type { Part, TodoItem } from "../../core/content.js";
import type { PendingApprovals } from "../permissions/pending-approvals.js";
import type { Permissions } from "../permissions/permissions.js";
import type { CallIds } from "../calls/ids.js";
import type { HostRequests } from "./host-requests.js";
import type { Locks } from "../calls/locks.js";
import type { Message } from "../models/model.js";
import type { SeenFiles } from "../tools/tool.js";
import type { Workspace } from "../workspace/workspace.js";

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
  readonly answerMiB: number;
  /** Levels of sub-agents below the session's own. */
  nesting: number;
  /** The list that the model wrote last. */
  todos(): readonly TodoItem[];
  /** What the host has been told about its model. */
  readonly notes: Set<string>;
  /** Seconds that an approval or a host request waits. */
  answerSeconds: number;
}

export class SeenFileMap implements SeenFiles {
  readonly #stamps: Map<string, string>;
  readonly #onNew: (path: string, stamp: string) => void;

  /** `before`: what a resumed session had seen. `onNew` keeps what it sees from now on. */
  constructor(before: Readonly<Record<string, string>> = {}, onNew: (path: string, stamp: string) => void = () => {}) {
    this.#stamps = new Map(Object.entries(before));
    this.#onNew = onNew;
  }

  note(path: string, stamp: string): void {
    if (this.#stamps.get(path) === stamp) return;
    this.#stamps.set(path, stamp);
    this.#onNew(path, stamp);
  }

  all(): Record<string, string> {
    return Object.fromEntries(this.#stamps);
  }

  stampOf(path: string): string | undefined {
    return this.#stamps.get(path);
  }
}

/** The model's todo list is a part of the conversation: so it survives a resume, and goes when the conversation is cleared. */
export function todosIn(messages: readonly Message[]): readonly TodoItem[] {
  for (let at = messages.length - 1; at >= 0; at--) {
    const list = partsOf(messages[at]).findLast((part) => part.type === "todo");
    if (list !== undefined) return list.items;
  }
  return [];
}

/** Lists are written by calls; a summary carries the last one on. */
function partsOf(message: Message | undefined): Part[] {
  if (message?.role === "tool") return message.results.flatMap(({ parts, failed }) => (failed ? [] : parts));
  return message?.role === "user" ? message.parts : [];
}
