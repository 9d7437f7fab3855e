// One program for any agent: the first word says which. Edits are allowed, everything else is denied, and one tool is ours.
import { drive, loadDialect, openSession } from "agent-parley";

/** The dialect that an agent speaks, and its command. */
const AGENTS = {
  parley: ["native", ["node", "dist/parley.js", "serve", "--dialect", "native", "--provider", "rehearsal"]],
  claude: ["claude", ["claude"]],
  codex: ["codex", ["codex"]],
  gemini: ["acp", ["gemini", "--acp"]],
  opencode: ["acp", ["opencode", "acp"]],
  qwen: ["qwen-shipped", ["qwen"]],
};

const [name = "parley", prompt = "say hello"] = process.argv.slice(2);
const [dialect, command] = AGENTS[name];
const session = await openSession(drive(await loadDialect(dialect), command), {
  approve: (call) => (call.category === "edit" ? "allow" : { decision: "deny", reason: "only edits here" }),
  tools: { clock: { description: "The time of day.", run: () => new Date().toISOString() } },
});
const { text, outcome, usage, calls, error } = await session.run(prompt);
console.log(text || error?.message);
console.log(`${outcome}, ${usage.output} tokens, ${calls.length} calls`);
await session.close();
