/** Codex's app-server protocol, and the lines of `codex exec --json`, as version 0.166 speaks them. */
import * as v from "valibot";
import type { Dialect } from "../dialect.js";
import { agentSide } from "./agent/side.js";
import { coverage } from "./coverage.js";
import { hostSide } from "./host/side.js";
import { VERSION } from "./agent/views.js";
import { ExecRecord } from "./wire/exec.js";
import { ServerRecord } from "./wire/notifications.js";
import { ClientRecord } from "./wire/requests.js";

export const codex: Dialect = {
  id: "codex",
  version: VERSION,
  framing: "json",
  wire: { op: ClientRecord, event: v.union([ServerRecord, ExecRecord]) },
  lifetime: "connection",
  question:
    /"(item\/(commandExecution|fileChange|permissions)\/requestApproval|item\/tool\/(call|requestUserInput)|mcpServer\/elicitation\/request)"/,
  launches: true,
  start: ["app-server"],
  // Codex folds a prompt during a turn into the running turn, where an interrupt would lose it.
  oneTurn: true,
  replies: { to: ["session.configure", "session.list", "session.seed"], within: 60 },
  unasked: ["Read", "Glob", "Grep", "TodoWrite", "Spawn"],
  agentSide,
  hostSide,
  coverage,
};
