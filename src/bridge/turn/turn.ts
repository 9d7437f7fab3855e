/** The port between a bridge and an agent: requests and results. Everything above the runner (the command, a platform) uses only this. */

export interface Attachment {
  type: "image" | "file" | "audio" | "video" | "other";
  url: string;
  name: string;
  /** The type, where it is known. */
  mime?: string | undefined;
}

/** One message to an agent. */
export interface BridgeTurn {
  message: string;
  sessionName: string;
  from: string;
  attachments: readonly Attachment[];
}

/** A call that an agent may not make unasked. */
export interface PermissionRequest {
  id: string;
  tool: string;
  input: Record<string, unknown>;
  description?: string;
  /** The deadline in milliseconds since the epoch, at which it is denied. */
  deadline?: number;
}

/** The answer to a permission request. */
export type PermissionAnswer = { behavior: "allow"; updatedInput?: Record<string, unknown> } | { behavior: "deny"; message?: string };

/** The listeners of a turn. */
export interface TurnEvents {
  /** A promise holds the agent back until it settles. */
  partial(text: string, role: "output" | "thinking" | "other"): void | Promise<void>;
  permission(request: PermissionRequest): Promise<PermissionAnswer>;
  warning(text: string): void;
}

/** The reply of an agent, and how its turn ended. */
export interface TurnResult {
  /** The text for the user after the partials; "" when nothing is left, and on a failed turn. */
  reply: string;
  /** The stored session id; "" when there is none. */
  sessionId: string;
  /** The error for the user; "" on success, and when the profile hides generic errors. */
  error: string;
  /** 0 is success: 124 on timeout, 1 for an error that the agent told, else the process's own code or 128+N. */
  exitCode: number;
  processExitCode: number | null;
  signal: string | null;
  timedOut: boolean;
  truncated: boolean;
  usage?: unknown;
  stderr?: string;
  /** The text of a failed turn's reply. */
  body?: string;
}

/** Runs turns, one at a time in a conversation. */
export interface Runner {
  /** A failed turn is a result, never a rejection. An abort ends the process group first. */
  run(turn: BridgeTurn, on: TurnEvents, signal: AbortSignal): Promise<TurnResult>;
  /** The conversation's next turn begins a new session. Rejects when the signal aborts before it is this one's turn. */
  forget(sessionName: string, on: Pick<TurnEvents, "warning">, signal: AbortSignal): Promise<void>;
  /** Ends running turns. */
  close(): Promise<void>;
}
