/** `parley trust`: which folders are trusted, and how the trust is taken back. */
import { mkdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { run, scratch } from "../process/harness.js";

function places() {
  const [home, cwd] = [scratch(), realpathSync(scratch())];
  return { home, cwd, trust: (...args: string[]) => run(["trust", ...args], { cwd, env: { PARLEY_HOME: home } }) };
}

test("trust is listed and taken back, and the workspace's own configuration counts no longer", async () => {
  const { home, cwd, trust } = places();
  mkdirSync(join(cwd, ".parley"));
  writeFileSync(join(cwd, ".parley/config.yaml"), "approval: plan\n");
  expect(await trust("--list")).toMatchObject({ code: 0, stdout: "No folder is trusted.\n" });
  await trust();
  expect(await trust("--list")).toMatchObject({ code: 0, stdout: `${cwd}\n` });
  expect(await trust("--remove")).toMatchObject({ code: 0, stdout: `${cwd} is no longer trusted\n` });
  const { stdout } = await run(["config"], { cwd, env: { PARLEY_HOME: home } });
  expect(stdout).toMatch(/^approval +default/m);
});

test("a folder that is gone can be removed, and one that is not on the list is told", async () => {
  const { cwd, trust } = places();
  const below = join(cwd, "sub");
  mkdirSync(below);
  await trust("sub");
  rmSync(below, { recursive: true });
  expect(await trust("--remove", "sub")).toMatchObject({ code: 0 });
  expect(await trust("--remove", "sub")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("is not on the list of trusted folders;"),
  });
  mkdirSync(below);
  await trust();
  expect(await trust("--remove", "sub")).toMatchObject({ code: 1, stderr: expect.stringContaining("but a folder above it is") });
});

test("--list stands alone, and a list that cannot be read is told", async () => {
  const { home, trust } = places();
  expect(await trust("--list", "--remove")).toMatchObject({ code: 2 });
  writeFileSync(join(home, "trust.json"), "{");
  expect(await trust("--list")).toMatchObject({ code: 1, stderr: expect.stringContaining("The trusted folders could not be read") });
});
