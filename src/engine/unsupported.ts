/** What the vocabulary can ask of a session and this engine does not do: refused, since the session would be something else without it. */
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
