/** Errors as data. Inside a room we throw `ParleyError`; across a port a `Fault` travels. */
import * as v from "valibot";
import type { Known } from "./values/without-index-signature.js";

/**
 * `code` is one of ours (`protocol`, `usage`, `invalid`, `config`, `provider`, `context_overflow`, `tool`, `hook`, `session`, `launch`, `limit`,
 * `unsupported`, `sandbox`, `version`, `interrupted`, `internal`) or a driven agent's own.
 * `message` is a sentence that names the thing and, where there is one, the remedy.
 */
export const Fault = v.looseObject({
  code: v.string(),
  message: v.string(),
  retryable: v.optional(v.boolean()),
  status: v.optional(v.number()),
  param: v.optional(v.string()),
  /** Seconds to wait before another try, if the other side named them. */
  retryAfter: v.optional(v.number()),
});
export type Fault = Known<v.InferOutput<typeof Fault>>;

/** An error of ours: `message` is a sentence that names the thing and the remedy, `fault` has its code. */
export class ParleyError extends Error {
  override readonly name = "ParleyError";
  readonly fault: Fault;

  constructor(fault: Fault, options?: ErrorOptions) {
    super(fault.message, options);
    this.fault = fault;
  }
}

/** A fault for anything thrown; a foreign error becomes an `internal` fault. */
export function toFault(thrown: unknown): Fault {
  if (thrown instanceof ParleyError) return thrown.fault;
  return { code: "internal", message: messageOf(thrown), retryable: false };
}

export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** The reason for a refusal by the system, in words; the caller adds the path. */
export function systemReason(thrown: unknown): string {
  return REASONS[systemCode(thrown) ?? ""] ?? messageOf(thrown);
}

const REASONS: Record<string, string> = {
  ENOENT: "no such file",
  ENOTDIR: "a part of the path is not a folder",
  EEXIST: "a part of the path is not a folder",
  EACCES: "permission denied",
  EPERM: "permission denied",
  EISDIR: "it is a folder",
  EROFS: "the file system is read-only",
  ENOSPC: "the disk is full",
  ENAMETOOLONG: "the name is too long",
  ELOOP: "too many symbolic links",
};

/** The `code` of a Node system error ("ENOENT"), if it is one. */
export function systemCode(thrown: unknown): string | undefined {
  if (!(thrown instanceof Error) || !("code" in thrown)) return undefined;
  return typeof thrown.code === "string" ? thrown.code : undefined;
}
