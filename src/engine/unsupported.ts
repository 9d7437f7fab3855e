/**
 * What the vocabulary can ask of a session and this engine does not do: refused where the session would be something else without it,
 * told where it would only have less.
 */
import type { SessionConfig } from "../core/config.js";
import { ParleyError } from "../core/errors.js";

/** Throws when the host wants to do itself what the engine would do here. */
export function refuseUnsupported({ workspace }: SessionConfig): void {
  const hosted = Object.entries(workspace ?? {}).flatMap(([what, where]) => (where === "host" ? [what] : []));
  if (hosted.length === 0) return;
  throw new ParleyError({
    code: "unsupported",
    message: `This version cannot leave ${hosted.join(", ")} to the host: files and commands are local`,
    retryable: false,
    param: "workspace",
  });
}

export function unusedNotice({ mcpServers = {} }: SessionConfig): string | undefined {
  const names = Object.keys(mcpServers);
  return names.length === 0 ? undefined : `mcpServers (${names.join(", ")}): not used by this version`;
}
