/** Reads the lines of an agent on any of the wires, without their effect on the turn. */
import * as v from "valibot";
import { echo, issuesOf, stringField } from "../../kit/issues.js";
import { isRecord } from "../../../core/values/json-object.js";
import { parseJson } from "../../../core/values/parse-json.js";
import type { WireVersion } from "../wire/options.js";
import { ERROR, PARTIAL, PermissionRequest, REQUEST, SESSION, type Role } from "../wire/records.js";

export type Said =
  /** Tells which one counts if a turn has several. */
  | { is: "session"; id: string; wins: "first" | "last" }
  | { is: "partial"; text: string; role: Role }
  /** A line of the reply. */
  | { is: "body"; text: string }
  /** A piece of the reply. */
  | { is: "text"; text: string }
  /** The whole reply, unless it was streamed. */
  | { is: "result"; text: string }
  | { is: "error"; text: string }
  | { is: "usage"; usage: Record<string, unknown> }
  | { is: "request"; request: PermissionRequest }
  | { is: "bad request"; id: string; why: string }
  | { is: "warning"; text: string };

/** The next turn must be able to carry it: a variable that is too long keeps every agent from starting. */
const LONGEST_ID = 8192;

// --- 0.1 and 0.2 ---

/** The prefixes are matched on the line as it is: one space before them makes it body. */
export function saidByLine(line: string, sessionPrefix: string, asks: boolean): Said[] {
  if (sessionPrefix !== "" && line.startsWith(sessionPrefix)) return session(line.slice(sessionPrefix.length));
  if (line.startsWith(SESSION)) return session(line.slice(SESSION.length));
  if (line.startsWith(PARTIAL)) return words(PARTIAL, line, (text) => ({ is: "partial", text, role: "output" }));
  if (line.startsWith(ERROR)) return words(ERROR, line, (text) => ({ is: "error", text }));
  if (asks && line.startsWith(REQUEST)) return asked(line.slice(REQUEST.length));
  return [{ is: "body", text: line }];
}

function session(payload: string): Said[] {
  const id = payload.trim();
  if (id !== "" && id.length <= LONGEST_ID && !/[\s:\p{Cc}]/u.test(id)) return [{ is: "session", id, wins: "last" }];
  return [{ is: "warning", text: `The agent wrote a session line without a usable id: '${echo(payload)}'` }];
}

/** A JSON string is decoded; other text is kept unchanged. */
function words(prefix: string, line: string, said: (text: string) => Said): Said[] {
  const payload = line.slice(prefix.length).trim();
  if (payload === "") return [said("")];
  const value = parseJson(payload);
  if (value === undefined)
    return [said(payload), { is: "warning", text: `The agent wrote ${prefix} without a JSON string: ${echo(payload)}` }];
  return [said(typeof value.json === "string" ? value.json : payload)];
}

function asked(payload: string): Said[] {
  const value = parseJson(payload.trim());
  return value === undefined
    ? [{ is: "warning", text: `The agent asked in words that are no JSON: ${echo(payload)}` }]
    : request(value.json);
}

// --- 0.3 and 0.4 ---

/** The record types of 0.3 that 0.4 lacks. */
const TYPES_OF_03: ReadonlySet<unknown> = new Set(["text", "session"]);

/** Undefined if the line is no record of these wires. A record of 0.3 from an agent of 0.4 is ignored. */
export function saidByRecord(line: unknown, wire: WireVersion): Said[] | undefined {
  const record = typeof line === "string" ? parseJson(line.trim())?.json : line;
  if (!isRecord(record)) return undefined;
  if (wire === "0.4" && TYPES_OF_03.has(record["type"])) return [{ is: "warning", text: notOf04(String(record["type"])) }];
  const said = byType(record);
  return said === undefined ? undefined : [...idOf(record), ...said];
}

function notOf04(type: string): string {
  return `The agent wrote a '${type}' line, which belongs to wire 0.3 and not to 0.4; it was left out (does it speak wire 0.3?)`;
}

export function notARecord(line: unknown): Said {
  const text = typeof line === "string" ? line : JSON.stringify(line);
  return { is: "warning", text: `The agent wrote a line that is no message of wire 0.4: ${echo(text)} (does it speak wire 0.1?)` };
}

function byType(record: Record<string, unknown>): Said[] | undefined {
  switch (record["type"]) {
    case "partial":
      return [{ is: "partial", text: stringField(record, "text") ?? "", role: roleOf(record["role"]) }];
    case "result":
      return [...usageOf(record), { is: "result", text: stringField(record, "text") ?? "" }];
    case "error":
      return [...usageOf(record), { is: "error", text: stringField(record, "message") ?? "" }];
    case "permission_request":
      return request(record);
    case "text":
      return [{ is: "text", text: stringField(record, "text") ?? "" }];
    case "session":
      return [];
    default:
      return undefined;
  }
}

function idOf(record: Record<string, unknown>): Said[] {
  const isSession = record["type"] === "session";
  const id = record[isSession ? "id" : "session_id"];
  if (id === undefined || id === null) {
    return isSession ? [{ is: "warning", text: "The agent wrote a session line without an id" }] : [];
  }
  const usable = typeof id === "string" && id !== "" && id.length <= LONGEST_ID && id !== "." && id !== ".." && !/[/\\\p{Cc}]/u.test(id);
  if (usable) return [{ is: "session", id, wins: isSession ? "last" : "first" }];
  return [{ is: "warning", text: `The agent named a session by an id that cannot be used: ${echo(JSON.stringify(id))}` }];
}

function roleOf(role: unknown): Role {
  if (typeof role !== "string" || role === "output") return "output";
  return role === "thinking" ? "thinking" : "other";
}

function usageOf({ usage }: Record<string, unknown>): Said[] {
  return isRecord(usage) ? [{ is: "usage", usage }] : [];
}

// --- both ---

function request(said: unknown): Said[] {
  const result = v.safeParse(PermissionRequest, said);
  if (result.success) return [{ is: "request", request: result.output }];
  const why = issuesOf(PermissionRequest, said);
  const id = stringField(said, "request_id");
  if (id === undefined || id === "")
    return [{ is: "warning", text: `The agent asked for permission in a way that nobody can answer (${why})` }];
  return [{ is: "bad request", id, why }];
}
