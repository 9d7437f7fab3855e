// Grows commands for the shell policy, runs whatever it allows behind bubblewrap, and tells each wrong allow:
// node scripts/grow-corpus.mjs [--seed N] [--count N]
import { spawnSync } from "node:child_process";
import { parseArgs } from "node:util";

const { values } = parseArgs({ options: { seed: { type: "string", default: "1" }, count: { type: "string", default: "5000" } } });
const env = { ...process.env, PARLEY_CORPUS_SEED: values.seed, PARLEY_CORPUS_COUNT: values.count };
const { status } = spawnSync("npx", ["vitest", "run", "test/permissions/corpus.test.ts"], { stdio: "inherit", env });
process.exitCode = status ?? 1;
