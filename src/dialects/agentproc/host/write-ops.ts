/** Hands a turn to an agent: by its environment, or as one object on its input. */
import { plainText } from "../../../core/content.js";
import type { OpOf } from "../../../core/op.js";
import type { Launch } from "../../../core/wire.js";
import { isRecord } from "../../../core/values/json-object.js";
import { attachmentsOf, envOfAttachments, recordOfAttachment, type Attachment } from "../wire/attachments.js";
import { speaksLines, speaksRecords, type Options } from "../wire/options.js";
import type { Turn } from "../wire/records.js";

/** The largest variable on Linux, including its name and two more bytes. */
const LONGEST_VARIABLE = 128 * 1024;

/** The conversation before a prompt. */
export interface Conversation {
  sessionId: string;
  name: string;
  cwd: string | undefined;
}

export interface TurnLaunch {
  launch: Launch;
  /** The first line of an input that stays open. */
  first?: Turn;
  warning?: string;
}

/** `isListening`: its input stays open for answers. A string is the reason for which the message cannot be sent. */
export function writeLaunch(
  op: OpOf<"turn.prompt">,
  conversation: Conversation,
  options: Options,
  isListening: boolean,
): TurnLaunch | string {
  const attachments = attachmentsOf(op.parts, conversation.cwd);
  const message = plainText(op.parts.filter(({ type }) => type !== "file" && type !== "image"));
  const env = speaksRecords(options.wire) ? {} : environment(message, fromUser(op), attachments, conversation, options);
  const turn = speaksLines(options.wire) ? undefined : turnOf(message, fromUser(op), attachments, conversation, options);
  const unfit = Object.entries(env).find(([, value]) => value.includes("\0"));
  const isElsewhere = turn !== undefined || (options.stdin === "message" && !options.permission);
  if (unfit !== undefined && (unfit[0] !== "AGENT_MESSAGE" || !isElsewhere))
    return `${unfit[0]} would contain a NUL character, which no environment variable can hold`;
  const leaves = isElsewhere && (unfit !== undefined || isTooLong(message));
  const { AGENT_MESSAGE: _left, ...rest } = env;
  const launch = { argv: [], env: leaves ? rest : env, ...(conversation.cwd !== undefined && { cwd: conversation.cwd }) };
  return {
    ...(isListening
      ? { launch, ...(turn !== undefined && { first: turn }) }
      : { launch: { ...launch, input: turn === undefined ? (options.stdin === "message" ? message : "") : `${JSON.stringify(turn)}\n` } }),
    ...(leaves &&
      "AGENT_MESSAGE" in env && {
        warning: "The message fits into no environment variable; the agent gets it on its standard input alone",
      }),
  };
}

function environment(
  message: string,
  from: string,
  attachments: readonly Attachment[],
  { sessionId, name }: Conversation,
  { wire, streaming, ...options }: Options,
): Record<string, string> {
  const permission = options.permission && !options.unsure;
  return {
    AGENT_MESSAGE: message,
    AGENT_SESSION_ID: sessionId,
    AGENT_SESSION_NAME: name,
    AGENT_FROM_USER: from,
    AGENT_STREAMING: streaming ? "1" : "0",
    AGENT_PROTOCOL_VERSION: wire === "0.2" || permission ? "0.2" : "0.1",
    ...(permission && { AGENT_PERMISSION: "1" }),
    ...envOfAttachments(attachments),
  };
}

function turnOf(
  message: string,
  from: string,
  attachments: readonly Attachment[],
  { sessionId, name }: Conversation,
  { wire, permission }: Options,
): Turn {
  return {
    type: "turn",
    message,
    session_id: sessionId,
    session_name: name,
    ...(wire === "0.3" && from !== "" && { from_user: from }),
    protocol_version: wire === "0.3" ? "0.3" : "0.4",
    ...(attachments.length > 0 && { attachments: attachments.map(recordOfAttachment) }),
    ...(permission && { permission }),
  };
}

/** The sender of a message; only these wires have a field for it. */
function fromUser({ ext }: OpOf<"turn.prompt">): string {
  const own = ext?.["agentproc"];
  const from = isRecord(own) ? own["from_user"] : undefined;
  return typeof from === "string" ? from : "";
}

function isTooLong(message: string): boolean {
  return Buffer.byteLength(message) + "AGENT_MESSAGE=".length + 1 > LONGEST_VARIABLE;
}
