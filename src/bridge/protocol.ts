/** AgentProc, the protocol of a profile that names no dialect: the parts of it that a bridge uses. */
import { EXT } from "../dialects/agentproc/index.js";
import type { Profile } from "./profile/profile.js";

export {
  agentproc,
  attachmentPart,
  EXT,
  PROGRAM_OUTPUTS,
  readAttachment,
  WIRES,
  type ProgramOutput,
  type WireVersion,
} from "../dialects/agentproc/index.js";
export { ENV_NAMES } from "../dialects/agentproc/wire/records.js";

/** The protocol of a profile in words. */
export function protocolOf({ dialect, protocol, output }: Profile): string {
  return dialect ?? (output === undefined ? `${EXT} ${protocol}` : `the JSON lines of ${output}`);
}
