/**
 * The people whose answers to permissions count on a platform. Being allowed to talk is not enough: among several senders each could allow
 * his own requests.
 */
import { isAllowed, type Senders } from "./refused-senders.js";

export interface Approvers {
  includes(from: string): boolean;
  /** The reason why no answer counts; undefined where answers count. */
  readonly noneBecause: string | undefined;
  /** Ids of senders; "*" is everybody. */
  readonly ids: readonly string[];
  /** Fewer people may approve than may talk, so a question names them. */
  readonly areFew: boolean;
}

/** Reads the configuration: ids, all senders, or nothing, which means the sender where there is only one. */
export type NamedApprovers = "senders" | readonly string[] | undefined;

export function approversOf(allow: Senders, named: NamedApprovers): Approvers {
  const isOne = allow.size === 1 && !allow.has("*");
  const ids = named === "senders" || (named === undefined && isOne) ? [...allow] : [...new Set(named ?? [])];
  const all = new Set(ids);
  return {
    includes: (from) => isAllowed(all, from),
    noneBecause: ids.length > 0 ? undefined : reason(allow, named),
    ids,
    areFew: ids.length > 0 && (allow.has("*") ? !all.has("*") : ids.length < allow.size),
  };
}

function reason(allow: Senders, named: NamedApprovers): string {
  if (allow.size === 0) return "nobody may talk";
  if (named !== undefined) return "its list 'approvers' is empty";
  return `${allow.has("*") ? "everybody" : "more than one sender"} may talk, and 'approvers' names nobody`;
}
