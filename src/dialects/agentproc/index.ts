/** The AgentProc dialect: a process a turn, four wires. */
import { isRecord } from "../../core/values/json-object.js";
import type { OpOf } from "../../core/op.js";
import type { Dialect } from "../dialect.js";
import { agentSide } from "./agent/side.js";
import { coverageOf } from "./coverage.js";
import { hostSide } from "./host/side.js";
import { wireInEnv } from "./wire/environment.js";
import { isWire, QUIET_SECONDS, speaksLines, withDefaults, type AgentprocOptions } from "./wire/options.js";
import { lineWire, mixedRecordWire, recordWire } from "./wire/records.js";

export { attachmentPart, readAttachment, type Attachment } from "./wire/attachments.js";
export { PROGRAM_OUTPUTS, WIRES, type AgentprocOptions, type ProgramOutput, type WireVersion } from "./wire/options.js";

/** The key of `ext` under which this dialect's own fields travel; a profile file may hold its fields below the same key. */
export const EXT = "agentproc";

/** The first wire, and the last one with permissions. */
export const agentprocFirst: Dialect = started({ wire: "0.1" }, "auto");
export const agentprocLater: Dialect = started({ wire: "0.4", permission: true }, "0.4");

/** A bridge names its wire in the environment; a driven agent may ask if its wire has permissions. */
function started(options: AgentprocOptions, defaultWire: string): Dialect {
  return {
    ...agentproc(options),
    startedIn: (env) => agentproc(wireInEnv(env)),
    driven(name = defaultWire) {
      const wire = isWire(name) ? name : "auto";
      return agentproc({ wire, permission: true, unsure: wire === "auto" });
    },
  };
}

function personOf({ ext }: OpOf<"turn.prompt">): string | undefined {
  const own = ext?.[EXT];
  const from = isRecord(own) ? own["from_user"] : undefined;
  return typeof from === "string" && from !== "" ? from : undefined;
}

/** All options of a profile are data: the dialect knows no commands and no placeholders. */
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
    personOf,
    ...(options.unsure && { quietSeconds: QUIET_SECONDS }),
    agentSide: (env) => agentSide(options, env),
    hostSide: (env) => hostSide(options, env),
    coverage: coverageOf(options),
  };
}
