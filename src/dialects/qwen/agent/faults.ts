/** Faults in OpenAI's words, and the exit codes of Qwen's command. */
import type { Fault } from "../../../core/errors.js";
import type { WireError } from "../wire/event-records.js";

const CODES: Readonly<Record<string, string>> = { config: "config_error", version: "unsupported_protocol" };

/** The fault of a request for calls names the call by its place in the line. */
export function ofRequest(fault: Fault | undefined, firstCall: string): Fault | undefined {
  if (fault === undefined || !isOfToolRequest(fault)) return fault;
  return { ...fault, param: fault.param?.replace(/^calls\[0\]/, firstCall).replace(/^calls/, "tool_request") };
}

export function wireError(fault: Fault): WireError {
  if (isOfToolRequest(fault)) return invalid(fault.message, fault.param, "QWEN_INVALID_TOOL_ARGS");
  const { code, message, param } = fault;
  return { message, type: typeOf(fault), param: param ?? null, code: CODES[code] ?? code };
}

function typeOf(fault: Fault): string {
  const { code, status } = fault;
  if (isAuthentication(fault)) return "authentication_error";
  if (status === 429) return "rate_limit_error";
  if (status !== undefined && status >= 500) return "server_error";
  if (code === "provider") return fault.retryable === true ? "server_error" : "api_error";
  return code === "internal" ? "server_error" : "invalid_request_error";
}

export function exitOf(fault: Fault): number {
  if (isAuthentication(fault)) return 41;
  if (fault.param === "sandbox") return 44;
  switch (fault.code) {
    case "usage":
    case "protocol":
    case "session":
      return 42;
    case "config":
    case "version":
    case "unsupported":
      return 52;
    case "limit":
      return 55;
    case "interrupted":
      return 130;
    default:
      return 1;
  }
}

/** Refused, or without a key. */
function isAuthentication({ code, status, param }: Fault): boolean {
  return status === 401 || status === 403 || (code === "config" && param === "apiKey");
}

/** A call of the host's request whose arguments the tool does not take. */
function isOfToolRequest({ code, param }: Fault): boolean {
  return code === "invalid" && /^(calls|tool_request)\b/.test(param ?? "");
}

export function invalid(message: string, param?: string, code = "invalid_request"): WireError {
  return { message, type: "invalid_request_error", param: param ?? null, code };
}
