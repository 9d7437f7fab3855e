/** The launchers of `parley shims` in a folder of their own, for hosts that look for a program by its name. */
import { join } from "node:path";
import { expect } from "vitest";
import { run, scratch } from "../process/harness.js";

export async function launchers(): Promise<string> {
  const folder = join(scratch(), "bin");
  const { code, stderr } = await run(["shims", folder]);
  expect([code, stderr]).toEqual([0, ""]);
  return folder;
}
