// Writes docs/vocabulary.md from the published schemas, the tables of docs/relay.md from what each dialect covers, the table of commands in
// docs/extensions.md from what a session tells, the tables of docs/configuration.md from the table of settings, docs/api.md from the
// comments of what the package exports, docs/agents.md from what real programs did, and docs/models.md from what the provider tests found;
// --check only tells whether they are up to date, all but the last, which those tests check themselves.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { rolldown } from "rolldown";
import * as v from "valibot";
import { apiPage } from "./api-docs.mjs";
import { agentsPage } from "./real/page.mjs";
import { SCENES } from "./real/scenes.mjs";

/** The words to avoid for a word of the vocabulary. */
const AVOIDED = {
  "session.open": "start, create",
  "session.configure": "update, set",
  "session.seed": "history, context",
  "session.close": "stop, kill",
  "session.watch": "subscribe",
  "session.rewind": "undo, revert",
  "session.delete": "remove",
  "session.mark": "rename, archive, label",
  "provider.set": "register",
  "turn.prompt": "message, input, query",
  "turn.steer": "interject",
  "turn.interrupt": "stop, cancel, abort",
  "approval.answer": "permission",
  "host.answer": "callback",
  "command.suggest": "complete, hint",
  ping: "heartbeat",
  shutdown: "exit, quit",
  other: "unknown, raw",
  "session.ready": "init, started",
  "session.updated": "config_changed",
  "session.changed": "session_status",
  closed: "goodbye",
  "turn.started": "stream_start",
  "turn.ended": "finish, result",
  "text.delta": "chunk, token",
  "text.done": "message",
  "thinking.delta": "thought, reasoning",
  "tool.requested": "tool_use, tool_call",
  "tool.started": "tool_running",
  "tool.progress": "update, chunk",
  "tool.ended": "tool_result",
  "approval.requested": "permission, confirm",
  "approval.settled": "permission_resolved",
  "host.request": "callback",
  usage: "cost, stats",
  compaction: "compress",
  notice: "info, log",
  "catalog.updated": "extensions",
  reply: "ack, response",
};

const FILE = "docs/vocabulary.md";
const schema = JSON.parse(execFileSync(process.execPath, ["dist/parley.js", "schema", "native"], { encoding: "utf8", maxBuffer: 1 << 26 }));
const META = new Set(["type", "at", "seq", "id", "parent", "session", "turn", "under", "replay", "ext"]);
const OP_META = new Set([...META, "key", "by"]);

const page = `# The vocabulary

Generated from the schemas by \`node scripts/docs.mjs\`; the whole of it as JSON Schema: \`parley schema native\`.

Every op and event may also carry \`id\` (ops), \`at\` and \`seq\` (events; stamped by whoever makes them), \`parent\` (the op that an event answers), \`session\`, \`turn\` (turn-scoped events only), \`under\` (the Spawn call it belongs to), \`replay\` and \`ext\` (what only one dialect says, by dialect). An op may also carry \`key\`, and is then taken once however often it is said, and \`by\`, the client that a hub got it from: the hub sets \`by\`, and it is believed of nobody else. Unknown fields are kept; an unknown op is refused by name, an unknown event becomes \`other\`.

## Ops: host to agent

${table(schema.definitions.op, OP_META)}

## Events: agent to host

${table(schema.definitions.event, META)}

## Shapes

Ops and events share these. \`parley schema native\` has them below \`$defs\`, with every key of every op and event explained.

${shapes(schema.$defs)}

## Grammar

1. \`session.ready\` before any turn.
2. Exactly one \`turn.ended\` per \`turn.started\`; turns of a session do not nest.
3. A \`*.done\` closes each block (keyed by turn and \`under\`) with its whole text; \`streamed\` says that deltas went out.
4. \`tool.requested\` precedes every mention of a call but \`tool.delta\`; exactly one \`tool.ended\` per call, before its \`turn.ended\`.
5. A call in an open \`approval.requested\` does not start until answered, here or, as \`approval.settled\` tells, by another host. A yes may come before the question: a wire may ask about one call at a time.
6. \`turn.ended.usage\` is present whenever usage was reported.
7. \`closed\` is last on the connection.
`;

/** What becomes of an op that an agent's protocol does not have, or has only in part. */
const OP_GAPS = {
  "session.open":
    "Left out, and a notice says what; what would restrict the agent (a mode, deny and ask rules, tool lists, budgets) or make it another session (a fork, another agent, directories) is refused.",
  "turn.prompt":
    "Left out, and a notice says what; a prompt with calls, one that continues, or one that is nothing but a command is refused.",
  "session.configure": "Refused as a whole: a reply and a notice.",
  "session.close": "Its process is ended.",
  "session.seed": "Refused: a reply and a notice.",
  "session.list": "Refused.",
  "session.watch": "Refused.",
  "session.rewind": "Refused.",
  "session.delete": "Refused.",
  "session.mark": "Refused.",
  "provider.set": "Refused.",
  "turn.steer": "Waits and becomes the next prompt; idle it changes nothing.",
  "approval.answer": "Wider grants are kept by the relay; changed arguments become a denial that says so.",
  "host.answer": "Refused.",
  "command.suggest": "Refused.",
  ping: "Answered by the relay.",
  shutdown: "Open and queued turns end, then its input does; at once: the turn is interrupted and the process ended.",
  other: "Refused.",
};

/** What becomes of an event that a host's protocol does not have, or has only in part. */
const EVENT_GAPS = {
  "session.ready": "The host knows nothing of it; for a driven agent that tells none, the dialect makes it up.",
  "turn.started": "The host knows: it has just asked; for a driven agent that tells none, the dialect makes it up.",
  "thinking.delta": "Lost; where the wire has whole thoughts, the whole one follows.",
  "tool.ended": "Lost; the answer tells what came of it.",
  "approval.requested": "Denied with the reason, or allowed with `--allow-unheard`.",
  "approval.settled": "The host sees the call start or end.",
  notice: "Lost, unless the host asks for what a terminal shows; people read it on stderr.",
  error: "What does not end the turn is lost.",
  "session.updated": "Lost.",
  "session.ended": "The host sees the end of the process.",
  "session.changed": "Lost.",
  closed: "The host sees the end of the process.",
  "text.done": "The pieces were enough.",
  "thinking.done": "The pieces were enough.",
  "user.message": "Lost.",
  "tool.requested": "Told with the approval or the start.",
  "tool.delta": "Lost; the whole arguments follow.",
  "tool.started": "It is the first progress of its call.",
  "tool.progress": "Lost; the whole output follows.",
  "host.request": "Answered by the relay with an error.",
  "host.settled": "Lost.",
  usage: "The sum comes with the end of the turn.",
  compaction: "Lost.",
  "catalog.updated": "Lost; for a driven agent that tells none, the relay tells an empty one.",
  reply: "Only failures are told.",
  other: "Lost.",
};

const { dialectIds, loadDialect } = await import("../dist/lib/dialects.js");
const dialects = await Promise.all(dialectIds.map(loadDialect));
const coverage = `### Ops, by the agent's dialect

${lossTable(schema.definitions.op, OP_GAPS)}

### Events, by the host's dialect

${lossTable(schema.definitions.event, EVENT_GAPS)}
`;
const relay = filled("docs/relay.md", "coverage", coverage);
const configuration = filled("docs/configuration.md", "settings", await settingTables());
const extensions = filled("docs/extensions.md", "commands", commandTable());

for (const [file, text] of [
  [FILE, page],
  ["docs/relay.md", relay],
  ["docs/extensions.md", extensions],
  ["docs/configuration.md", configuration],
  ["docs/api.md", apiPage()],
  ["docs/agents.md", agentsPage(JSON.parse(readFileSync("scripts/real/report.json", "utf8")), SCENES)],
]) {
  if (!process.argv.includes("--check")) writeFileSync(file, text);
  else if (readFileSync(file, "utf8") !== text) {
    console.error(`${file} is not up to date: run node scripts/docs.mjs`);
    process.exitCode = 1;
  }
}

if (!process.argv.includes("--check")) {
  const env = { ...process.env, PARLEY_DOCS: "write" };
  execFileSync("npx", ["vitest", "run", "test/providers/every.test.ts"], { stdio: "inherit", env });
}

/** The page with this between its two marks. */
function filled(file, mark, text) {
  const between = new RegExp(`(?<=<!-- ${mark} -->\\n)[^]*(?=<!-- /${mark} -->)`);
  return readFileSync(file, "utf8").replace(between, () => `\n${text}\n`);
}

/** The rows of src/settings/table.ts, and the variables of the providers. */
async function settingTables() {
  const { ROWS, SWITCH_ROWS, LISTS } = await source("src/settings/table.ts");
  const { PROVIDERS } = await source("src/core/providers/providers.ts");
  const cell = (text) => (text === undefined || text === "" ? "–" : text.replaceAll("|", "\\|"));
  const code = (text) => (text === undefined ? undefined : `\`${text}\``);
  const rows = (lines) => lines.map((cells) => `| ${cells.map(cell).join(" | ")} |`).join("\n");
  const flagOf = (flag) =>
    flag === undefined
      ? undefined
      : [
          ...(flag.short === undefined ? [] : [`-${flag.short}`]),
          `--${flag.name}`,
          ...(flag.alias === undefined ? [] : [`--${flag.alias}`]),
        ]
          .map((name, at, all) => code(at === all.length - 1 && flag.value !== undefined ? `${name} ${flag.value}` : name))
          .join(", ");
  const meaning = ({ doc, userOnly }) => (userOnly ? `${doc} (*yours only*)` : doc);
  const presetOf = ({ preset, variable }) => (preset === undefined ? variable && "the provider's variable" : code(String(preset)));
  const mayBe = ({ schema }) => v.safeParse(schema, undefined).issues[0].message.replace(/^be (one of )?/, "");
  return `## Keys

| key | value | default | flag | session key | meaning |
|---|---|---|---|---|---|
${rows(
  ROWS.filter(([, { file }]) => file !== undefined).map(([, row]) => [
    code(row.file),
    mayBe(row),
    presetOf(row),
    flagOf(row.flag),
    code(row.session),
    meaning(row),
  ]),
)}

## Lists and mappings

| key | meaning |
|---|---|
${rows(Object.entries(LISTS).map(([key, row]) => [code(key), meaning(row)]))}

## Flags without a key

| flag | sets | meaning |
|---|---|---|
${rows([
  ...ROWS.filter(([, { file }]) => file === undefined).map(([, row]) => [
    flagOf(row.flag),
    row.session === undefined ? undefined : `session key ${code(row.session)}`,
    row.doc,
  ]),
  ...SWITCH_ROWS.map(([, row]) => [
    flagOf(row),
    row.sets && `\`${ROWS.find(([key]) => key === row.sets[0])[1].file}: ${row.sets[1]}\``,
    row.doc,
  ]),
])}

## Variables of the providers

| provider | key | base URL |
|---|---|---|
${rows(
  Object.entries(PROVIDERS)
    .filter(([, { keyVariable, baseUrlVariable }]) => keyVariable ?? baseUrlVariable)
    .map(([name, { keyVariable, otherKeyVariables = [], baseUrlVariable }]) => [
      code(name),
      [keyVariable, ...otherKeyVariables].filter(Boolean).map(code).join(", "),
      code(baseUrlVariable),
    ]),
)}
`;
}

/** The exports of one of our sources. */
async function source(path) {
  const folder = mkdtempSync(join(tmpdir(), "parley-docs-"));
  const build = await rolldown({ input: path, platform: "node", resolve: { extensionAlias: { ".js": [".ts", ".js"] } } });
  const { output } = await build.write({ dir: folder, format: "esm", entryFileNames: "source.mjs" });
  await build.close();
  const exports = await import(pathToFileURL(join(folder, output[0].fileName)).href);
  rmSync(folder, { recursive: true });
  return exports;
}

/** Out of the catalogue of a session in a home where nobody has anything of their own. */
function commandTable() {
  const home = join(tmpdir(), "parley-docs-nobody");
  const ops = [
    { type: "session.open", session: "s", open: "new" },
    { type: "turn.prompt", session: "s", parts: [], command: { name: "help" } },
  ];
  const told = execFileSync(
    process.execPath,
    ["dist/parley.js", "serve", "--dialect", "native", "--provider", "rehearsal", "--no-session"],
    {
      encoding: "utf8",
      input: ops.map((op) => `${JSON.stringify(op)}\n`).join(""),
      env: { PATH: process.env.PATH, HOME: home, PARLEY_HOME: home },
    },
  );
  const events = told.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line)]));
  const { commands } = events.find(({ type }) => type === "catalog.updated");
  const rows = commands
    .filter(({ source }) => source === "builtin")
    .map(({ name, aliases = [], argumentHint = "", description }) => {
      const names = [name, ...aliases].map((each) => `\`/${each}\``).join(", ");
      return `| ${names} | ${argumentHint === "" ? "–" : `\`${argumentHint.replaceAll("|", "\\|")}\``} | ${description} |`;
    });
  return ["| command | arguments | |", "|---|---|---|", ...rows, ""].join("\n");
}

function lossTable({ oneOf }, gaps) {
  const types = oneOf
    .map(({ properties }) => properties.type.const)
    .filter((type) => dialects.some((dialect) => dialect.coverage[type] !== "exact"));
  const rows = types.map((type) => {
    if (gaps[type] === undefined)
      throw new Error(`scripts/docs.mjs does not say what becomes of ${type} where a dialect does not cover it`);
    return `| \`${type}\` | ${dialects.map((dialect) => covered(dialect.coverage[type])).join(" | ")} | ${gaps[type]} |`;
  });
  const head = `| | ${dialects.map(({ id }) => id).join(" | ")} | elsewhere |`;
  return [head, `|---|${dialects.map(() => "---|").join("")}---|`, ...rows].join("\n");
}

function covered(covers) {
  if (covers === "exact") return "yes";
  return covers === "none" ? "–" : `only ${covers.only.join(", ")}`;
}

function table({ oneOf }, meta) {
  const rows = oneOf.map(({ description, properties, required = [] }) => {
    const name = properties.type.const;
    const fields = Object.entries(properties)
      .filter(([key]) => !meta.has(key) || (key === "turn" && required.includes(key)))
      .map(([key, value]) => `\`${key}${required.includes(key) ? "" : "?"}\`${values(value)}`);
    return `| \`${name}\` | ${description} | ${fields.join(", ") || "–"} | ${AVOIDED[name] ?? "–"} |`;
  });
  return ["| word | meaning | fields | not |", "|---|---|---|---|", ...rows].join("\n");
}

function shapes(defs) {
  const tables = Object.entries(defs).flatMap(([name, { description, ...shape }]) => {
    if (name === "Meta") return [];
    const all = [shape, ...(shape.oneOf ?? shape.anyOf ?? [])].flatMap(({ properties = {}, required = [] }) =>
      Object.entries(properties).map(([key, value]) => [key, value, required]),
    );
    const rows = new Map(
      all.map(([key, value, required]) => [
        key,
        `| \`${key}${required.includes(key) ? "" : "?"}\` | ${value.description}${values(value)} |`,
      ]),
    );
    return [`### ${name}\n\n${description}\n\n| key | |\n|---|---|\n${[...rows.values()].join("\n")}`];
  });
  return tables.join("\n\n");
}

function values({ enum: options }) {
  return options === undefined ? "" : ` (${options.join(", ")})`;
}
