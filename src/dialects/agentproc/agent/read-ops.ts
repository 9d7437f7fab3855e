/** Reads the turn from the environment or from one object on the input, and the host's answers within it. */
import * as v from "valibot";
import { textPart, type Part } from "../../../core/content.js";
import { isRecord } from "../../../core/values/json-object.js";
import { stringField } from "../../kit/issues.js";
import type { Answer } from "../../../core/op.js";
import { parseJson } from "../../../core/values/parse-json.js";
import { attachmentPart, attachmentsOfEnv, readAttachment, type Attachment } from "../wire/attachments.js";
import { PermissionAnswer, RESPONSE } from "../wire/records.js";

type Env = Readonly<Record<string, string | undefined>>;

export interface Asked {
  parts: Part[];
  /** "" begins a new session. */
  sessionId: string;
  name: string;
  from: string;
  version: string;
  streaming: boolean;
  permission: boolean;
}

export function askedByEnv(env: Env, message: string): Asked {
  return {
    parts: partsOf(message, attachmentsOfEnv(env)),
    sessionId: (env["AGENT_SESSION_ID"] ?? "").trim(),
    name: env["AGENT_SESSION_NAME"] || "default",
    from: env["AGENT_FROM_USER"] ?? "",
    version: env["AGENT_PROTOCOL_VERSION"] ?? "0.1",
    streaming: env["AGENT_STREAMING"] !== "0",
    permission: env["AGENT_PERMISSION"] === "1",
  };
}

/** Undefined if the line is no turn. Later revisions may add fields, and versions are compared for equality only. */
export function askedByRecord(line: unknown): Asked | undefined {
  const turn = typeof line === "string" ? parseJson(line.replace(/^\uFEFF/, ""))?.json : line;
  if (!isRecord(turn) || turn["type"] !== "turn") return undefined;
  const attachments = Array.isArray(turn["attachments"]) ? turn["attachments"].flatMap(readAttachment) : [];
  return {
    parts: partsOf(stringField(turn, "message") ?? "", attachments),
    sessionId: (stringField(turn, "session_id") ?? "").trim(),
    name: stringField(turn, "session_name") || "default",
    from: stringField(turn, "from_user") ?? "",
    version: stringField(turn, "protocol_version") ?? "0.4",
    streaming: true,
    permission: turn["permission"] === true,
  };
}

function partsOf(message: string, attachments: readonly Attachment[]): Part[] {
  return [...(message.trim() === "" ? [] : [textPart(message)]), ...attachments.map(attachmentPart)];
}

// --- answers ---

/** Undefined if the line is no answer. An answer that names its request and cannot be understood denies. */
export function readAnswer(line: unknown): Answer | undefined {
  const said = typeof line === "string" ? parseJson(line.startsWith(RESPONSE) ? line.slice(RESPONSE.length) : line)?.json : line;
  const call = stringField(said, "request_id");
  if (!isRecord(said) || call === undefined) return undefined;
  if (!v.is(PermissionAnswer, said)) return { call, decision: "deny", reason: "the answer could not be understood" };
  const { behavior, updated_input, message } = said;
  if (behavior === "allow") return { call, decision: "allow", ...(updated_input !== undefined && { args: updated_input }) };
  return { call, decision: "deny", ...(message !== undefined && { reason: message }) };
}
