/** Writes lines of an agent in their envelopes, and control lines of both sides. */
import type { Out, SideEnv } from "../../dialect.js";
import { uuidOf } from "./uuid.js";
import type { Block } from "./wire.js";

/** The head of a line. `under` is the call of a sub-agent, or null. */
export interface Envelope {
  env: SideEnv;
  session_id: string;
  under: string | null;
}

/** A message of the model whose usage is written in the wire's own terms. */
export interface WireMessage {
  id: string;
  model: string;
  content: Block[];
  usage: object;
}

export function line(rec: unknown): Out {
  return { rec };
}

export function assistantLine({ id, model, content, usage }: WireMessage, { session_id, under }: Envelope): Out {
  const stop_reason = content[0]?.type === "tool_use" ? "tool_use" : null;
  return line({
    type: "assistant",
    uuid: id,
    session_id,
    parent_tool_use_id: under,
    message: { id, type: "message", role: "assistant", model, content, stop_reason, usage },
  });
}

export function userLine(content: readonly unknown[], envelope: Envelope): Out {
  return line({ type: "user", ...head(envelope), message: { role: "user", content } });
}

export function streamLine(event: object, envelope: Envelope): Out {
  return line({ type: "stream_event", ...head(envelope), event });
}

export function systemLine(subtype: string, data: object, envelope: Envelope): Out {
  return line({ type: "system", subtype, ...head(envelope), data });
}

function head({ env, session_id, under }: Envelope): { uuid: string; session_id: string; parent_tool_use_id: string | null } {
  return { uuid: uuidOf(env.stamp().id), session_id, parent_tool_use_id: under };
}

// --- control ---

export function controlRequestLine(request_id: string, request: object): Out {
  return line({ type: "control_request", request_id, request });
}

/** Cancels a question that needs no answer any more. */
export function takenBack(request_id: string): Out {
  return line({ type: "control_cancel_request", request_id });
}

export function granted(request_id: string, response: object): Out {
  return line({ type: "control_response", response: { subtype: "success", request_id, response } });
}

/** `error_code` is the kind of refusal, on wires that have it. */
export function refusal(request_id: string, error: string, error_code?: string): Out {
  return line({
    type: "control_response",
    response: { subtype: "error", request_id, error, ...(error_code !== undefined && { error_code }) },
  });
}
