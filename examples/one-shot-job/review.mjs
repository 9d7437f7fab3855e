// A job for a pipeline: reads a diff from stdin, lets an agent look at the files, and fails when it says REJECT. Nothing may be changed.
import { drive, loadDialect, query } from "agent-parley";

const diff = Buffer.concat(await process.stdin.toArray()).toString();
const command = ["node", "dist/parley.js", "serve", "--dialect", "native", ...process.argv.slice(2)];
const { text, outcome, error } = await query(`Review this diff. Begin with ACCEPT or REJECT, then give your reasons.\n\n${diff}`, {
  agent: drive(await loadDialect("native"), command),
  approve: (call) => (call.category === "info" ? "allow" : { decision: "deny", reason: "a review changes nothing" }),
  signal: AbortSignal.timeout(10 * 60_000),
});
console.log(text || error?.message);
process.exitCode = outcome === "completed" && !text.startsWith("REJECT") ? 0 : 1;
