/** Describes the problems of a record, for the answers to bad lines. */
import { isRecord } from "../../core/values/json-object.js";
import { Redactor } from "../../core/secrets/redact.js";
import * as v from "valibot";

/** The most characters of a foreign text that an answer repeats. */
const ECHO = 120;

export function echo(text: string): string {
  // Redacted before it is cut: half a secret would not be recognised.
  const safe = new Redactor().text(text.slice(0, 8 * ECHO));
  return text.length <= ECHO ? safe : `${safe.slice(0, ECHO).toWellFormed()}…`;
}

/** The first three issues of a schema: "parts: Expected Array but received undefined; …". */
export function issuesOf(schema: v.GenericSchema, rec: unknown): string {
  const { issues = [] } = v.safeParse(schema, rec);
  const told = issues.slice(0, 3).map((issue) => {
    const path = v.getDotPath(issue);
    const message = echo(issue.message.replace(/^Invalid [a-z ]+: /, ""));
    return path === null ? message : `${path}: ${message}`;
  });
  const more = issues.length > 3 ? [`and ${issues.length - 3} more`] : [];
  return [...told, ...more].join("; ");
}

/** A string field of a record of unknown shape. */
export function stringField(record: unknown, name: string): string | undefined {
  if (!isRecord(record)) return undefined;
  const value: unknown = Object.entries(record).find(([key]) => key === name)?.[1];
  return typeof value === "string" ? value : undefined;
}

export function shapeOf(record: unknown): string {
  if (record === null) return "null";
  if (Array.isArray(record)) return "an array";
  return typeof record === "object" ? "an object" : `a ${typeof record}`;
}
