/**
 * Claude Code, the real program, as `npm run real` drives it: which package, how it reaches a scripted Messages API, how it is started.
 * `say` writes each order in words that the model server understands; a scenario without them cannot be asked of this program.
 */
const PACKAGE = "@anthropic-ai/claude-code";
const VERSION = "2.1.325";

/** The program is a native binary in a package of its own for each platform. */
const binary = `node_modules/${PACKAGE}-${process.platform}-${process.arch}/claude`;

/** The variables that lead it to the model server, and keep it from everything else. */
function env({ url, key, home }) {
  return {
    HOME: home,
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: key,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    DISABLE_AUTOUPDATER: "1",
  };
}

export const programs = [
  {
    name: "claude",
    dialect: "claude",
    package: PACKAGE,
    version: VERSION,
    /** Its installer wants Node 22; the binary itself needs none. */
    node: "22",
    /** The vendor's wire that its model server speaks. */
    wire: "anthropic",
    model: "claude-sonnet-4-6",
    env,
    command: (folder) => [`${folder}/${binary}`],
    /** Its names for the tools that the scripted model calls. */
    tools: {
      run: (command) => ({ name: "Bash", args: { command } }),
      write: (file_path, content) => ({ name: "Write", args: { file_path, content } }),
    },
    scenarios: [
      "text",
      "thinking",
      "allowed",
      "changed arguments",
      "denied",
      "granted",
      "interrupted",
      "queued",
      "steered",
      "resumed",
      "forked",
      "killed",
      "failed",
      "hooks",
      "mcp",
    ],
    /** Words that its wire does not have. */
    unsaid: [
      "deny and ask rules",
      "limits of tool calls and of time",
      "temperature and other sampling",
      "a change of effort within a session",
    ],
  },
];
