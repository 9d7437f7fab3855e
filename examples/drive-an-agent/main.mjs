// An agent in a process of its own, driven over its line protocol; every approval is ours to give.
import { connect, openSession, spawnTransport } from "agent-parley";
import { loadDialect } from "agent-parley/dialects";

const dialect = await loadDialect("native");
const argv = [process.execPath, "dist/parley.js", "serve", "--dialect", "native", "--provider", "rehearsal"];
const agent = connect(dialect, () => spawnTransport({ argv, env: process.env }, { framing: dialect.framing }));

const session = await openSession(agent);
for await (const event of session.prompt("Run `echo hello from a tool`.")) {
  if (event.type === "approval.requested") {
    console.log(`asked: ${event.calls.map((call) => call.title).join(", ")}`);
    await session.answer(event.calls.map((call) => ({ call: call.id, decision: "allow" })));
  }
  if (event.type === "tool.ended") console.log(`tool: ${event.status}`);
  if (event.type === "turn.ended") console.log(`turn: ${event.outcome}`);
}
await session.close();
