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
  // A process has one session: its id, its model and its mode stand on the command line.
  lifetime: "session",
  question: /"control_request"/,
  replies: { to: ["session.configure", "turn.interrupt"], within: 60 },
  // Claude Code folds a prompt during a turn into that turn, so prompts wait on our side; a steer is such a prompt.
  oneTurn: true,
  // Claude Code reads files without a question.
  unasked: ["Read", "Glob", "Grep", "TodoWrite", "Skill"],
  agentSide,
  hostSide,
  coverage,
};
