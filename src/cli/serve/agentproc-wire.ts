/** Which AgentProc is meant: as the environment tells, for a bridge that started us; as the command line tells, for an agent that we drive. */
import { isTurnInEnv, wireInEnv } from "../../dialects/agentproc/wire/environment.js";
import type { Dialect } from "../../dialects/index.js";
import type { Env } from "../../settings/settings.js";
import { text, usage, type Parsed } from "../command-line/flags.js";

export function isAgentproc(id: string): boolean {
  return id === "agentproc" || id.startsWith("agentproc@");
}

export function agentprocId(env: Env): "agentproc" | "agentproc@0.4" {
  return isTurnInEnv(env) ? "agentproc" : "agentproc@0.4";
}

/** What its wire can say depends on how the turn came. */
export async function agentprocOf(env: Env): Promise<Dialect> {
  const { agentproc } = await import("../../dialects/agentproc/index.js");
  return agentproc(wireInEnv(env));
}

/** Wherever the wire has words for it the agent may ask, and its host answers. */
export async function drivenAgentproc(id: string, parsed: Parsed): Promise<Dialect> {
  const { agentproc, WIRES } = await import("../../dialects/agentproc/index.js");
  const named = text(parsed, "wire") ?? (id === "agentproc" ? "auto" : id.slice("agentproc@".length));
  const wire = WIRES.find((each) => each === named);
  if (wire === undefined) throw usage(`--wire is one of ${WIRES.join(", ")}, not '${named}'`);
  return agentproc({ wire, permission: true, unsure: wire === "auto" });
}
