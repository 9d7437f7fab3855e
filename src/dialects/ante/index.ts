/** Ante's op/event protocol, as its reference of May 2026 describes it. */
import type { Dialect } from "../dialect.js";
import { agentSide } from "./agent/side.js";
import { coverage } from "./coverage.js";
import { hostSide } from "./host/side.js";
import { EventMsg, OpMsg, VERSION } from "./wire/records.js";

export const ante: Dialect = {
  id: "ante",
  version: VERSION,
  framing: "json",
  wire: { op: OpMsg, event: EventMsg },
  lifetime: "session",
  question: /"TurnPause"/,
  // Ante does not document the treatment of input during a turn.
  oneTurn: true,
  unasked: ["Read", "Glob", "Grep", "TodoWrite", "Spawn"],
  agentSide,
  hostSide,
  coverage,
};
