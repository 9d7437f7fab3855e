/** Qwen Code's structured input and output, as its RFC of October 2025 describes it. */
import type { Dialect } from "../dialect.js";
import { agentSide } from "./agent/side.js";
import { coverage } from "./coverage.js";
import { hostSide } from "./host/side.js";
import { writeFormats } from "./launch.js";
import { EventLine, VERSION } from "./wire/event-records.js";
import { OpLine } from "./wire/op-records.js";

export const qwen: Dialect = {
  id: "qwen",
  version: VERSION,
  framing: "json",
  wire: { op: OpLine, event: EventLine },
  lifetime: "connection",
  question: /"control_request"/,
  launches: true,
  start: writeFormats({ input: "stream-json", output: "stream-chunk-json" }),
  heartbeat: { every: 10, within: 60 },
  answerSeconds: 60,
  replies: { to: ["turn.interrupt", "command.suggest", "ping"], within: 60 },
  agentSide,
  hostSide,
  coverage,
};
