/** The variables of wires 0.1 and 0.2, and the wire that an environment means. */

type Env = Readonly<Record<string, string | undefined>>;

export const TURN_VARIABLES: readonly string[] = [
  "AGENT_MESSAGE",
  "AGENT_SESSION_ID",
  "AGENT_SESSION_NAME",
  "AGENT_FROM_USER",
  "AGENT_STREAMING",
  "AGENT_PROTOCOL_VERSION",
  "AGENT_PERMISSION",
  "AGENT_IMAGE_URL",
  "AGENT_FILE_URL",
  "AGENT_ATTACHMENTS",
];

/** A message that fits no variable is on the input only, with the version in the environment. */
export const TURN_SIGNS: readonly string[] = ["AGENT_MESSAGE", "AGENT_PROTOCOL_VERSION"];

export function isTurnInEnv(env: Env): boolean {
  return TURN_SIGNS.some((name) => env[name] !== undefined);
}

/** The wire of the bridge that started us. A turn on stdin tells itself whether the bridge can be asked. */
export function wireInEnv(env: Env): { wire: "0.1" | "0.2" | "0.4"; permission: boolean } {
  if (!isTurnInEnv(env)) return { wire: "0.4", permission: true };
  return env["AGENT_PERMISSION"] === "1" ? { wire: "0.2", permission: true } : { wire: "0.1", permission: false };
}
