/** The capabilities of a session, derived from its model and its config. Hosts offer their users only these. */
import { Mode, type SessionConfig } from "../../core/config.js";
import { ASKING_TOOLS, TOOL_NAMES } from "../../core/names.js";
import { needsSandbox } from "../../core/modes.js";
import type { Model } from "../models/model.js";
import { toolExists } from "../permissions/tool-lists.js";

export function sessionCapabilities(
  model: Model,
  config: SessionConfig,
  has: { extensions: boolean; sandbox: string | undefined },
): Record<string, unknown> {
  const { thinking, images, efforts, contextLimit, outputLimit } = model;
  return {
    modes: Mode.options.filter((mode) => has.sandbox !== undefined || !needsSandbox(mode)),
    approvals: true,
    steering: true,
    mcp: has.extensions,
    catalog: true,
    hostTools: true,
    tools: toolsOf(config, has.extensions),
    ...(has.sandbox !== undefined && { sandbox: has.sandbox }),
    thinking,
    images: config.images ?? images,
    ...(efforts !== undefined && { efforts }),
    ...(contextLimit !== undefined && { contextLimit }),
    ...(outputLimit !== undefined && { outputLimit }),
  };
}

/** The names of tools; those of servers are in the catalogue. */
function toolsOf(config: SessionConfig, hasExtensions: boolean): string[] {
  const isAsked = (config.hostTools ?? []).some(({ name }) => ASKING_TOOLS.includes(name));
  const isThere = (name: string): boolean =>
    name === "AskUser" ? !isAsked : name === "ExitPlan" ? config.mode === "plan" : hasExtensions || (name !== "Spawn" && name !== "Skill");
  const names = [...TOOL_NAMES.filter(isThere), ...(config.hostTools ?? []).map(({ name }) => name)];
  return names.filter((name) => toolExists(name, config));
}
