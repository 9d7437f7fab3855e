// The whole check, in the order in which it fails fastest. The last line is the test runner's own count.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const report = join(mkdtempSync(join(tmpdir(), "parley-report-")), "report.json");

const steps = [
  ["the build", "npm run --silent build"],
  ["types", "npm run --silent check:types"],
  ["lint", "npm run --silent check:lint"],
  ["format", "npm run --silent check:format"],
  ["unused code", "npm run --silent check:unused"],
  ["generated docs", "npm run --silent check:docs"],
  ["the package", "npm run --silent check:package"],
  ["tests", `npx vitest run --reporter=default --reporter=json --outputFile.json=${report}`],
];

let failed;
for (const [name, command] of steps) {
  console.log(`\n— ${name}: ${command}`);
  const { status } = spawnSync(command, { shell: true, stdio: "inherit" });
  if (status === 0) continue;
  failed = name;
  break;
}

const counts = readCounts();
rmSync(join(report, ".."), { recursive: true, force: true });
if (failed !== undefined) console.log(`\nFailed at: ${failed}`);
console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
process.exitCode = failed === undefined ? 0 : 1;

function readCounts() {
  try {
    const { numPassedTests, numFailedTests, numPendingTests, numTodoTests } = JSON.parse(readFileSync(report, "utf8"));
    return { passed: numPassedTests, failed: numFailedTests, skipped: numPendingTests + numTodoTests };
  } catch {
    return { passed: 0, failed: failed === undefined ? 0 : 1, skipped: 0 };
  }
}
