/**
 * The people whose answers to permissions count on a platform. Being allowed to talk is not enough for that: of several senders each would
 * allow what he himself asked for.
 */
import { isAllowed, type Senders } from "./strangers.js";

export interface Approvers {
  includes(from: string): boolean;
  /** Why no answer counts; undefined where somebody's does. */
  readonly noneBecause: string | undefined;
  /** Ids; "*" is everybody. */
  readonly ids: readonly string[];
  /** Fewer than may talk, so that a question says whom it waits for. */
  readonly areFew: boolean;
}

/** As the configuration has them: ids, all senders, or nothing, which means the only sender where there is just one. */
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
