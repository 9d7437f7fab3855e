/** The wire that Qwen Code shipped, and that `@qwen-code/sdk` speaks: Claude-style stream-json with a control channel. */
import type { Dialect } from "../dialect.js";
import { agentSide } from "./agent/side.js";
import { coverage } from "./coverage.js";
import { hostSide } from "./host/side.js";
import { ASK_USER } from "./wire/host-tools.js";
import { AgentLine } from "./wire/event-records.js";
import { HostLine } from "./wire/op-records.js";

export const qwenShipped: Dialect = {
  id: "qwen-shipped",
  version: "0.24",
  framing: "json",
  wire: { op: HostLine, event: AgentLine },
  // A process has one session: its id, model and modes are flags of the command line.
  lifetime: "session",
  question: /"control_request"/,
  // Qwen Code runs other calls with the model's arguments, even if the permission changed them.
  heedsArgsOf: [ASK_USER.name],
  answerSeconds: 60,
  // The SDK waits that long for a control response.
  replies: { to: ["session.configure", "turn.interrupt", "turn.prompt continues"], within: 60 },
  // The wire's interrupt names no prompt: a waiting prompt can only be cancelled before it is on the wire.
  oneTurn: true,
  agentSide,
  hostSide,
  coverage,
};
