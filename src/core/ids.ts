/** Ids: ULIDs, ordered within one process. */
import { monotonicFactory } from "ulid";

let next: (() => string) | undefined;

/** A new ULID. The factory keeps order within a millisecond, and so must be one for the whole process. */
export function mintId(): string {
  next ??= monotonicFactory();
  return next();
}
