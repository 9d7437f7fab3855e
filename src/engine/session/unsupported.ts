/** What the vocabulary can ask of a session and this engine does not do: refused, since the session would be something else without it. */
import type { SessionConfig } from "../../core/config.js";
import { ParleyError } from "../../core/errors.js";

/** Throws when the host wants to do itself what the engine would do here, and when it brings what only extensions can use. */
export function refuseUnsupported(config: SessionConfig, hasExtensions: boolean): void {
  refuseHosted(config);
  if (hasExtensions) return;
  const brought = (["mcpServers", "hostHooks", "subagents"] as const).find((key) => Object.keys(config[key] ?? {}).length > 0);
  if (brought === undefined) return;
  throw new ParleyError({
    code: "unsupported",
    message: `This engine was made without extensions, so it cannot use ${brought}; createEngine({ extensions }) brings them`,
    retryable: false,
    param: brought,
  });
}

function refuseHosted({ workspace }: SessionConfig): void {
  const hosted = Object.entries(workspace ?? {}).flatMap(([what, where]) => (where === "host" ? [what] : []));
  if (hosted.length === 0) return;
  throw new ParleyError({
    code: "unsupported",
    message: `This version cannot leave ${hosted.join(", ")} to the host: files and commands are local`,
    retryable: false,
    param: "workspace",
  });
}
