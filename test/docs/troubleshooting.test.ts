/** docs/troubleshooting.md quotes messages that there are: in the sources, and out of the command's own mouth. */
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { run, scratch } from "../process/harness.js";
import { fits, ROOT, textOf } from "./shell-blocks.js";

const page = textOf("docs/troubleshooting.md");
const messages = [...page.matchAll(/^\| (.*?) \|/gm)].flatMap(([, cell = ""]) =>
  [...cell.matchAll(/`([^`]{12,})`/g)].map(([, code = ""]) => code),
);
/** Commands with a home, and the messages that they give. */
const PROVOKED: [args: string[], home: Record<string, string>, message: string][] = [
  [["--json-stream"], {}, "No provider was named and no key was found; set …"],
  [["-p", "say hi"], {}, "No key was found, so the offline rehearsal model answers."],
  [["-p", "say hi", "--provider", "anthropic"], {}, "…_API_KEY not set"],
  [["-p", "say hi", "--provider", "nope"], {}, "unknown provider '…'"],
  [["-p", "say hi"], { "config.yaml": "aproval: yolo" }, "…unknown key '…'; did you mean '…'?"],
  [["-p", "say hi"], { "config.yaml": "rules: [{ deny: 'Bash(rm' }]" }, '… must be Tool or Tool(pattern), not "…"'],
  [["-p", "say hi", "--resume", "gone"], {}, "Session '…' not found; 'parley sessions' lists what is stored"],
  [["sesions"], {}, "There is no command '…'"],
  [["-p", "run `date`"], {}, "nobody can be asked here; allow it with …"],
  [["-p", "write 'a' to a.txt"], { "config.yaml": "rules: [{ deny: Write }]" }, "denied by the rule …"],
  [["-p", "run `ls`"], { "config.yaml": "hooks: { pre_tool_use: [{ command: [nope-hook] }] }" }, "The … hook '…' did not run: …"],
  [["-p", "say hi"], { "config.yaml": "mcpServers: { x: { command: nope-server } }" }, "Could not start …: '…' was not found"],
  [["serve", "--ws", "0.0.0.0:0"], {}, "… can be reached from other machines, so a token is needed: …"],
];
const BY_SERVER = ["… answered 401: … (check …)", "Cannot listen on …: another program listens there; …"];

/** All sources, with texts that are joined over lines in one piece. */
const sources = readdirSync(join(ROOT, "src"), { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"))
  .map((file) => readFileSync(join(ROOT, "src", file), "utf8"))
  .join("\n")
  .replaceAll(/["`] \+\n\s*["`]/g, "");

it("docs/troubleshooting.md quotes messages", () => expect(messages.length).toBeGreaterThan(30));

const heard = new Set([...PROVOKED.map(([, , message]) => message), ...BY_SERVER]);

it.each(messages.filter((message) => !heard.has(message)))("a source says: %s", (message) => {
  const parts = message.split("…").filter((part) => part.trim().length > 1);
  expect(parts.filter((part) => !sources.includes(part.trim()))).toEqual([]);
});

it.each(PROVOKED)("parley %j says what the page quotes", async (args, home, message) => {
  await expectMessage(message, args, { PARLEY_HOME: scratch(home) });
});

it("a server that refuses the key, or has the port, leads to the messages that the page quotes", async () => {
  const server = createServer((_, response) => response.writeHead(401).end('{"error":{"message":"no"}}')).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const address = server.address();
  const host = `127.0.0.1:${address !== null && typeof address === "object" ? address.port : ""}`;
  const [refused = "", taken = ""] = BY_SERVER;
  await expectMessage(refused, ["-p", "hi"], { ANTHROPIC_API_KEY: "wrong-key", ANTHROPIC_BASE_URL: `http://${host}` });
  await expectMessage(taken, ["serve", "--ws", host], {});
});

async function expectMessage(message: string, args: string[], env: Record<string, string>): Promise<void> {
  expect(messages).toContain(message);
  const { stdout, stderr } = await run(args, { env });
  const lines = `${stdout}\n${stderr}`.split("\n");
  expect(
    lines.some((line) => fits(line, `…${message}…`)),
    lines.join("\n"),
  ).toBe(true);
}
