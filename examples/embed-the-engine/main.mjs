// The engine in your own process: open a session, send a prompt, read events.
import { openSession } from "agent-parley";
import { createEngine } from "agent-parley/engine";

const engine = createEngine({ defaults: { cwd: process.cwd(), provider: "rehearsal" }, env: process.env });
const session = await openSession(engine);
for await (const event of session.prompt("Read package.json and tell me what it says.")) {
  if (event.type === "text.delta") process.stdout.write(event.text);
}
await session.close();
