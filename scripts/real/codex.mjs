/**
 * Codex as a real program: how it is installed, started against a model server on loopback, and asked for a tool by its model.
 * `env` and `args` take the server's address (OpenAI's Responses) and a fresh folder for the program's own files.
 */
export const programs = [
  {
    name: "codex",
    package: "@openai/codex",
    version: "0.166.0",
    node: "20",
    dialect: "codex",
    command: ["codex"],
    wire: "openai-responses",
    model: "gpt-5.5",
    /** `CODEX_API_KEY` is sent to the provider that names it; `OPENAI_API_KEY` alone sends no header. */
    env: ({ home, key }) => ({ CODEX_HOME: home, CODEX_API_KEY: key }),
    args: ({ url }) => [
      "-c",
      'model_provider="scripted"',
      "-c",
      `model_providers.scripted={name="scripted",base_url="${url}/v1",wire_api="responses",env_key="CODEX_API_KEY",request_max_retries=1,stream_max_retries=1}`,
    ],
    /** The call with which its model asks for a command. */
    shellCall: (command) => ({ name: "exec_command", args: { cmd: command } }),
    scenarios: ["text", "thinking", "tool allowed", "tool denied", "file changed", "interrupted", "steered", "resumed", "failed", "killed"],
    cannotSay: ["changed arguments", "the reason of a denial", "that a call which nobody was asked about has begun"],
  },
];
