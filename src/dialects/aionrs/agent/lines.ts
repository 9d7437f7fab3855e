/** Lines of the agent that more than one place writes. */
import type { Fault } from "../../../core/errors.js";
import type { Out } from "../../dialect.js";
import type { LaterEvent } from "../wire/records.js";

export function line(rec: LaterEvent): Out {
  return { rec };
}

export function info(message: string, msg_id = ""): Out {
  return line({ type: "info", msg_id, message });
}

export function errorLine(msg_id: string | null, { code, message, retryable = false }: Fault): Out {
  return line({ type: "error", msg_id, error: { code: TO_WIRE.get(code) ?? "internal_error", message, retryable } });
}

const TO_WIRE: ReadonlyMap<string, string> = new Map([
  ["provider", "provider_error"],
  ["context_overflow", "provider_error"],
  ["tool", "tool_error"],
  ["config", "config_error"],
  ["usage", "config_error"],
  // Hooks are the user's configuration, and a hook that blocks or fails is no error of ours.
  ["hook", "config_error"],
  ["session", "protocol_error"],
  ["protocol", "protocol_error"],
  ["limit", "protocol_error"],
  ["unsupported", "protocol_error"],
]);
