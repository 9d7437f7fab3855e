/**
 * Limits the model calls of a turn. The agent's own flag (`--max-session-turns`) counts for the whole life of its process, so the
 * calls are counted here, and a turn is interrupted after its last permitted one.
 */
import type { Event } from "../../../core/event.js";
import type { Step } from "../../dialect.js";
import { NOTHING } from "../../kit/step.js";
import type { HostState } from "./state.js";

/** Call it after the result of a tool: when all results are there, the agent asks its model again. */
export function stopAtLimit(state: HostState): Step<Event> {
  const { running, config } = state;
  const { maxTurns } = config;
  if (running === undefined || maxTurns === undefined || running.isLimited) return NOTHING;
  const { counted, begun } = running.modelCalls;
  const isOpen = running.told.calls.some(({ now, under }) => now !== "ended" && under === undefined);
  if (isOpen || Math.max(counted, begun) < maxTurns) return NOTHING;
  running.isLimited = true;
  const text = `Stopped after ${maxTurns} model calls, the limit of one turn`;
  return {
    in: [{ type: "notice", ...running.told.address, level: "warning", text, kind: "max_turns", source: "qwen-shipped" }],
    out: [state.requests.send({ subtype: "interrupt" }, { for: "interrupt", op: undefined })],
  };
}
