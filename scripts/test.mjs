// The whole check: what reads the sources and what needs the build side by side, then the tests. The last line is the test runner's own count.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const report = join(mkdtempSync(join(tmpdir(), "parley-report-")), "report.json");

/** Each list in the order in which it fails fastest. */
const SOURCES = [
  ["format", "npm run --silent check:format"],
  ["types", "npm run --silent check:types"],
  ["lint", "npm run --silent check:lint"],
];
const BUILT = [
  ["the build", "npm run --silent build"],
  ["generated docs", "npm run --silent check:docs"],
  ["the site and its links", "npm run --silent docs"],
  ["unused code", "npm run --silent check:unused"],
  ["the package", "npm run --silent check:package"],
];
const TESTS = [["tests", `npx vitest run --reporter=default --reporter=json --outputFile.json=${report}`]];

/** Names of steps. */
const failed = [];
await Promise.all([inOrder(SOURCES), inOrder(BUILT)]);
await inOrder(TESTS, "inherit");

const counts = readCounts();
rmSync(join(report, ".."), { recursive: true, force: true });
if (failed.length > 0) console.log(`\nFailed at: ${failed.join(", ")}`);
console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
process.exitCode = failed.length === 0 ? 0 : 1;

function readCounts() {
  try {
    const { numPassedTests, numFailedTests, numPendingTests, numTodoTests } = JSON.parse(readFileSync(report, "utf8"));
    return { passed: numPassedTests, failed: numFailedTests, skipped: numPendingTests + numTodoTests };
  } catch {
    return { passed: 0, failed: failed.length === 0 ? 0 : 1, skipped: 0 };
  }
}

/** Until one has failed, of whichever list. What runs beside another is shown when it is over. */
async function inOrder(steps, stdio = "pipe") {
  for (const [name, command] of steps) {
    if (failed.length > 0) return;
    if (stdio === "inherit") console.log(`\n— ${name}: ${command}`);
    const { status, output } = await run(command, stdio);
    if (stdio === "pipe") console.log(`\n— ${name}: ${command}\n${output}`.trimEnd());
    if (status !== 0) failed.push(name);
  }
}

async function run(command, stdio) {
  const child = spawn(command, { shell: true, stdio: ["ignore", stdio, stdio] });
  const chunks = [];
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (chunk) => chunks.push(chunk));
  const status = await new Promise((resolve) => child.once("close", resolve));
  return { status, output: Buffer.concat(chunks).toString() };
}
