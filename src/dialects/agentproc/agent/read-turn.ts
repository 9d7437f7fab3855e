/** What a turn that was brought to us asks for: read off our environment, or off one object on our input. */
import type { Part } from "../../../core/content.js";
import { textPart } from "../../../core/content.js";
import { isRecord } from "../../../core/json-object.js";
import { stringField } from "../../kit/issues.js";
import { parseJson } from "../../../core/parse-json.js";
import { attachmentPart, attachmentsOfEnv, readAttachment, type Attachment } from "../wire/attachments.js";

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

/** Undefined where the line is no turn. Later revisions may say more, and versions are compared for equality only. */
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
