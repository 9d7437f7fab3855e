/**
 * Real programs, pinned: how each is installed, started, and pointed at the scripted model server. `bin` finds a command of its package,
 * `url` is the root of the server, `home` is an empty folder that is the program's own. `unsaid` has no word on the program's wire, and is no
 * scene: docs/agents.md shows it.
 */
import { join } from "node:path";

export const KEY = "sk-real-0123456789";

const CLAUDE = "@anthropic-ai/claude-code";

/** OpenCode's own configuration of a server. It asks about nothing unless it is told to. */
const openCodeConfig = (url) => ({
  $schema: "https://opencode.ai/config.json",
  model: "lab/model",
  small_model: "lab/model",
  provider: {
    lab: {
      npm: "@ai-sdk/openai-compatible",
      name: "Lab",
      options: { baseURL: `${url}/v1`, apiKey: KEY },
      models: {
        model: {
          name: "Model",
          reasoning: true,
          attachment: true,
          modalities: { input: ["text", "image"], output: ["text"] },
          limit: { context: 100_000, output: 8192 },
        },
      },
    },
  },
});

const claudeVariables = (url) => ({
  ANTHROPIC_BASE_URL: url,
  ANTHROPIC_API_KEY: KEY,
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  DISABLE_AUTOUPDATER: "1",
});

export const agents = [
  {
    name: "claude-code",
    title: "Claude Code",
    dialect: "claude",
    package: CLAUDE,
    version: "2.1.325",
    node: 20,
    // The program is a native binary in a package of its own for each platform.
    command: ({ folder }) => [`${folder}/node_modules/${CLAUDE}-${process.platform}-${process.arch}/claude`],
    model: "claude-sonnet-4-6",
    env: ({ url }) => claudeVariables(url),
    unsaid: [
      "deny and ask rules",
      "limits of tool calls and of time",
      "sampling",
      "a change of effort within a session",
      "a question for reads in its folder and harmless commands",
    ],
  },
  {
    name: "codex",
    title: "Codex",
    dialect: "codex",
    package: "@openai/codex",
    version: "0.166.0",
    node: 20,
    command: ({ bin, url }) => [
      bin("codex"),
      "-c",
      'model_provider="scripted"',
      "-c",
      `model_providers.scripted={name="scripted",base_url="${url}/v1",wire_api="responses",env_key="CODEX_API_KEY",request_max_retries=1,stream_max_retries=1}`,
    ],
    model: "gpt-5.5",
    // `CODEX_API_KEY` is sent to the provider that names it; `OPENAI_API_KEY` alone sends no header.
    env: ({ home }) => ({ CODEX_HOME: `${home}/.codex`, CODEX_API_KEY: KEY }),
    files: () => ({ ".codex/empty": "" }),
    unsaid: ["deny and ask rules", "that a call which nobody was asked about has begun"],
  },
  {
    name: "gemini",
    title: "Gemini CLI",
    dialect: "acp",
    package: "@google/gemini-cli",
    version: "0.61.0",
    node: 20,
    command: ({ bin }) => [bin("gemini"), "--acp"],
    env: ({ url }) => ({
      GEMINI_API_KEY: KEY,
      GOOGLE_GEMINI_BASE_URL: url,
      GEMINI_MODEL: "gemini-2.5-flash",
      GEMINI_CLI_TRUST_WORKSPACE: "true",
    }),
    // It names the file of a session by its minute: what resumes in that minute begins the file anew. At its next start it deletes both.
    resumesInNextMinute: true,
    unsaid: [
      "rules",
      "limits",
      "sampling",
      "the arguments of a call, and the call before the question about it",
      "a second resume of a session, and one in the minute in which it began",
    ],
  },
  {
    name: "opencode",
    title: "OpenCode",
    dialect: "acp",
    package: "opencode-ai",
    version: "1.18.33",
    node: 20,
    command: ({ bin }) => [bin("opencode"), "acp"],
    env: ({ url }) => ({
      OPENCODE_CONFIG_CONTENT: JSON.stringify(openCodeConfig(url)),
      OPENCODE_PERMISSION: JSON.stringify({ bash: "ask", edit: "ask", webfetch: "ask" }),
      OPENCODE_DISABLE_AUTOUPDATE: "1",
    }),
    unsaid: ["a mode that asks (`OPENCODE_PERMISSION` makes it ask)", "rules", "limits", "sampling"],
  },
  {
    name: "qwen-code",
    title: "Qwen Code",
    dialect: "qwen-shipped",
    package: "@qwen-code/qwen-code",
    version: "0.24.4",
    node: 22,
    command: ({ bin }) => [bin("qwen"), "--auth-type", "openai"],
    env: ({ url }) => ({ OPENAI_API_KEY: KEY, OPENAI_BASE_URL: `${url}/v1`, OPENAI_MODEL: "qwen3-vl-plus" }),
    unsaid: ["deny and ask rules", "sampling"],
  },
  {
    name: "qwen-acp",
    title: "Qwen Code, over ACP",
    dialect: "acp",
    package: "@qwen-code/qwen-code",
    version: "0.24.4",
    node: 22,
    command: ({ bin }) => [bin("qwen"), "--acp", "--auth-type", "openai"],
    env: ({ url }) => ({ OPENAI_API_KEY: KEY, OPENAI_BASE_URL: `${url}/v1`, OPENAI_MODEL: "qwen3-vl-plus" }),
    unsaid: ["rules", "limits", "sampling"],
  },
  {
    name: "codex-acp",
    title: "Codex, over codex-acp",
    dialect: "acp",
    package: "@agentclientprotocol/codex-acp",
    version: "2.6.0",
    node: 22,
    command: ({ bin }) => [bin("codex-acp")],
    env: ({ home }) => ({ CODEX_HOME: `${home}/.codex`, CODEX_API_KEY: KEY, OPENAI_API_KEY: KEY }),
    files: ({ url }) => ({
      ".codex/config.toml": `model = "gpt-5.1-codex"\nmodel_provider = "lab"\n[model_providers.lab]\nname = "Lab"\nbase_url = "${url}/v1"\nwire_api = "responses"\nenv_key = "CODEX_API_KEY"\n`,
    }),
    unsaid: ["rules", "limits", "sampling"],
  },
  {
    name: "claude-agent-acp",
    title: "Claude Code, over claude-agent-acp",
    dialect: "acp",
    package: "@agentclientprotocol/claude-agent-acp",
    version: "0.99.1",
    node: 22,
    command: ({ bin }) => [bin("claude-agent-acp")],
    env: ({ url }) => claudeVariables(url),
    unsaid: ["rules", "limits", "sampling"],
  },
  {
    name: "reasonix",
    title: "reasonix",
    dialect: "acp",
    package: "reasonix",
    version: "1.38.11",
    node: 20,
    command: ({ bin }) => [bin("reasonix"), "acp"],
    // Its commands run in a sandbox alone.
    needs: ["bwrap"],
    env: () => ({ LAB_KEY: KEY }),
    files: ({ url }) => ({
      ".config/reasonix/config.toml": `default_model = "lab"\n[[providers]]\nname = "lab"\nkind = "openai"\nbase_url = "${url}/v1"\nmodel = "model"\napi_key_env = "LAB_KEY"\n[sandbox]\nbash = "off"\n[permissions]\nmode = "ask"\n`,
    }),
    unsaid: ["rules", "limits", "sampling"],
  },
];

/**
 * Hosts, and Parley as their agent. `script` plays a host's scenes (hosts/); `options` are what it hands to its SDK, `shell` is the name
 * that it knows the shell's tool by, and `agent` is how the host starts Parley.
 */
export const hosts = [
  {
    name: "acp-sdk",
    title: "The ACP SDK's client",
    dialect: "acp",
    agent: "`parley acp`",
    package: "@agentclientprotocol/sdk",
    version: "2.4.0",
    node: 20,
    script: "acp-sdk.mjs",
    unsaid: [],
  },
  {
    name: "acpx",
    title: "acpx",
    dialect: "acp",
    agent: "`parley acp`",
    package: "acpx",
    version: "0.19.1",
    node: 22,
    script: "acpx.mjs",
    unsaid: [],
  },
  {
    name: "claude-agent-sdk",
    title: "The Claude Agent SDK",
    dialect: "claude",
    agent: "launcher `claude`",
    package: "@anthropic-ai/claude-agent-sdk",
    version: "0.3.325",
    node: 20,
    script: "query-sdk.mjs",
    shell: "Bash",
    options: ({ shims, url }) => ({
      model: "claude-sonnet-4-6",
      pathToClaudeCodeExecutable: join(shims, "claude"),
      settingSources: [],
      env: { ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: KEY },
    }),
    unsaid: [],
  },
  {
    name: "codex-sdk",
    title: "The Codex SDK",
    dialect: "codex",
    agent: "launcher `codex`",
    package: "@openai/codex-sdk",
    version: "0.163.0",
    node: 20,
    script: "codex-sdk.mjs",
    unsaid: ["a question to the user: the sandbox mode alone says what may run"],
  },
  {
    name: "qwen-sdk",
    title: "The Qwen SDK",
    dialect: "qwen-shipped",
    agent: "launcher `qwen`",
    package: "@qwen-code/sdk",
    version: "0.1.14",
    node: 22,
    script: "query-sdk.mjs",
    shell: "run_shell_command",
    options: ({ shims, url }) => ({
      model: "model",
      authType: "openai",
      pathToQwenExecutable: join(shims, "qwen"),
      env: { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: `${url}/v1`, OPENAI_MODEL: "model" },
    }),
    unsaid: [],
  },
];
