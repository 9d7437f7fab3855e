/**
 * The long run of test/torture: kills at every step, faults of the disk, and texts that are nearly right by the million. Prints what was
 * tried how often; `--write` keeps the figures in docs/reliability.md. `npm test` runs a little of the same.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";

const PAGE = "docs/reliability.md";
const [BEGIN, END] = ["<!-- figures: npm run torture -- --write -->", "<!-- end of figures -->"];
/** The longest that one test of the long run may take. */
const TEST_MS = 3_600_000;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { seed: { type: "string", default: "1" }, short: { type: "boolean" }, write: { type: "boolean" }, help: { type: "boolean" } },
});
if (values.help) {
  console.log("npm run torture -- [--seed N] [--short] [--write] [FILE…]");
  process.exit(0);
}
if (!/^\d+$/.test(values.seed)) {
  console.error(`--seed is a whole number, not '${values.seed}'`);
  process.exit(2);
}

const folder = mkdtempSync(join(tmpdir(), "parley-torture-"));
const file = join(folder, "report.jsonl");
writeFileSync(file, "");
const env = {
  ...process.env,
  PARLEY_TORTURE: values.short ? "short" : "long",
  PARLEY_TORTURE_SEED: values.seed,
  PARLEY_TORTURE_REPORT: file,
};
const args = ["vitest", "run", "--testTimeout", String(TEST_MS), ...(positionals.length > 0 ? positionals : ["test/torture"])];
const { status } = spawnSync("npx", args, { env, stdio: "inherit" });

const table = tableOf(readFileSync(file, "utf8"));
rmSync(folder, { recursive: true });
console.log(`\n${table}`);
if (values.write && status === 0) {
  const page = readFileSync(PAGE, "utf8");
  const [from, to] = [page.indexOf(BEGIN) + BEGIN.length, page.indexOf(END)];
  const how = `Seed ${values.seed}, Node ${process.versions.node}, ${new Date().toISOString().slice(0, 10)}.`;
  writeFileSync(PAGE, `${page.slice(0, from)}\n\n${how}\n\n${table}\n\n${page.slice(to)}`);
}
process.exitCode = status ?? 1;

/** Equal names are added up; words stay as they are. */
function tableOf(lines) {
  const figures = new Map();
  for (const line of lines.split("\n").filter(Boolean)) {
    const { name, figures: told } = JSON.parse(line);
    const known = figures.get(name) ?? new Map();
    figures.set(name, known);
    for (const [what, value] of Object.entries(told)) {
      known.set(what, typeof value === "number" && typeof known.get(what) === "number" ? known.get(what) + value : value);
    }
  }
  const rows = [...figures].toSorted(([one], [other]) => one.localeCompare(other)).flatMap(([name, known]) => rowsOf(name, known));
  return ["| what | how often |", "|---|---|", ...rows].join("\n");
}

function rowsOf(name, known) {
  const total = [...known.values()].every((value) => typeof value === "number")
    ? [...known.values()].reduce((sum, value) => sum + value, 0).toLocaleString("en")
    : "";
  const details = [...known].map(([what, value]) => `${what} ${value.toLocaleString("en")}`).join(", ");
  return [`| ${name} | ${total === "" ? details : `${total}: ${details}`} |`];
}
