// One prompt to an agent, and its result. The README quotes this program.
import { drive, loadDialect, query } from "agent-parley";

// Another agent: loadDialect("claude") and ["claude"], or loadDialect("acp") and ["gemini", "--acp"].
const command = ["node", "dist/parley.js", "serve", "--dialect", "native", "--provider", "rehearsal"];
const { text, outcome, calls } = await query("Run `echo hello` and tell me what it said.", {
  agent: drive(await loadDialect("native"), command),
  approve: (call) => (call.args.command === "echo hello" ? "allow" : { decision: "deny", reason: "only echo" }),
});
console.log(text);
console.log(`${outcome}, ${calls.length} call`);
