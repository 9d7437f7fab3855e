// An agent in a process of its own, driven over its line protocol; every approval is ours to give.
import { drive, openSession } from "agent-parley";
import { loadDialect } from "agent-parley/dialects";

const command = ["node", "dist/parley.js", "serve", "--dialect", "native", "--provider", "rehearsal"];
const session = await openSession(drive(await loadDialect("native"), command));
for await (const event of session.prompt("Run `echo hello from a tool`.")) {
  if (event.type === "approval.requested") {
    console.log(`asked: ${event.calls.map((call) => call.title).join(", ")}`);
    await session.answer(event.calls.map((call) => ({ call: call.id, decision: "allow" })));
  }
  if (event.type === "tool.ended") console.log(`tool: ${event.status}`);
  if (event.type === "turn.ended") console.log(`turn: ${event.outcome}`);
}
await session.close();
