/** The AgentProc dialect: a process a turn, four wires. */
import type { Dialect } from "../dialect.js";
import { agentSide } from "./agent/side.js";
import { coverageOf } from "./coverage.js";
import { hostSide } from "./host/side.js";
import { QUIET_SECONDS, speaksLines, withDefaults, type AgentprocOptions } from "./wire/options.js";
import { lineWire, mixedRecordWire, recordWire } from "./wire/records.js";

export { attachmentPart, readAttachment, type Attachment } from "./wire/attachments.js";
export { WIRES, type AgentprocOptions, type WireVersion } from "./wire/options.js";

/** The seed's wire, and the last one, with permissions. */
export const agentprocFirst: Dialect = agentproc({ wire: "0.1" });
export const agentprocLater: Dialect = agentproc({ wire: "0.4", permission: true });

/** What a profile says about its agent is data here: the dialect knows no command and no placeholders. */
export function agentproc(given: AgentprocOptions): Dialect {
  const options = withDefaults(given);
  const { wire } = options;
  return {
    id: wire === "0.1" ? "agentproc" : `agentproc@${wire}`,
    version: wire,
    framing: "text",
    wire: speaksLines(wire) ? lineWire : wire === "0.4" ? recordWire : mixedRecordWire,
    lifetime: "turn",
    question: /^(AGENT_PERMISSION_REQUEST:|\s*\{\s*"type"\s*:\s*"permission_request")/,
    oneTurn: true,
    ...(options.unsure && { quietSeconds: QUIET_SECONDS }),
    agentSide: (env) => agentSide(options, env),
    hostSide: (env) => hostSide(options, env),
    coverage: coverageOf(options),
  };
}
