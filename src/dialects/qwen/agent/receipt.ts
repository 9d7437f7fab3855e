/** The handshake: our protocol and capabilities, and the check of the host's demands. */
import type { Out, SideEnv } from "../../dialect.js";
import { chunk, completion, line, type Said } from "./lines.js";
import type { Head } from "./read-ops.js";
import type { AgentState, ClientSession } from "./state.js";
import { PROTOCOL_VERSION, type WireError } from "../wire/event-records.js";

const CAPABILITIES: readonly string[] = [
  "chat.completion",
  "chat.completion.chunk",
  "command",
  "command_hint",
  "heartbeat",
  "cancel",
  "continuation",
  "tool_request",
  "host_tools",
  "control.can_use_tool",
  "control.hook_callback",
  "control.mcp_message",
  "annotations.terminal",
  "annotations.tool_display",
  "annotations.thought",
  "session_event",
];

/** The first line of a session's first turn; in chunks it also declares the role. */
export function receipt(said: Said, version: string | undefined, { formats, chunks }: AgentState): Out {
  const metadata = {
    protocol_version: PROTOCOL_VERSION,
    input_format: formats.input,
    output_format: formats.output,
    capabilities: [...CAPABILITIES],
  };
  const more = { metadata, fingerprint: `parley-${version ?? "0"}` };
  return chunks ? chunk(said, { role: "assistant" }, more) : completion(said, { content: "" }, more);
}

/** The demands of a line that this agent does not meet. */
export function handshakeProblem({ protocol_version, metadata }: Head): Pick<WireError, "message" | "param"> | undefined {
  const asked = metadata?.protocol_version ?? protocol_version ?? PROTOCOL_VERSION;
  if (asked !== PROTOCOL_VERSION)
    return { message: `This agent speaks protocol version ${PROTOCOL_VERSION}, not ${asked}`, param: "protocol_version" };
  const missing = metadata?.required_capabilities?.find((name) => !CAPABILITIES.includes(name));
  if (missing === undefined) return undefined;
  return { message: `This agent has no capability '${missing}'`, param: "metadata.required_capabilities" };
}

/** The line that reports them. */
export function unsupported(
  problem: Pick<WireError, "message" | "param">,
  state: AgentState,
  env: SideEnv,
): (session: ClientSession | undefined) => Out {
  const error = { ...problem, type: "invalid_request_error", code: "unsupported_protocol" };
  return (session) => {
    if (session === undefined) return line({ error });
    const said = { at: env.stamp().at, session };
    const more = { finish: "error" as const, metadata: { error } };
    return state.chunks ? chunk(said, {}, more) : completion(said, { content: "" }, more);
  };
}
