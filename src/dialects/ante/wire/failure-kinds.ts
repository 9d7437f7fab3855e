/** The kind of failure that ended a turn: later revisions have it beside the message, and only it tells whether a retry may help. */
import type { Fault } from "../../../core/errors.js";

const KINDS: readonly { kind: string; status?: number; retryable: boolean }[] = [
  { kind: "invalid_request", status: 400, retryable: false },
  { kind: "auth", status: 401, retryable: false },
  { kind: "quota", status: 402, retryable: false },
  { kind: "forbidden", status: 403, retryable: false },
  { kind: "timeout", status: 408, retryable: true },
  { kind: "rate_limited", status: 429, retryable: true },
  { kind: "server_error", status: 500, retryable: true },
  { kind: "overloaded", status: 529, retryable: true },
  { kind: "transport", retryable: true },
  { kind: "unexpected_eof", retryable: true },
];

export function kindOf({ code, status, retryable }: Fault): string | undefined {
  if (code !== "provider") return undefined;
  if (status === undefined) return retryable === true ? "transport" : undefined;
  return KINDS.find((known) => known.status === status)?.kind ?? (status >= 500 ? "server_error" : undefined);
}

/** The fault for a kind of failure. */
export function faultOf(kind: string | undefined, message: string): Fault {
  const known = KINDS.find((each) => each.kind === kind);
  if (known === undefined) return { code: "agent", message, retryable: false };
  const { status, retryable } = known;
  return { code: "provider", message, retryable, ...(status !== undefined && { status }) };
}
