/** Converts a vendor's failure to a fault: status, whether a retry makes sense, and a text that names the key to check. */
import * as v from "valibot";
import { messageOf, ParleyError, systemCode } from "../../../core/errors.js";
import { connectionRemedy } from "../../../core/remedies.js";
import { Redactor } from "../../../core/secrets/redact.js";
import { headOf } from "../../workspace/output.js";
import { isOverflow } from "./context-overflow.js";
import { isImageRefusal } from "./image-refusal.js";
import { BadAnswer } from "../http/event-bytes.js";
import { StreamException } from "../http/event-frames.js";
import { TimedOut, timeoutWords } from "../time-limits.js";

export interface Vendor {
  provider: string;
  /** The source of the key, for the message about a refused key. */
  keyName?: string;
  /** Texts to redact, even if the vendor repeats them. */
  secrets?: readonly string[];
}

/** The errors of the packages, and the error objects that come within a stream. */
const Failure = v.looseObject({
  name: v.optional(v.string()),
  message: v.optional(v.string()),
  type: v.optional(v.nullable(v.string())),
  code: v.optional(v.nullable(v.union([v.string(), v.number()]))),
  statusCode: v.optional(v.number()),
  responseHeaders: v.optional(v.record(v.string(), v.string())),
  responseBody: v.optional(v.string()),
});
type Failure = v.InferOutput<typeof Failure>;

/** Vendors' own names of failures, where there is no HTTP status. */
const STATUS: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  rate_limit_exceeded: 429,
  insufficient_quota: 429,
  api_error: 500,
  server_error: 500,
  billing_hard_limit_reached: 402,
  timeout_error: 504,
  overloaded_error: 529,
  validationException: 400,
  modelTimeoutException: 408,
  modelStreamErrorException: 424,
  throttlingException: 429,
  internalServerException: 500,
  serviceUnavailableException: 503,
};

/** AWS asks for a retry with this name, whatever the status. */
const TRY_AGAIN: ReadonlySet<unknown> = new Set(["modelStreamErrorException"]);
/** A request timeout, a conflict of requests, a request too early, too many requests. */
const TRY_AGAIN_STATUS: ReadonlySet<number> = new Set([408, 409, 425, 429]);

/** Vendors' names and texts for an empty account: waiting does not help. */
const USED_UP: ReadonlySet<unknown> = new Set([
  "insufficient_quota",
  "billing_error",
  "billing_hard_limit_reached",
  "insufficient_credits",
]);
const USED_UP_WORDS = /credit balance is too low|insufficient (?:credits|balance)|billing hard limit/i;

const LOST = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "ENOTFOUND",
  "EAI_AGAIN",
  "ETIMEDOUT",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "EPIPE",
  "UND_ERR_SOCKET",
  "UND_ERR_CONNECT_TIMEOUT",
  "UND_ERR_HEADERS_TIMEOUT",
  "UND_ERR_BODY_TIMEOUT",
]);

/** A longer explanation is cut; some servers answer with whole pages. */
const LONGEST = 400;

/** `answering`: the vendor had begun to answer. */
export function vendorFault(thrown: unknown, vendor: Vendor, answering: boolean): unknown {
  if (thrown instanceof ParleyError || (thrown instanceof Error && thrown.name === "AbortError")) return thrown;
  const late = causesOf(thrown).find((error) => error instanceof TimedOut);
  if (late !== undefined) return fault(vendor, thrown, { message: timeoutWords(late, vendor.provider), retryable: true });
  // The packages may wrap the error; their own text is not useful.
  const told = causesOf(thrown).find((error) => error instanceof StreamException) ?? thrown;
  const failure = v.is(Failure, told) ? told : { message: messageOf(thrown) };
  const status = statusOf(failure);
  const noAnswer = wordsOfNoAnswer(thrown, failure, vendor, answering || status !== undefined);
  if (noAnswer !== undefined) return fault(vendor, thrown, { message: noAnswer, retryable: false });
  if (isUnfinished(failure)) return cutFault(vendor, thrown);
  if ((status === undefined || status < 400) && isLost(thrown)) {
    return answering || status !== undefined ? cutFault(vendor, thrown) : noConnection(failure, thrown, vendor, true);
  }
  // A refused certificate, or a server without TLS: a retry fails in the same way.
  if (!answering && status === undefined && causesOf(thrown).some((error) => systemCode(error) !== undefined)) {
    return noConnection(failure, thrown, vendor, false);
  }
  const retryAfter = retryAfterOf(failure.responseHeaders) ?? retryDelayOf(failure.responseBody);
  const said = explained(failure);
  return fault(vendor, thrown, {
    ...codeOf(status, said),
    message: words(said, failure, status, vendor),
    retryable: isWorthATry(status, failure, said),
    ...(status !== undefined && { status }),
    ...(retryAfter !== undefined && { retryAfter }),
  });
}

/** Codes of their own for failures that a changed conversation can repair. */
function codeOf(status: number | undefined, said: Explanation): { code?: string } {
  if (isOverflow(status, said)) return { code: "context_overflow" };
  return isImageRefusal(status, said.message) ? { code: "image_refused" } : {};
}

function isWorthATry(status: number | undefined, { type }: Failure, said: Explanation): boolean {
  if (TRY_AGAIN.has(type)) return true;
  return status !== undefined && (status >= 500 || TRY_AGAIN_STATUS.has(status)) && !isUsedUp(status, said);
}

/** A payment is required, or the account is empty. */
function isUsedUp(status: number | undefined, { message, names }: Explanation): boolean {
  return status === 402 || names.some((name) => USED_UP.has(name)) || USED_UP_WORDS.test(message);
}

/** A stream that ended before the answer did. */
export function cutFault(vendor: Vendor, cause?: unknown): ParleyError {
  return fault(vendor, cause, { message: `The connection to ${vendor.provider} was lost in the middle of its answer`, retryable: true });
}

/** An answer that reached the end of the model's window. */
export function fullFault(vendor: Vendor, why: string): ParleyError {
  const message = `${vendor.provider} broke its answer off: the model's window is full (${why})`;
  return fault(vendor, undefined, { code: "context_overflow", message, retryable: false });
}

/** An answer with an abnormal end. */
export function finishFault(vendor: Vendor, why: string): ParleyError {
  return fault(vendor, undefined, { message: `${vendor.provider} did not finish its answer: ${why}`, retryable: true });
}

function noConnection({ message }: Failure, thrown: unknown, vendor: Vendor, retryable: boolean): ParleyError {
  const cause = thrown instanceof Error && thrown.cause instanceof Error ? thrown.cause : undefined;
  // After several addresses, the aggregate error names none.
  const why = cause?.message || systemCode(cause) || message || "no reason given";
  const remedy = causesOf(thrown)
    .map(connectionRemedy)
    .find((one) => one !== undefined);
  const lost = `There was no connection to ${vendor.provider}: ${why}`;
  return fault(vendor, thrown, { message: remedy === undefined ? lost : `${lost} (${remedy})`, retryable });
}

function fault(
  vendor: Vendor,
  cause: unknown,
  told: { code?: string; message: string; retryable: boolean; status?: number; retryAfter?: number },
): ParleyError {
  const message = new Redactor(vendor.secrets).text(told.message);
  return new ParleyError({ code: "provider", ...told, message }, { cause });
}

// --- what happened ---

function statusOf({ statusCode, code, type }: Failure): number | undefined {
  if (statusCode !== undefined) return statusCode;
  if (typeof code === "number" && code >= 400 && code < 600) return code;
  return STATUS[String(code)] ?? STATUS[String(type)];
}

function isLost(thrown: unknown): boolean {
  return causesOf(thrown).some(
    (error) => LOST.has(systemCode(error) ?? "") || error.message === "fetch failed" || error.message === "terminated",
  );
}

function causesOf(thrown: unknown): Error[] {
  return thrown instanceof Error ? [thrown, ...causesOf(thrown.cause)] : [];
}

/** An error of Node's HTTP parser, except for an early end. */
function isNotHttp(error: Error): boolean {
  const code = systemCode(error) ?? "";
  return code.startsWith("HPE_") && code !== "HPE_INVALID_EOF_STATE";
}

const Unreadable = v.looseObject({
  name: v.picklist(["AI_JSONParseError", "AI_TypeValidationError"]),
  text: v.optional(v.string()),
  value: v.optional(v.unknown()),
});

/** The text that the package could not read; its own error has an invented status. */
function unreadable(failure: Failure): string | undefined {
  const inner = v.safeParse(v.pipe(v.string(), v.parseJson(), Unreadable), failure.responseBody);
  const error = inner.success ? inner.output : failure;
  if (!v.is(Unreadable, error)) return undefined;
  return error.text ?? JSON.stringify(error.value) ?? "nothing";
}

/** The package for compatible servers detects a cut stream itself. */
function isUnfinished({ name, message }: Failure): boolean {
  return name === "AI_InvalidResponseDataError" && message?.includes("without a finish reason") === true;
}

/** Seconds, from milliseconds, seconds or a date; a past date is ignored. */
function retryAfterOf(headers: Record<string, string> | undefined): number | undefined {
  const ms = headers?.["retry-after-ms"];
  if (ms !== undefined && /^\s*\d+(\.\d+)?\s*$/.test(ms)) return Number(ms) / 1000;
  const value = headers?.["retry-after"];
  if (value === undefined) return undefined;
  const seconds = /^\s*\d+(\.\d+)?\s*$/.test(value) ? Number(value) : (Date.parse(value) - Date.now()) / 1000;
  return seconds >= 0 ? seconds : undefined;
}

const GoogleDetails = v.pipe(
  v.string(),
  v.parseJson(),
  v.looseObject({
    error: v.looseObject({ details: v.array(v.looseObject({ retryDelay: v.optional(v.string()), reason: v.optional(v.string()) })) }),
  }),
);

/** Google's details of a failure: the time of a retry, and the reason. */
function detailsOf(body: string | undefined): { retryDelay?: string | undefined; reason?: string | undefined }[] {
  const parsed = v.safeParse(GoogleDetails, body);
  return parsed.success ? parsed.output.error.details : [];
}

/** Google has no header for the wait: it writes "13.5s" in a google.rpc.RetryInfo. */
function retryDelayOf(body: string | undefined): number | undefined {
  const delay = detailsOf(body).find(({ retryDelay }) => retryDelay !== undefined)?.retryDelay;
  return delay !== undefined && /^\d+(\.\d+)?s$/.test(delay) ? Number.parseFloat(delay) : undefined;
}

/** Google answers 400 to an unknown key. */
function isKeyRefused({ responseBody }: Failure, status: number | undefined): boolean {
  return status === 401 || status === 403 || (status === 400 && detailsOf(responseBody).some(({ reason }) => reason === "API_KEY_INVALID"));
}

// --- what to say ---

/** The text for an answer that no vendor of this kind gives: a retry would bring the same. */
function wordsOfNoAnswer(thrown: unknown, failure: Failure, vendor: Vendor, hasBegun: boolean): string | undefined {
  const { provider } = vendor;
  const causes = causesOf(thrown);
  const bad = causes.find((error) => error instanceof BadAnswer);
  if (bad !== undefined) return `${provider} at ${bad.address} ${bad.message}`;
  const unread = unreadable(failure);
  if (unread !== undefined) return `What ${provider} sent could not be read: ${brief(unread, vendor)}`;
  const foreign = hasBegun ? undefined : causes.find(isNotHttp);
  return foreign === undefined ? undefined : `The answer of ${provider} is not HTTP: ${foreign.message}`;
}

function words(explanation: Explanation, failure: Failure, status: number | undefined, vendor: Vendor): string {
  const { provider } = vendor;
  const said = `${provider} answered${status === undefined ? "" : ` ${status}`}: ${brief(explanation.message, vendor)}`;
  const remedy = remedyFor(explanation, failure, status, vendor);
  return remedy === undefined ? said : `${said} (${remedy})`;
}

function remedyFor(said: Explanation, failure: Failure, status: number | undefined, { keyName, provider }: Vendor): string | undefined {
  if (isUsedUp(status, said))
    return `the account has nothing left to spend: check its plan and billing${keyName === undefined ? "" : `, or ${keyName}`}`;
  if (isKeyRefused(failure, status)) return keyName === undefined ? undefined : `check ${keyName}`;
  return status === 404 ? `check the model's name and the address; 'parley models ${provider}' lists the models` : undefined;
}

const Name = v.nullish(v.union([v.string(), v.number()]));
const Explained = v.looseObject({
  error: v.optional(v.union([v.string(), v.looseObject({ message: v.string(), code: Name, type: Name })])),
  message: v.optional(v.string()),
  Message: v.optional(v.string()),
  detail: v.optional(v.string()),
});

/** The vendor's own text, from the body if there is one, and its names for the failure. */
interface Explanation {
  message: string;
  names: unknown[];
}

function explained({ message, responseBody, code, type }: Failure): Explanation {
  const body = bodyWords(responseBody);
  return { message: body?.message || message?.trim() || "no explanation was given", names: [code, type, ...(body?.names ?? [])] };
}

/** Secrets are masked before the cut: the beginning of one would not be recognised. */
function brief(text: string, { secrets }: Vendor): string {
  const safe = new Redactor(secrets).text(text);
  return safe.length > LONGEST ? `${headOf(safe, LONGEST)}…` : safe;
}

function bodyWords(body: string | undefined): { message: string | undefined; names?: unknown[] } | undefined {
  if (body === undefined || body.trim() === "") return undefined;
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), Explained), body);
  if (!parsed.success) return /^\s*</.test(body) ? undefined : { message: body.trim() };
  const { error, message, Message: awsMessage, detail } = parsed.output;
  if (error === undefined || typeof error === "string") return { message: error ?? message ?? awsMessage ?? detail };
  return { message: error.message, names: [error.code, error.type] };
}
