// The same with a home: sessions that outlive the process, skills, sub-agents, MCP servers, hooks and memory files.
import { openSession } from "agent-parley";
import { createEngine, jsonlStore } from "agent-parley/engine";

const home = process.argv[2] ?? "my-app-home";
const withHome = () =>
  createEngine({
    defaults: { cwd: process.cwd(), provider: "rehearsal" },
    env: process.env,
    openStore: async (redact) => jsonlStore(home, { keep: 200, redact }),
    extensions: { home, userHome: home, trusts: async () => false },
  });

async function ask(opening, words) {
  const session = await openSession(withHome(), opening);
  for await (const event of session.prompt(words)) if (event.type === "text.done") console.log(event.text);
  await session.close();
  return session.ready.sessionId;
}

const sessionId = await ask({}, "Remember the word plum.");
await ask({ open: "resume", sessionId }, "What word did I tell you to remember?");
