/** `parley check`: grades an agent by the requirements of its dialect. */
import { mkdir } from "node:fs/promises";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { grade } from "../../check/grade/grade.js";
import type { Candidate } from "../../check/grade/scene.js";
import { summaryOf, textReport } from "../../check/grade/report.js";
import { manifests } from "../../check/requirements/index.js";
import { Redactor } from "../../core/secrets/redact.js";
import { loadDialect } from "../../dialects/index.js";
import { commandFor, withFlags } from "../../host/launch.js";
import type { Env, Loaded } from "../../settings/settings.js";
import { amount, given, list, text, usage, type Parsed } from "../command-line/flags.js";
import { splitWords } from "../../engine/extensions/placeholders.js";

const SECONDS = 30;
const FAILED = 3;

export async function runCheck(parsed: Parsed, load: () => Promise<Loaded>, env: Env): Promise<number> {
  const command = parsed.positionals;
  if (command.length === 0) throw usage("Which agent? parley check --dialect D -- COMMAND…");
  const id = text(parsed, "dialect");
  if (id === undefined) throw usage("Which dialect? parley check --dialect D -- COMMAND…");
  const dialect = await loadDialect(id);
  const manifest = manifests.find((one) => one.dialect === id && one.side === "agent");
  const probes = await manifest?.probes?.();
  if (manifest === undefined || probes === undefined)
    throw usage(`Agents of '${id}' cannot be graded yet; those of ${gradable().join(", ")} can`);
  const only = list(parsed, "only");
  const known = new Set(manifest.requirements.map((requirement) => requirement.id));
  const wrong = only?.find((one) => !known.has(one));
  if (wrong !== undefined) throw usage(`'${id}' has no requirement ${wrong}; it has ${[...known].join(", ")}`);
  const modelFlags = splitWords(text(parsed, "model-flags") ?? "");
  const candidate: Candidate = {
    dialect,
    argv: (flags) => withFlags(commandFor(dialect, command.map(fromHere)), flags),
    modelFlags: (url) => modelFlags.map((word) => word.replaceAll("{url}", url)),
    // The folder of our own program's sessions and settings is in HOME, which is each requirement's own.
    env: { ...env, PARLEY_HOME: undefined },
  };
  const folder = text(parsed, "tape");
  if (folder !== undefined) await mkdir(folder, { recursive: true });
  const loaded = folder === undefined ? undefined : await load();
  const closeTapes: (() => Promise<void>)[] = [];
  const graded = await grade(manifest.requirements, probes, {
    only,
    seconds: amount(parsed, "timeout") ?? SECONDS,
    async candidateFor(name) {
      if (folder === undefined || loaded === undefined) return candidate;
      const { openTape } = await import("../compose/tape.js");
      const tape = await openTape(join(folder, `${name}.jsonl`), { side: "host", dialect: id }, loaded, env);
      closeTapes.push(() => tape.close());
      let count = 0;
      const redactor = new Redactor([]);
      return { ...candidate, taped: (transport) => tape.of(transport, { framing: "json", conn: `agent-${++count}`, redactor }) };
    },
  });
  for (const close of closeTapes) await close();
  if ("notRun" in graded) {
    console.error(`parley: The agent could not be graded: ${graded.notRun}`);
    return 1;
  }
  const { results } = graded;
  const isBad = results.some(
    ({ level, outcome }) => level === "must" && (outcome === "fail" || (given(parsed, "strict") && outcome === "unknown")),
  );
  process.stdout.write(given(parsed, "json") ? jsonReport() : textReport(results));
  return isBad ? FAILED : 0;

  function jsonReport(): string {
    return `${JSON.stringify({ dialect: id, command, summary: summaryOf(results), results }, null, 2)}\n`;
  }
}

function gradable(): string[] {
  return manifests.filter(({ side, probes }) => side === "agent" && probes !== undefined).map(({ dialect }) => dialect);
}

/** The agent is started in other folders: a word that is the path of a file here stays that file. */
function fromHere(word: string): string {
  return /[\\/]/.test(word) && existsSync(word) ? resolve(word) : word;
}
