/** Agent → host. */
import * as v from "valibot";
import type { Event } from "../../../core/event.js";
import { Meta } from "../../../core/meta.js";
import { issuesOf, shapeOf, stringField } from "../../kit/issues.js";
import { wire } from "../wire.js";

const known = new Set<string>(wire.event.options.map((option) => option.entries.type.literal));

/** Unknown is not invalid: an unknown type becomes `other`; a known type with invalid fields is an error. */
export function readEvent(rec: unknown): Event {
  const type = stringField(rec, "type");
  if (type === undefined) return broken(`The agent wrote a line that is ${shapeOf(rec)} without a "type"`);
  if (!known.has(type)) return { type: "other", ...addressOf(rec), name: type, data: rec };
  // The record itself, checked: the schema's copy leaves out names like "constructor", which an argument may have.
  if (v.is(wire.event, rec)) return rec;
  return broken(`The agent wrote an invalid ${type}: ${issuesOf(wire.event, rec)}`);
}

/** The session, turn and op of a record, if it names them in our fields. */
function addressOf(rec: unknown): Meta {
  const result = v.safeParse(Meta, rec);
  return result.success ? result.output : {};
}

function broken(message: string): Event {
  return { type: "error", fault: { code: "protocol", message, retryable: false } };
}
