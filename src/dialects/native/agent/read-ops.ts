/** Host → agent. */
import * as v from "valibot";
import type { Event } from "../../../core/event.js";
import type { Op } from "../../../core/op.js";
import { isRecord } from "../../../core/values/json-object.js";
import { issuesOf, shapeOf, stringField } from "../../kit/issues.js";
import { wire } from "../wire.js";

/** The schemas by type, so that only the matching one is tried. */
const schemas = new Map<string, (typeof wire.op.options)[number]>(wire.op.options.map((option) => [option.entries.type.literal, option]));

/** An op; or the reply about the problem of the line. */
export function readOp(rec: unknown): Op | { reply: Event } {
  const type = stringField(rec, "type");
  if (type === undefined) {
    const what = isRecord(rec) ? 'has no string field "type"' : `is ${shapeOf(rec)}`;
    return { reply: refusal("", `A line must be a JSON object with a "type"; this one ${what}`, rec) };
  }
  const schema = schemas.get(type);
  if (schema === undefined) return { reply: refusal(type, `Unknown op type: ${type}`, rec) };
  // The record itself, checked: the schema's copy leaves out names like "constructor", which an argument may have.
  if (v.is(schema, rec)) return rec;
  return { reply: refusal(type, `Invalid ${type}: ${issuesOf(wire.op, rec)}`, rec) };
}

/** A refused line is answered like a refused op. */
export function refusal(to: string, message: string, rec?: unknown): Event {
  const parent = stringField(rec, "id");
  const session = stringField(rec, "session");
  return {
    type: "reply",
    to,
    status: "error",
    fault: { code: "protocol", message, retryable: false },
    ...(parent !== undefined && { parent }),
    ...(session !== undefined && { session }),
  };
}
