/** What a prompt changes for itself alone: its tools. */
import type { SessionConfig } from "../../core/config.js";
import type { OpOf } from "../../core/op.js";

export function withOverrides(config: SessionConfig, op: OpOf<"turn.prompt">): SessionConfig {
  const { tools, hostTools } = op.overrides ?? {};
  return {
    ...config,
    ...(tools !== undefined && { allowedTools: tools }),
    ...(hostTools !== undefined && { hostTools: [...(config.hostTools ?? []), ...hostTools] }),
  };
}
