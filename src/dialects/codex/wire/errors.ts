/** The reason for a failed turn: converts between Codex's `codexErrorInfo` and our faults. */
import * as v from "valibot";
import type { Fault } from "../../../core/errors.js";
import { isRecord } from "../../../core/values/json-object.js";
import type { TurnError } from "./threads.js";

interface Named {
  info: string;
  code: string;
  status?: number;
  retryable: boolean;
}

const NAMED: readonly Named[] = [
  { info: "contextWindowExceeded", code: "context_overflow", retryable: false },
  { info: "usageLimitExceeded", code: "provider", status: 402, retryable: false },
  { info: "rateLimitExceeded", code: "provider", status: 429, retryable: true },
  { info: "serverOverloaded", code: "provider", status: 529, retryable: true },
  { info: "internalServerError", code: "provider", status: 500, retryable: true },
  { info: "unauthorized", code: "provider", status: 401, retryable: false },
  { info: "badRequest", code: "provider", status: 400, retryable: false },
  { info: "modelNotFound", code: "provider", status: 404, retryable: false },
  { info: "sandboxError", code: "sandbox", retryable: false },
];

/** Kinds that only Codex's own services have: no fault of ours is one of them. */
const FOREIGN: readonly Named[] = [
  { info: "flexUnavailable", code: "provider", status: 503, retryable: true },
  { info: "policyCapacityUnavailable", code: "provider", status: 503, retryable: true },
  { info: "sessionBudgetExceeded", code: "limit", retryable: false },
  { info: "tooManyDenials", code: "limit", retryable: false },
  { info: "cyberPolicy", code: "provider", status: 403, retryable: false },
  { info: "misalignmentPolicyViolation", code: "provider", status: 403, retryable: false },
];

/** Kinds of broken connections; their object may have an HTTP status. */
const CONNECTION: ReadonlySet<string> = new Set([
  "httpConnectionFailed",
  "responseStreamConnectionFailed",
  "responseStreamDisconnected",
  "responseTooManyFailedAttempts",
]);

const VendorError = v.pipe(v.string(), v.parseJson(), v.looseObject({ error: v.looseObject({ message: v.string() }) }));

/** Codex may pass on a vendor's whole answer. */
function plainMessage(message: string): string {
  const read = v.safeParse(VendorError, message);
  return read.success ? read.output.error.message : message;
}

export function readFault({ message: words, codexErrorInfo: info }: TurnError): Fault {
  const message = plainMessage(words);
  const named = [...NAMED, ...FOREIGN].find((each) => each.info === info);
  if (named !== undefined) {
    const { code, status, retryable } = named;
    return { code, message, retryable, ...(status !== undefined && { status }) };
  }
  const [[kind, detail] = []] = isRecord(info) ? Object.entries(info) : [];
  if (kind === undefined || !CONNECTION.has(kind)) return { code: "agent", message, retryable: false };
  const status = isRecord(detail) && typeof detail["httpStatusCode"] === "number" ? detail["httpStatusCode"] : undefined;
  const retryable = status === undefined || status === 429 || status >= 500;
  return { code: "provider", message, retryable, ...(status !== undefined && { status }) };
}

export function writeFault(fault: Fault): TurnError {
  return { message: fault.message, codexErrorInfo: infoOf(fault), additionalDetails: null, misalignment: null };
}

function infoOf({ code, status, retryable }: Fault): unknown {
  const named = NAMED.find((each) => each.code === code && each.status === status);
  if (named !== undefined) return named.info;
  if (code !== "provider") return "other";
  if (status !== undefined && status < 500) return { httpConnectionFailed: { httpStatusCode: status } };
  return retryable === true ? { responseStreamDisconnected: { httpStatusCode: status ?? null } } : "other";
}
