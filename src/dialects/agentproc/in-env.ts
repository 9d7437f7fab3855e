/** The variables of wires 0.1 and 0.2: whether a turn is in an environment, and which part of it is the turn's. */

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

export function turnVariables(env: Env): Record<string, string> {
  return Object.fromEntries(NAMES.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])));
}

/** For an agent that gets another turn than we did. */
export function withoutTurn(env: Env): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined || NAMES.includes(name) ? [] : [[name, value]])),
  );
}
