/** Progress of a call, for hosts that want deltas. The output comes whole with the call's result. */
import type { EventOf } from "../../../core/event.js";
import type { Out } from "../../dialect.js";
import { streamLine } from "../../kit/stream-json/write-lines.js";
import { envelopeOf, timeOf } from "../../kit/stream-json/agent/session.js";
import { type AgentState } from "./state.js";

export interface Progress {
  since: number;
  steps: number;
  lines: number;
  bytes: number;
}

/** Sub-agents have lines of their own. */
export function onProgress(event: EventOf<"tool.progress">, state: AgentState): Out[] {
  const call = state.turn?.calls.get(event.call);
  if (!state.switches.partial || call === undefined || call.name === "Spawn") return [];
  const at = timeOf(event, state);
  const { text = "" } = event;
  call.progress ??= { since: at, steps: 0, lines: 0, bytes: 0 };
  const { progress } = call;
  progress.steps++;
  progress.lines += text.split("\n").length - 1;
  progress.bytes += new TextEncoder().encode(text).length;
  const content = call.name.startsWith("mcp__")
    ? ({ type: "mcp_tool_progress", progress: progress.steps, message: text.trimEnd() } as const)
    : ({
        type: "shell_progress",
        elapsedMs: Math.max(0, at - progress.since),
        totalLines: progress.lines,
        totalBytes: progress.bytes,
      } as const);
  return [streamLine({ type: "tool_progress", tool_use_id: event.call, content }, envelopeOf(state, event.under))];
}
