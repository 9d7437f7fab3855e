/** Claude Code's stream-json, with the control channel that the Claude Agent SDK speaks. */
import type { Dialect } from "../dialect.js";
import { agentSide } from "./agent/side.js";
import { coverage } from "./coverage.js";
import { hostSide } from "./host/side.js";
import { AgentLine } from "./wire/event-records.js";
import { VERSION } from "./wire/names.js";
import { HostLine } from "./wire/op-records.js";

export const claude: Dialect = {
  id: "claude",
  version: VERSION,
  framing: "json",
  wire: { op: HostLine, event: AgentLine },
  // A process has one session: its id, model and mode are flags of the command line.
  lifetime: "session",
  question: /"control_request"/,
  replies: { to: ["session.configure", "session.rewind", "turn.interrupt"], within: 60 },
  // Claude Code folds a prompt during a turn into that turn, which is our steer; real prompts wait on our side.
  oneTurn: true,
  // Claude Code reads files without an approval.
  unasked: ["Read", "Glob", "Grep", "TodoWrite", "Skill"],
  agentSide,
  hostSide,
  coverage,
};
