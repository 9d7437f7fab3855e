/** The Agent Client Protocol, version 1. */
import type { Dialect } from "../dialect.js";
import { agentSide } from "./agent/side.js";
import { coverage } from "./coverage.js";
import { hostSide } from "./host/side.js";
import { AGENT_WORDS } from "./launch.js";
import { AgentRecord, HostRecord, VERSION } from "./wire/records.js";

export const acp: Dialect = {
  id: "acp",
  version: VERSION,
  framing: "json",
  wire: { op: HostRecord, event: AgentRecord },
  lifetime: "connection",
  start: [],
  wordsOf: AGENT_WORDS,
  question: /"(session\/request_permission|elicitation\/create|(fs|terminal)\/[a-z_]+)"/,
  // Agents differ in their treatment of a second prompt during a turn.
  oneTurn: true,
  // Editors name their MCP servers when they open a session, and prompt at once.
  awaitsServers: true,
  unasked: ["Read", "Glob", "Grep", "TodoWrite"],
  agentSide,
  hostSide,
  coverage,
};
