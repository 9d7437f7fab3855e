/** `parley doctor` with the settings of this run: a broken configuration is a finding, and the report continues. */
import { toFault } from "../../core/errors.js";
import type { Loaded } from "../../settings/settings.js";
import { workingFolder } from "../compose/working-folder.js";

export async function doctor(load: () => Promise<Loaded>): Promise<number> {
  const { runDoctor } = await import("./doctor.js");
  const loaded = await load().catch(toFault);
  const { text, ok } = await runDoctor(loaded, process.env, {
    cwd: workingFolder(),
    nodeVersion: process.versions.node,
    stdout: process.stdout,
  });
  process.stdout.write(text);
  return ok ? 0 : 1;
}
