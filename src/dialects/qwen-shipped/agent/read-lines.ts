/** A line of the host: what it is, or what is wrong with it and who must hear of that. */
import * as v from "valibot";
import { echo, issuesOf, shapeOf, stringField } from "../../kit/issues.js";
import { isRecord } from "../../../core/json-object.js";
import { readRequest, type KnownRequest } from "./read-requests.js";
import { content } from "../wire/parts.js";
import { CancelRequest, HostResponse, Prompt } from "../wire/lines.js";

export type HostSaid =
  | { prompt: Prompt }
  | { request_id: string; request: KnownRequest }
  | { response: HostResponse }
  | { cancels: string }
  /** The line cannot be read: it is told of, and changes nothing. */
  | { problem: string }
  | { request_id: string; refused: string }
  /** `fails`: the question that it was meant to answer. */
  | { ignored: string; fails?: string };

export function readLine(rec: unknown): HostSaid {
  if (!isRecord(rec)) return { problem: `A message must be a JSON object, not ${shapeOf(rec)}` };
  const type = stringField(rec, "type");
  switch (type) {
    case "user":
      return v.is(Prompt, rec) ? { prompt: rec } : { problem: `Invalid user message: ${badBlock(rec) ?? issuesOf(Prompt, rec)}` };
    case "control_request":
      return readControl(rec);
    case "control_response":
      return v.is(HostResponse, rec) ? { response: rec } : unreadable(rec["response"], issuesOf(HostResponse, rec));
    case "control_cancel_request":
      return { cancels: (v.is(CancelRequest, rec) ? rec.request_id : undefined) ?? "" };
    case undefined:
      return { problem: 'Missing required field "type" (user, control_request, control_response or control_cancel_request)' };
    default:
      return { ignored: `Unknown message type: ${echo(type)}` };
  }
}

/** An answer that nobody can read is no yes: whatever it answers has failed. */
function unreadable(response: unknown, problem: string): HostSaid {
  const request_id = stringField(response, "request_id");
  return { ignored: `Invalid control_response: ${problem}`, ...(request_id !== undefined && { fails: request_id }) };
}

/** The first block that is none, where the content is a list: a schema of alternatives only says that none of them fits. */
function badBlock({ message }: Record<string, unknown>): string | undefined {
  const blocks: unknown = isRecord(message) ? message["content"] : undefined;
  if (!Array.isArray(blocks)) return undefined;
  const at = blocks.findIndex((block) => !v.is(content.Given, block));
  return at === -1 ? undefined : `message.content[${at}].${issuesOf(content.Given, blocks[at])}`;
}

function readControl(rec: Record<string, unknown>): HostSaid {
  const request_id = stringField(rec, "request_id");
  if (request_id === undefined) return { ignored: "A control_request needs a string field request_id" };
  const request = readRequest(rec["request"]);
  return typeof request === "string" ? { request_id, refused: request } : { request_id, request };
}
