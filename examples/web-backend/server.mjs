// A back end for a web page: POST /prompt with {"text"}, and the answer comes as server-sent events. One session a client, by a cookie.
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { drive, loadDialect, openSession } from "agent-parley";

const dialect = await loadDialect("native");
const command = ["node", "dist/parley.js", "serve", "--dialect", "native", "--provider", "rehearsal"];
const sessions = new Map();

function sessionOf(client) {
  if (!sessions.has(client)) sessions.set(client, openSession(drive(dialect, command), { approve: "deny" }));
  return sessions.get(client);
}

const server = createServer(async (request, response) => {
  if (request.method !== "POST" || request.url !== "/prompt") return response.writeHead(404).end();
  const client = /\bclient=([\w-]+)/.exec(request.headers.cookie ?? "")?.[1] ?? randomUUID();
  const chunks = await request.toArray();
  const { text } = JSON.parse(Buffer.concat(chunks).toString());
  response.writeHead(200, { "content-type": "text/event-stream", "set-cookie": `client=${client}; HttpOnly; SameSite=Strict` });
  const session = await sessionOf(client);
  // Who goes away does not want the rest.
  response.once("close", () => !response.writableFinished && void session.interrupt());
  for await (const event of session.prompt(text)) response.write(`data: ${JSON.stringify(event)}\n\n`);
  response.end();
});

server.listen(Number(process.env.PORT ?? 0), "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`));
process.once("SIGTERM", async () => {
  server.close();
  for (const session of sessions.values()) await (await session).close();
});
