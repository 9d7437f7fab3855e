/** Agent → host: builds lines in both formats. Errors of the control channel are sent with the next line. */
import type { Usage } from "../../../core/event.js";
import type { Out } from "../../dialect.js";
import type { AgentState, ClientSession, Turn } from "./state.js";
import { writeUsage } from "../wire/usage.js";
import type { Annotation, Chunk, Completion, Metadata, ToolCall, ToolCallPiece, WireError } from "../wire/event-records.js";

/** The session and prompt of a line. */
export interface Said {
  at: number;
  session: ClientSession;
  turn?: Turn | undefined;
  /** The Spawn call of the sub-agent that the line is from. */
  under?: string | undefined;
  promptId?: string | undefined;
}

interface Message {
  content?: string;
  tool_calls?: ToolCall[];
  annotations?: Annotation[];
}

interface Delta extends Omit<Message, "tool_calls"> {
  role?: "assistant";
  tool_calls?: ToolCallPiece[];
}

interface More {
  finish?: "stop" | "tool_calls" | "error";
  usage?: Usage | undefined;
  metadata?: Partial<Metadata>;
  fingerprint?: string;
}

export function line(rec: unknown): Out {
  return { rec };
}

/** A `chat.completion`. */
export function completion(said: Said, message: Message, { finish = "stop", usage, metadata, fingerprint }: More = {}): Out {
  const record: Completion = {
    object: "chat.completion",
    ...head(said),
    choices: [{ index: 0, message: { role: "assistant", ...message }, finish_reason: finish }],
    ...(usage !== undefined && { usage: writeUsage(usage) }),
    metadata: metadataOf(said, metadata),
    ...(fingerprint !== undefined && { system_fingerprint: fingerprint }),
  };
  return line(record);
}

/** A `chat.completion.chunk`. */
export function chunk(said: Said, delta: Delta, { finish, usage, metadata, fingerprint }: More = {}): Out {
  const record: Chunk = {
    object: "chat.completion.chunk",
    ...head(said),
    choices: [{ index: 0, delta, finish_reason: finish ?? null }],
    ...(usage !== undefined && { usage: writeUsage(usage) }),
    metadata: metadataOf(said, metadata),
    ...(fingerprint !== undefined && { system_fingerprint: fingerprint }),
  };
  return line(record);
}

/** A line in the host's format: a text, or annotations without one. */
export function spoken(state: AgentState, said: Said, message: { content?: string; annotations?: Annotation[] }, more: More = {}): Out {
  if (!state.chunks) return completion(said, { content: "", ...message }, more);
  return chunk(said, message, more);
}

/** An error that the process survives. An error about a line is a chunk without choices. */
export function recoverable(state: AgentState, said: Said, error: WireError): Out {
  if (!state.chunks) return completion(said, { content: "" }, { metadata: { error } });
  const record: Chunk = {
    object: "chat.completion.chunk",
    ...head(said),
    choices: [],
    metadata: metadataOf(said, { error }),
  };
  return line(record);
}

function head({ at, session, turn }: Said): Pick<Completion, "id" | "created" | "model"> {
  return { id: `chatcmpl-${session.id}`, created: seconds(at), model: turn?.model ?? session.config.model ?? "" };
}

function metadataOf({ session, turn, under, promptId }: Said, more: Partial<Metadata> = {}): Metadata {
  const prompt_id = turn?.promptId ?? promptId;
  const control_errors = session.controlErrors.splice(0);
  return {
    session_id: session.id,
    ...(prompt_id !== undefined && { prompt_id }),
    ...(under !== undefined && { parent_tool_call_id: under }),
    ...more,
    ...(control_errors.length > 0 && { control_errors }),
  };
}

export function seconds(at: number): number {
  return Math.floor(at / 1000);
}
