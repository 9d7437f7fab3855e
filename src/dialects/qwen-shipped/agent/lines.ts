/** Lines that an agent writes, in their envelopes. */
import type { Usage } from "../../../core/event.js";
import type { Out, SideEnv } from "../../dialect.js";
import { uuidOf } from "../wire/ids.js";
import type { Block, WireUsage } from "../wire/parts.js";
import type { StreamEvent, SystemFields, SystemName } from "../wire/lines.js";

/** Whose line it is. `under` is the call of a sub-agent. */
export interface Envelope {
  env: SideEnv;
  session_id: string;
  under: string | null;
}

export function line(rec: unknown): Out {
  return { rec };
}

export function assistantLine(
  message: { id: string; model: string; content: Block[]; usage: WireUsage },
  { session_id, under }: Envelope,
): Out {
  const { id, model, content, usage } = message;
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

export function streamLine(event: StreamEvent, envelope: Envelope): Out {
  return line({ type: "stream_event", ...head(envelope), event });
}

export function systemLine<N extends SystemName>(subtype: N, data: SystemFields<N>, envelope: Envelope): Out {
  return line({ type: "system", subtype, ...head(envelope), data });
}

function head({ env, session_id, under }: Envelope): { uuid: string; session_id: string; parent_tool_use_id: string | null } {
  return { uuid: uuidOf(env.stamp().id), session_id, parent_tool_use_id: under };
}

export function granted(request_id: string, response: Record<string, unknown>): Out {
  return line({ type: "control_response", response: { subtype: "success", request_id, response } });
}

export function refusal(request_id: string, error: string): Out {
  return line({ type: "control_response", response: { subtype: "error", request_id, error } });
}

export const NO_USAGE: WireUsage = { input_tokens: 0, output_tokens: 0 };

/** Input includes what came from the cache, as in the API that the original was written for. */
export function wireUsage({ input, output, cacheRead = 0, cacheWrite = 0, reasoning = 0 }: Usage): WireUsage {
  const input_tokens = input + cacheRead + cacheWrite;
  const output_tokens = output + reasoning;
  return { input_tokens, output_tokens, cache_read_input_tokens: cacheRead, total_tokens: input_tokens + output_tokens };
}
