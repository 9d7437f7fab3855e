/** JSON-RPC 2.0 as ACP uses it: envelopes, error codes, and the conversion between our faults and its errors. */
import * as v from "valibot";
import type { Fault } from "../../../core/errors.js";
import { isRecord } from "../../../core/values/json-object.js";

const jsonrpc = v.literal("2.0");

export const RpcId = v.union([v.string(), v.number(), v.null()]);
export type RpcId = v.InferOutput<typeof RpcId>;

export const RpcError = v.looseObject({ code: v.number(), message: v.string(), data: v.optional(v.unknown()) });
export type RpcError = v.InferOutput<typeof RpcError>;

/** A request or a notification of any method. */
export const Message = v.looseObject({ id: v.optional(RpcId), method: v.string(), params: v.optional(v.unknown()) });
export type Message = v.InferOutput<typeof Message>;

export const Result = v.looseObject({ jsonrpc, id: RpcId, result: v.unknown() });
export const Failure = v.looseObject({ jsonrpc, id: RpcId, error: RpcError });

export function requestOf<M extends string, P extends v.GenericSchema>(method: M, params: P) {
  return v.looseObject({ jsonrpc, id: RpcId, method: v.literal(method), params });
}

export function notificationOf<M extends string, P extends v.GenericSchema>(method: M, params: P) {
  return v.looseObject({ jsonrpc, method: v.literal(method), params });
}

// --- building records ---

export interface Envelope {
  rec: { jsonrpc: "2.0"; [field: string]: unknown };
}

export function request(id: RpcId, method: string, params: unknown): Envelope {
  return { rec: { jsonrpc: "2.0", id, method, params } };
}

export function notification(method: string, params: unknown): Envelope {
  return { rec: { jsonrpc: "2.0", method, params } };
}

export function result(id: RpcId, value: unknown): Envelope {
  return { rec: { jsonrpc: "2.0", id, result: value } };
}

export function failure(id: RpcId, error: RpcError): Envelope {
  return { rec: { jsonrpc: "2.0", id, error } };
}

// --- errors ---

export const CODES = {
  parse: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  cancelled: -32800,
  authRequired: -32000,
  notFound: -32002,
} as const;

/** A fault as an error. `data` has the fields that the error's code cannot express; another Parley reads them back. */
export function errorOf(fault: Fault): RpcError {
  const { code, message, retryable, status, param } = fault;
  const data = {
    code,
    ...(retryable !== undefined && { retryable }),
    ...(status !== undefined && { status }),
    ...(param !== undefined && { param }),
  };
  return { code: codeOf(fault), message, data };
}

function codeOf({ code, param, retryable }: Fault): number {
  if (isKeyMissing(code, param)) return CODES.authRequired;
  switch (code) {
    case "protocol":
    case "usage":
    case "invalid":
    case "config":
      return CODES.invalidParams;
    case "unsupported":
      return CODES.methodNotFound;
    case "session":
      // A session that is only in use now is no session that is gone.
      return retryable === true ? CODES.internal : CODES.notFound;
    case "interrupted":
      return CODES.cancelled;
    default:
      return CODES.internal;
  }
}

function isKeyMissing(code: string, param: string | undefined): boolean {
  return code === "auth" || (code === "config" && param === "apiKey");
}

/** The fault's code for an error without `data.code`. */
const FAULT_CODES: ReadonlyMap<number, string> = new Map([
  [CODES.parse, "protocol"],
  [CODES.invalidRequest, "protocol"],
  [CODES.methodNotFound, "unsupported"],
  [CODES.invalidParams, "invalid"],
  [CODES.authRequired, "config"],
  [CODES.notFound, "session"],
  [CODES.cancelled, "interrupted"],
]);

export function faultOf({ code, message, data }: RpcError): Fault {
  const said = isRecord(data) ? data : {};
  const details = ["details", "message", "errorMessage"].map((key) => said[key]).find((value) => typeof value === "string");
  // Many agents say "Internal error" and put the reason into the data.
  const text = typeof details === "string" && details !== message ? `${message}: ${details}` : message;
  const status = typeof said["status"] === "number" ? said["status"] : undefined;
  const retryable = typeof said["retryable"] === "boolean" ? said["retryable"] : isTransient(status, text);
  const own = typeof said["code"] === "string" ? said["code"] : (FAULT_CODES.get(code) ?? "provider");
  return { code: own, message: text, retryable, ...(status !== undefined && { status }) };
}

function isTransient(status: number | undefined, text: string): boolean {
  if (status !== undefined) return status === 429 || status >= 500;
  return /\b429\b|rate.?limit|overloaded|\b50[0234]\b/i.test(text);
}
