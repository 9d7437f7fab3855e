/** Parses a driven agent's line as an event of its revision, with harmless repairs; or returns its problem. */
import * as v from "valibot";
import { issuesOf, shapeOf, stringField } from "../../kit/issues.js";
import { repaired } from "./repair.js";
import type { Revision } from "../wire/revision.js";
import type { LaterEvent } from "../wire/records.js";

export function parse(rec: unknown, { events }: Revision): { event: LaterEvent } | { unknown: string } | string {
  const type = stringField(rec, "type");
  if (type === undefined) return `The agent wrote a line that is ${shapeOf(rec)} without a "type"`;
  const schema = Object.entries(events).find(([name]) => name === type)?.[1];
  if (schema === undefined) return { unknown: type };
  // The record itself, checked: the schema's copy leaves out names like "constructor", which an argument may have.
  if (v.is(schema, rec)) return { event: rec };
  const whole = repaired(rec);
  return v.is(schema, whole) ? { event: whole } : `The agent wrote an invalid ${type}: ${issuesOf(schema, whole)}`;
}
