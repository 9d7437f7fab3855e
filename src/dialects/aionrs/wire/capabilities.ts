/** The capabilities in `ready` and `config_changed`, as an agent writes and a host reads them. */
import type { SessionConfig } from "../../../core/config.js";
import { modeName, modeNamed, type Revision } from "./revision.js";
import type { AgentState } from "../agent/state.js";
import type { LaterEventOf } from "./records.js";

type WireCapabilities = LaterEventOf<"config_changed">["capabilities"];

/** Derived from the agent's capabilities: only those that it promised. */
export function capabilitiesOf(state: AgentState): WireCapabilities {
  const { revision, capabilities, config } = state;
  const efforts = textsOf(capabilities["efforts"]);
  const names = textsOf(capabilities["modes"]).flatMap((mode) => modeName(revision, modeNamed(revision, mode)) ?? []);
  return {
    tool_approval: true,
    thinking: capabilities["thinking"] === true,
    effort: efforts.length > 0,
    effort_levels: efforts,
    modes: names.length > 0 ? names : Object.values(revision.modes),
    current_mode: modeName(revision, config.mode) ?? revision.modes.default,
    mcp: capabilities["mcp"] === true,
    ...revision.says.capabilities(state),
  };
}

/** Capabilities in our words: `efforts`, `modes` and `images` have the same meaning in every revision; others are kept unchanged. */
export function readCapabilities(
  said: WireCapabilities,
  revision: Revision,
): { capabilities: Record<string, unknown>; config?: SessionConfig } {
  const { effort_levels, modes, current_mode, image_input, effort: _effort, ...rest } = said;
  const mode = current_mode === undefined ? undefined : modeNamed(revision, current_mode);
  const capabilities = {
    ...rest,
    ...(effort_levels !== undefined && { efforts: effort_levels }),
    ...(modes !== undefined && { modes: modes.flatMap((name) => modeNamed(revision, name) ?? []) }),
    ...(image_input !== undefined && image_input !== "unknown" && { images: image_input === "supported" }),
  };
  return { capabilities, ...(mode !== undefined && { config: { mode } }) };
}

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === "string") : [];
}
