/**
 * The benchmark: Parley beside the floor, on one scripted model, in interleaved repeats. Prints medians and ratios; only ratios of one run
 * compare. It never judges by a time: the exit code is 0 unless something broke.
 *
 * Usage: node bench/run.mjs [--quick] [--only PLAN] [--repeats N] [--json]
 */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { now } from "./clock.mjs";
import { FIGURES, spread, summarize } from "./figures.mjs";
import { startModel } from "./model.mjs";
import { PLANS } from "./plans.mjs";
import { shown, tableOf } from "./report.mjs";
import { NOTES, NOTES_LINES } from "./scenarios.mjs";
import { Session } from "./session.mjs";
import { floorSubject, parleySubject } from "./subjects.mjs";

const REPEATS = 7;
const QUICK_REPEATS = 2;

try {
  await main();
} catch (error) {
  process.stderr.write(`bench: ${error.message}\n`);
  process.exitCode = 1;
}

async function main() {
  const { only, repeats, json } = options();
  checkFloor();
  checkBuild();
  const place = makePlace();
  const model = await startModel(place.env);
  try {
    const subjects = [floorSubject(model.baseUrl), parleySubject(model.baseUrl)];
    const node = [];
    const samples = new Map(subjects.map(({ name }) => [name, []]));
    for (let round = 0; round < repeats; round++) {
      if (process.stderr.isTTY) process.stderr.write(`\rround ${round + 1} of ${repeats} `);
      node.push(await emptyNode(place));
      for (const plan of only) {
        // They take turns in going first, so that neither always meets the machine as the other left it.
        for (const subject of round % 2 === 0 ? subjects : subjects.toReversed()) {
          samples.get(subject.name).push(await measure(plan, subject, model, place));
        }
      }
    }
    if (process.stderr.isTTY) process.stderr.write("\r");
    tell(spread(node), linesOf(samples), repeats, json);
  } finally {
    model.end();
    rmSync(place.root, { recursive: true, force: true });
  }
}

function options() {
  const { values } = parseArgs({
    options: { quick: { type: "boolean" }, only: { type: "string" }, repeats: { type: "string" }, json: { type: "boolean" } },
  });
  const plans = Object.keys(PLANS);
  if (values.only !== undefined && !plans.includes(values.only)) {
    throw new Error(`There is no plan '${values.only}'; there are ${plans.join(", ")}`);
  }
  const repeats = values.repeats === undefined ? (values.quick ? QUICK_REPEATS : REPEATS) : Number(values.repeats);
  if (!Number.isInteger(repeats) || repeats < 1) throw new Error(`--repeats must be a whole number from 1, not '${values.repeats}'`);
  return { only: values.only === undefined ? plans : [values.only], repeats, json: values.json === true };
}

/** Ratios to a floor that moved say nothing. */
function checkFloor() {
  const sum = createHash("sha256")
    .update(readFileSync(new URL("floor.mjs", import.meta.url)))
    .digest("hex");
  const [frozen] = readFileSync(new URL("floor.sha256", import.meta.url), "utf8").split(" ");
  if (sum === frozen) return;
  throw new Error("bench/floor.mjs was changed, but the floor is frozen. Undo the change; how one is made on purpose stands at its head");
}

function checkBuild() {
  if (existsSync(new URL("../dist/parley.js", import.meta.url))) return;
  throw new Error("There is no dist/parley.js to measure. Build it with 'node scripts/build.mjs'");
}

/** A workspace and a home of their own, and an environment in which nothing slows Node down or configures anybody. */
function makePlace() {
  const root = mkdtempSync(join(tmpdir(), "parley-bench-"));
  const [workspace, home] = [join(root, "workspace"), join(root, "home")];
  mkdirSync(workspace);
  mkdirSync(home);
  writeFileSync(join(workspace, NOTES), NOTES_LINES.map((line) => `${line}\n`).join(""));
  return { root, workspace, env: { PATH: process.env.PATH, HOME: home, PARLEY_HOME: join(home, "parley"), LANG: "C.UTF-8" } };
}

async function measure(plan, subject, model, place) {
  await model.timings();
  const session = new Session(subject, place);
  try {
    const figures = await PLANS[plan]({ session, subject, model });
    await session.leave();
    return figures;
  } finally {
    session.kill();
  }
}

function emptyNode(place) {
  const from = now();
  const child = spawn(process.execPath, ["-e", "0"], { env: place.env, stdio: "ignore" });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("exit", () => resolve(now() - from));
  });
}

function linesOf(samples) {
  const measured = FIGURES.filter(({ key }) => samples.get("floor").some((figures) => key in figures));
  return measured.map((figure) => summarize(figure, pick(samples, "floor", figure.key), pick(samples, "parley", figure.key)));
}

function pick(samples, name, key) {
  return samples.get(name).flatMap((figures) => (key in figures ? [figures[key]] : []));
}

function tell(node, lines, repeats, json) {
  const machine = { node: process.version, cores: cpus().length, repeats };
  if (json) return process.stdout.write(`${JSON.stringify({ ...machine, emptyNode: node, figures: lines }, null, 2)}\n`);
  const head = `Node ${process.version.slice(1)}, ${machine.cores} cores, ${repeats} repeats; median (best). node -e 0: ${shown(node)} ms`;
  process.stdout.write(`${head}\n\n${tableOf(lines)}\n`);
}
