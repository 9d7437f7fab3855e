/** `parley demo`: a real agent mends a real bug with real tools; only the model is rehearsed. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join, relative } from "node:path";
import type { Agent } from "../../core/agent.js";
import type { PartOf } from "../../core/content.js";
import { ParleyError, systemReason } from "../../core/errors.js";
import type { Event, EventOf } from "../../core/event.js";
import { loadSettings, type Loaded } from "../../settings/settings.js";
import { openSession, type HostSession } from "../../host/session.js";
import { buildEngine } from "../compose/build-engine.js";
import { openChat } from "../chat/open-chat.js";
import { workingFolder } from "../compose/working-folder.js";
import { Screen, usageLine } from "../chat/screen.js";
import { looksFor } from "../chat/theme.js";
import { endOnSignal } from "../compose/signals.js";

const FILES = {
  "sum.mjs": "export function sum(a, b) {\n  return a - b;\n}\n",
  "check.mjs": `import { sum } from "./sum.mjs";

const result = sum(2, 3);
if (result !== 5) {
  console.error(\`2 and 3 should make 5, not \${result}\`);
  process.exit(1);
}
console.log("the check passes");
`,
};

const PROMPT =
  "Think about why the check fails, then run `node check.mjs`, replace 'a - b' with 'a + b' in sum.mjs, and run `node check.mjs` again.";

export async function runDemo(): Promise<number> {
  const goodbye = nextSteps(process.argv[1] ?? "parley", workingFolder());
  const scratch = await scratchFolder();
  const isTerminal = process.stdin.isTTY && process.stdout.isTTY;
  // The demo ignores the user's configuration, so that it is the same for everybody.
  const env = { ...process.env, PARLEY_HOME: join(scratch, ".parley-home") };
  const loaded = await loadSettings({ flags: { provider: "rehearsal", workspace: scratch }, env, cwd: scratch });
  const agent = buildEngine(loaded, env, { rules: [{ allow: "Bash(node check.mjs)" }] });
  try {
    process.stdout.write(`A scratch folder with a small bug: ${scratch}\n\n`);
    const code = isTerminal ? await chat(agent, loaded, env) : await watch(agent);
    process.stdout.write(goodbye);
    return code;
  } finally {
    await agent.close();
    await rm(scratch, { recursive: true, force: true });
  }
}

async function scratchFolder(): Promise<string> {
  try {
    const folder = await mkdtemp(join(tmpdir(), "parley-demo-"));
    for (const [name, content] of Object.entries(FILES)) await writeFile(join(folder, name), content);
    return folder;
  } catch (error) {
    const message = `No scratch folder could be made in ${tmpdir()}: ${systemReason(error)}. TMPDIR names another place`;
    throw new ParleyError({ code: "config", message, retryable: false }, { cause: error });
  }
}

/** At a terminal the demo continues as a chat. */
async function chat(agent: Agent, loaded: Loaded, env: NodeJS.ProcessEnv): Promise<number> {
  const { view, conversation } = await openChat(agent, loaded, env);
  try {
    return await conversation.run({}, PROMPT);
  } finally {
    await view.dispose(undefined);
  }
}

async function watch(agent: Agent): Promise<number> {
  const screen = new Screen({ answer: process.stdout, aside: process.stdout, looks: looksFor(process.stdout, process.env) });
  screen.line(`> ${PROMPT}\n`);
  const signals = endOnSignal(agent);
  const session = await openSession(agent);
  const diffs: PartOf<"diff">[] = [];
  let end: EventOf<"turn.ended"> | undefined;
  for await (const event of session.prompt(PROMPT)) {
    diffs.push(...diffsOf(event));
    await approve(session, event, screen);
    if (event.type === "turn.ended") end = event;
  }
  await session.close();
  summary(end, diffs, screen);
  return signals.code() ?? (end?.outcome === "completed" ? 0 : 1);
}

async function approve(session: HostSession, event: Event, screen: Screen): Promise<void> {
  screen.show(event);
  if (event.type !== "approval.requested") return;
  for (const call of event.calls) screen.line(`? ${call.title ?? call.name}: approved by itself, since there is no terminal to ask`);
  await session.answer(event.calls.map((call) => ({ call: call.id, decision: "allow" })));
}

function diffsOf(event: Event): PartOf<"diff">[] {
  return event.type === "tool.ended" ? (event.output ?? []).filter((part) => part.type === "diff") : [];
}

function summary(end: EventOf<"turn.ended"> | undefined, diffs: readonly PartOf<"diff">[], screen: Screen): void {
  screen.line(`\nWhat changed${diffs.length === 0 ? ": nothing" : ""}`);
  for (const diff of diffs) screen.diff(diff.patch);
  screen.line(`\nUsage: ${usageLine(end?.usage)} (counted by the rehearsal model, free of charge)`);
}

const NEXT: readonly [string, string][] = [
  ['-p "read README.md and tell me what it says"', "one prompt, offline"],
  ["", "a chat in this folder"],
  ["serve --dialect native", "the agent for a host, a JSON object a line"],
  ["doctor", "what is here, what is missing"],
  ["--help", "everything else"],
];

/** The command with which the user started us. */
function nextSteps(file: string, cwd: string): string {
  const command = basename(file) === "parley" ? "parley" : `node ${relative(cwd, file)}`;
  const rows = NEXT.map(([words, does]): [string, string] => [`${command} ${words}`.trimEnd(), does]);
  const width = Math.max(...rows.map(([line]) => line.length)) + 4;
  const isNarrow = width + Math.max(...rows.map(([, does]) => does.length)) + 2 > (process.stdout.columns || Infinity);
  const shown = rows.map(([line, does]) => (isNarrow ? `  ${line}\n    ${does}\n` : `  ${line.padEnd(width)}${does}\n`));
  return `\nWhat to type next\n${shown.join("")}`;
}
