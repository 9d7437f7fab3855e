/** The profiles of the package, by name. */
import { existsSync, statSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { ParleyError } from "../../core/errors.js";
import { loadProfile, type LoadedProfile } from "./file.js";
import type { Wire } from "./profile.js";

/** Finds a file, else a ready-made profile of that name. Throws a `config` fault. */
export async function findProfile(nameOrFile: string, wire?: Wire): Promise<LoadedProfile> {
  if (isOrdinaryFile(nameOrFile) || nameOrFile.includes("/")) return loadProfile(nameOrFile, wire);
  const names = await readyMadeNames();
  if (names.includes(nameOrFile)) return readyMade(nameOrFile, wire);
  if (existsSync(nameOrFile)) return loadProfile(nameOrFile, wire);
  const message = `There is no profile '${nameOrFile}': no such file, and none of the ready-made ones (${names.join(", ")})`;
  throw new ParleyError({ code: "config", message, retryable: false });
}

/** A path that cannot be looked at is no file, such as a path below a file. */
function isOrdinaryFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** The names of the profiles that come along. */
export async function readyMadeNames(): Promise<string[]> {
  const files = await readdir(folder());
  return files.flatMap((file) => (file.endsWith(".yaml") ? [file.slice(0, -".yaml".length)] : [])).sort();
}

/** The profile's id is its name, so that sessions survive an update of the package. */
export async function readyMade(name: string, wire?: Wire): Promise<LoadedProfile> {
  const { profile, ...found } = await loadProfile(join(folder(), `${name}.yaml`), wire);
  return { profile: { ...profile, id: `ready-made ${name}` }, ...found };
}

/** The folder lies beside this file in the sources, and beside this file's folder in the package. */
function folder(): string {
  const beside = join(import.meta.dirname, "profiles");
  return existsSync(beside) ? beside : join(import.meta.dirname, "..", "profiles");
}
