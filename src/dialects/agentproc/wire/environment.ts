/** The variables of wires 0.1 and 0.2: whether a turn is in an environment, which wire that means, and which part of it is the turn's. */

type Env = Readonly<Record<string, string | undefined>>;

const NAMES: readonly string[] = [
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

/** Its message may be on the input alone, where no variable could hold it. */
export function isTurnInEnv(env: Env): boolean {
  return env["AGENT_MESSAGE"] !== undefined || env["AGENT_PROTOCOL_VERSION"] !== undefined;
}

/** How a bridge speaks that started us in this environment; on standard input it tells by itself whether it can be asked. */
export function wireInEnv(env: Env): { wire: "0.1" | "0.2" | "0.4"; permission: boolean } {
  if (!isTurnInEnv(env)) return { wire: "0.4", permission: true };
  return env["AGENT_PERMISSION"] === "1" ? { wire: "0.2", permission: true } : { wire: "0.1", permission: false };
}

export function turnVariables(env: Env): Record<string, string> {
  return Object.fromEntries(NAMES.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])));
}

/** For an agent that gets another turn than we did. */
export function withoutTurn(env: Env): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined || NAMES.includes(name) ? [] : [[name, value]])),
  );
}
