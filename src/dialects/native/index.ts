/** The native dialect: the vocabulary itself as lines, without loss or addition. */
import type { Dialect } from "../dialect.js";
import { agentSide } from "./agent/side.js";
import { coverage } from "./coverage.js";
import { hostSide } from "./host/side.js";
import { VERSION, wire } from "./wire.js";

export const native: Dialect = {
  id: "native",
  version: VERSION,
  framing: "json",
  wire,
  lifetime: "connection",
  question: /"(approval\.requested|host\.request)"/,
  agentSide,
  hostSide,
  coverage,
};
