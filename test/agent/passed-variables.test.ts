import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { scratch } from "../process/harness.js";
import { shellSession } from "./shell-session.js";

const TOKEN = "value-of-the-token-1";
const PASSWORD = "value-of-the-password-2";
const OTHER = "value-of-the-other-3";

const SHOW = 'for name in GITHUB_TOKEN PGPASSWORD OTHER_TOKEN; do eval "value=\\$$name"; echo "$name ${#value} $value"; done';

it("variables that the user's config passes reach commands, and what they hold is masked", async () => {
  const cwd = scratch();
  mkdirSync(join(cwd, ".parley"));
  writeFileSync(join(cwd, ".parley/config.yaml"), "env: { pass: [OTHER_TOKEN] }");
  const { host, turn, results } = await shellSession([SHOW, { text: ["done"] }], {
    cwd,
    config: 'env: { pass: [GITHUB_TOKEN, "PG*"] }',
    env: { GITHUB_TOKEN: TOKEN, PGPASSWORD: PASSWORD, OTHER_TOKEN: OTHER },
    args: ["--auto-approve", "--trust-workspace"],
  });
  await turn();
  expect(results(1)).toEqual([
    `Exit code: 0\nSTDOUT:\nGITHUB_TOKEN ${TOKEN.length} [redacted]\nPGPASSWORD ${PASSWORD.length} [redacted]\nOTHER_TOKEN 0 `,
  ]);
  expect(JSON.stringify(host.events)).not.toContain("value-of-the");
  expect(await host.finish()).toBe(0);
});
