/** Reads a line of the host: its kind, or its problem and the answer to it. */
import * as v from "valibot";
import { isRecord } from "../../../../core/values/json-object.js";
import { echo, issuesOf, shapeOf, stringField } from "../../issues.js";
import { CancelRequest, content, HostResponse, Prompt } from "../wire.js";

export type HostLine<Request> =
  | { prompt: Prompt }
  | { request_id: string; request: Request }
  | { response: HostResponse }
  | { cancels: string }
  /** The line cannot be read: the host is told, and nothing changes. */
  | { problem: string }
  | ({ request_id: string } & Refused)
  /** `fails`: the question that the line was meant to answer. */
  | { ignored: string; fails?: string }
  /** A keep-alive. */
  | { quiet: true };

/** The message that refuses a request, and the kind of refusal, on wires that name it. */
export interface Refused {
  refused: string;
  code?: string;
}

/** `readRequest` reads the `request` of a control request, or refuses it. Lines of a `quiet` type change nothing. */
export function readHostLine<Request extends object>(
  rec: unknown,
  readRequest: (request: unknown) => Request | Refused,
  quiet: ReadonlySet<string> = NONE,
): HostLine<Request> {
  if (!isRecord(rec)) return { problem: `A message must be a JSON object, not ${shapeOf(rec)}` };
  const type = stringField(rec, "type");
  switch (type) {
    case "user":
      return v.is(Prompt, rec) ? { prompt: rec } : { problem: `Invalid user message: ${badBlock(rec) ?? issuesOf(Prompt, rec)}` };
    case "control_request":
      return readControl(rec, readRequest);
    case "control_response":
      return v.is(HostResponse, rec) ? { response: rec } : unreadable(rec["response"], issuesOf(HostResponse, rec));
    case "control_cancel_request":
      return { cancels: (v.is(CancelRequest, rec) ? rec.request_id : undefined) ?? "" };
    case undefined:
      return { problem: 'Missing required field "type" (user, control_request, control_response or control_cancel_request)' };
    default:
      if (quiet.has(type)) return { quiet: true };
      return { ignored: `Unknown message type: ${echo(type)}` };
  }
}

const NONE: ReadonlySet<string> = new Set();

/** An unreadable answer is no yes: its question fails. */
function unreadable(response: unknown, problem: string): { ignored: string; fails?: string } {
  const request_id = stringField(response, "request_id");
  return { ignored: `Invalid control_response: ${problem}`, ...(request_id !== undefined && { fails: request_id }) };
}

/** Names the first invalid block of a content list: the schema's own message only says that no alternative fits. */
function badBlock({ message }: Record<string, unknown>): string | undefined {
  const blocks: unknown = isRecord(message) ? message["content"] : undefined;
  if (!Array.isArray(blocks)) return undefined;
  const at = blocks.findIndex((block) => !v.is(content.Given, block));
  return at === -1 ? undefined : `message.content[${at}].${issuesOf(content.Given, blocks[at])}`;
}

interface RequestWords {
  unknown: (subtype: string) => Refused;
  /** Replaces the schema's message, by subtype. */
  invalid?: Readonly<Record<string, string>>;
}

/** Reads the `request` of a control request by the wire's own schemas. */
export function readBy<Request extends { subtype: string }>(
  schemas: Readonly<Record<string, v.GenericSchema<Request>>>,
  request: unknown,
  { unknown, invalid = {} }: RequestWords,
): Request | Refused {
  const subtype = stringField(request, "subtype");
  if (subtype === undefined) return { refused: "A control request needs a request with a subtype" };
  const schema = Object.hasOwn(schemas, subtype) ? schemas[subtype] : undefined;
  if (schema === undefined) return unknown(echo(subtype));
  return v.is(schema, request) ? request : { refused: invalid[subtype] ?? `Invalid ${subtype}: ${issuesOf(schema, request)}` };
}

function readControl<Request extends object>(
  rec: Record<string, unknown>,
  readRequest: (request: unknown) => Request | Refused,
): HostLine<Request> {
  const request_id = stringField(rec, "request_id");
  if (request_id === undefined) return { ignored: "A control_request needs a string field request_id" };
  const request = readRequest(rec["request"]);
  return "refused" in request ? { request_id, ...request } : { request_id, request };
}
