/** What a bridge asks of an agent, and what it gets back. Everything above the runner (the command, a platform) knows only this. */

export interface Attachment {
  type: "image" | "file" | "audio" | "video" | "other";
  url: string;
  name: string;
  /** Where it is known. */
  mime?: string | undefined;
}

export interface BridgeTurn {
  message: string;
  sessionName: string;
  from: string;
  attachments: readonly Attachment[];
}

export interface PermissionRequest {
  id: string;
  tool: string;
  input: Record<string, unknown>;
  description?: string;
  /** In milliseconds since the epoch: then it is denied. */
  deadline?: number;
}

export type PermissionAnswer = { behavior: "allow"; updatedInput?: Record<string, unknown> } | { behavior: "deny"; message?: string };

export interface TurnEvents {
  /** A promise holds the agent back until it settles. */
  partial(text: string, role: "output" | "thinking" | "other"): void | Promise<void>;
  permission(request: PermissionRequest): Promise<PermissionAnswer>;
  warning(text: string): void;
}

export interface TurnResult {
  /** What to send to the user after the partials; "" when there is nothing more to say, and on a failed turn. */
  reply: string;
  /** The one now stored, "" when there is none. */
  sessionId: string;
  /** What to tell the user; "" on success, and when the profile wants no generic errors told. */
  error: string;
  /** 0 is success: 124 on timeout, 1 for an error that the agent told, else the process's own code or 128+N. */
  exitCode: number;
  processExitCode: number | null;
  signal: string | null;
  timedOut: boolean;
  truncated: boolean;
  usage?: unknown;
  stderr?: string;
  /** What was collected of the reply of a failed turn. */
  body?: string;
}

export interface Runner {
  /** A failed turn is a result, never a rejection. An aborted one has its process group ended first. */
  run(turn: BridgeTurn, on: TurnEvents, signal: AbortSignal): Promise<TurnResult>;
  /** The conversation's next turn begins a new session. Rejects when the signal aborts before it is this one's turn. */
  forget(sessionName: string, on: Pick<TurnEvents, "warning">, signal: AbortSignal): Promise<void>;
  /** Ends running turns. */
  close(): Promise<void>;
}
