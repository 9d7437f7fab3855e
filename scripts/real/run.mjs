// `npm run real [-- NAME… [--cache DIR] [--report FILE]]`: installs pinned real programs into a cache, plays the scenes against each with a
// scripted model on loopback, prints a table, and keeps the results in scripts/real/report.json, from which docs/agents.md is made.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { install } from "./install.mjs";
import { startModelServer } from "./model-server.mjs";
import { agents, hosts } from "./programs.mjs";
import { playAgent, playHost, SCENES } from "./scenes.mjs";

const DEFAULT_CACHE = join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "parley", "real");
const PARLEY = join(import.meta.dirname, "../../dist/parley.js");
const REPORT = join(import.meta.dirname, "report.json");
const known = [...agents, ...hosts].map(({ name }) => name);

const { names, cache, file } = asked();
const server = await startModelServer();
const results = {};
for (const program of agents) if (names.includes(program.name)) results[program.name] = await played(program, inAgent);
for (const program of hosts) if (names.includes(program.name)) results[program.name] = await played(program, inHost);
server.close();

const kept = { ...before(), ...results };
writeFileSync(
  file,
  `${JSON.stringify(Object.fromEntries(known.flatMap((name) => (name in kept ? [[name, kept[name]]] : []))), undefined, 2)}\n`,
);
console.log(table());
console.log(`\nKept in ${file}; node scripts/docs.mjs writes docs/agents.md from it.`);
const isRight = ({ problem, scenes = {} }) => problem === undefined && Object.values(scenes).every((result) => result === "works");
process.exitCode = Object.values(results).every(isRight) ? 0 : 1;

function asked() {
  try {
    const options = { cache: { type: "string", default: DEFAULT_CACHE }, report: { type: "string", default: REPORT } };
    const { values, positionals } = parseArgs({ options, allowPositionals: true });
    const unknown = positionals.find((name) => !known.includes(name));
    if (unknown !== undefined) throw new Error(`There is no program '${unknown}': ${known.join(", ")}`);
    return { names: positionals.length === 0 ? known : positionals, cache: values.cache, file: values.report };
  } catch (error) {
    console.error(error.message);
    process.exit(2);
  }
}

/** The results of earlier runs, of which this one replaces its own. */
function before() {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return {};
  }
}

async function played(program, play) {
  const { package: pack, version } = program;
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "parley-real-")));
  try {
    const place = await install(program, cache);
    const [home, workspace] = ["home", "workspace"].map((name) => join(folder, name));
    for (const each of [home, workspace]) mkdirSync(each);
    const at = { ...place, url: server.url, home };
    for (const [name, text] of Object.entries(program.files?.(at) ?? {})) {
      mkdirSync(dirname(join(home, name)), { recursive: true });
      writeFileSync(join(home, name), text);
    }
    // Nothing of the user's own environment: no key, no configuration.
    const own = { XDG_CONFIG_HOME: join(home, ".config"), XDG_DATA_HOME: join(home, ".local/share"), XDG_CACHE_HOME: join(home, ".cache") };
    const env = { PATH: place.path, HOME: home, LANG: "C.UTF-8", TERM: "dumb", ...own, ...program.env?.(at) };
    return {
      package: pack,
      version,
      ...(await play(program, { at, env, home, workspace, url: server.url, saw: server.saw, pidFile: join(folder, "pid") })),
    };
  } catch (error) {
    console.error(`${program.name}: ${error.message}`);
    return { package: pack, version, problem: error.message };
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
}

function inAgent(program, { at, ...started }) {
  return playAgent(program, { ...started, argv: program.command(at) });
}

function inHost(program, { at: { folder: place, path }, ...started }) {
  const shims = join(started.home, "shims");
  execFileSync(process.execPath, [PARLEY, "shims", shims], { env: started.env });
  return playHost(program, { ...started, folder: place, path, shims });
}

function table() {
  const rows = Object.entries(results).map(([name, { version, problem, scenes = {} }]) => [
    `${name} ${version}`,
    ...(problem === undefined ? SCENES.map((scene) => cell(scenes[scene])) : [problem]),
  ]);
  const all = [["", ...SCENES], ...rows];
  const widths = SCENES.map((_, at) => Math.max(...all.map((row) => (row.length === 2 && at > 0 ? 0 : (row[at] ?? "").length))));
  return all
    .map((row) =>
      row
        .map((text, at) => text.padEnd(widths[at] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

/** A host is not relayed. */
function cell(result) {
  if (result === undefined) return "–";
  return result === "works" ? "works" : "FAILS";
}
