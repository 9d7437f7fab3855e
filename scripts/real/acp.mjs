/**
 * Real programs that speak ACP, pinned: how each is installed, started and pointed at a model server. `url` is the root of a server on
 * loopback that speaks OpenAI's chat completions and responses and Gemini's wire; `home` is an empty folder. A host is started with the
 * command of the agent that it drives.
 */

const KEY = "sk-real-0123456789";

/** How OpenCode is told of a server of its own. It asks about nothing unless it is told to. */
const openCodeConfig = (url) => ({
  $schema: "https://opencode.ai/config.json",
  model: "lab/model",
  small_model: "lab/model",
  provider: {
    lab: {
      npm: "@ai-sdk/openai-compatible",
      name: "Lab",
      options: { baseURL: `${url}/v1`, apiKey: KEY },
      models: { model: { name: "Model", limit: { context: 100_000, output: 8192 } } },
    },
  },
});

export const programs = [
  {
    name: "gemini",
    role: "agent",
    package: "@google/gemini-cli",
    version: "0.61.0",
    node: 20,
    command: ["gemini", "--acp"],
    env: (url) => ({
      GEMINI_API_KEY: KEY,
      GOOGLE_GEMINI_BASE_URL: url,
      GEMINI_MODEL: "gemini-2.5-flash",
      GEMINI_CLI_TRUST_WORKSPACE: "true",
    }),
  },
  {
    name: "opencode",
    role: "agent",
    package: "opencode-ai",
    version: "1.18.33",
    node: 20,
    command: ["opencode", "acp"],
    env: (url) => ({
      OPENCODE_CONFIG_CONTENT: JSON.stringify(openCodeConfig(url)),
      OPENCODE_PERMISSION: JSON.stringify({ bash: "ask", edit: "ask", webfetch: "ask" }),
      OPENCODE_DISABLE_AUTOUPDATE: "1",
    }),
  },
  {
    name: "qwen",
    role: "agent",
    package: "@qwen-code/qwen-code",
    version: "0.24.4",
    node: 22,
    command: ["qwen", "--acp", "--auth-type", "openai"],
    env: (url) => ({ OPENAI_API_KEY: KEY, OPENAI_BASE_URL: `${url}/v1`, OPENAI_MODEL: "model" }),
  },
  {
    name: "codex-acp",
    role: "agent",
    package: "@agentclientprotocol/codex-acp",
    version: "2.6.0",
    node: 22,
    command: ["codex-acp"],
    env: () => ({ CODEX_API_KEY: KEY, OPENAI_API_KEY: KEY }),
    files: (url) => ({
      ".codex/config.toml": `model = "gpt-5.1-codex"\nmodel_provider = "lab"\n[model_providers.lab]\nname = "Lab"\nbase_url = "${url}/v1"\nwire_api = "responses"\nenv_key = "CODEX_API_KEY"\n`,
    }),
  },
  {
    name: "reasonix",
    role: "agent",
    package: "reasonix",
    version: "1.38.11",
    node: 20,
    command: ["reasonix", "acp"],
    env: () => ({ LAB_KEY: KEY }),
    files: (url) => ({
      ".config/reasonix/config.toml": `default_model = "lab"\n[[providers]]\nname = "lab"\nkind = "openai"\nbase_url = "${url}/v1"\nmodel = "model"\napi_key_env = "LAB_KEY"\n[sandbox]\nbash = "off"\n[permissions]\nmode = "ask"\n`,
    }),
  },
  {
    name: "acpx",
    role: "host",
    package: "acpx",
    version: "0.19.1",
    node: 22,
    command: (agent, prompt) => ["acpx", "--approve-all", "--agent", agent, "exec", prompt],
    env: () => ({}),
  },
];
