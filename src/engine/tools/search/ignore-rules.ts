/** Git's ignore files for the search without ripgrep: those of each folder, and of the folders above up to the repository's root. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import type { Ignore } from "ignore";

export interface IgnoreRules {
  /** An absolute path below the start, in a folder that is not ignored itself. */
  ignores(path: string, isFolder: boolean): boolean;
}

/** A search that starts in an ignored folder shows it: rules from above about that folder do not count. */
export async function ignoreRules(start: string): Promise<IgnoreRules> {
  const { default: ignore } = await import("ignore");
  const perFolder = new Map<string, Ignore | null>();

  return { ignores };

  function ignores(path: string, isFolder: boolean): boolean {
    for (let folder = dirname(path); ; folder = dirname(folder)) {
      const name = slashed(folder, path);
      const verdict = rulesOf(folder)?.test(isFolder ? `${name}/` : name);
      // The nearest file with a rule for the path decides.
      if (verdict?.ignored === true || verdict?.unignored === true) return verdict.ignored;
      if (dirname(folder) === folder || existsSync(join(folder, ".git"))) return false;
    }
  }

  function rulesOf(folder: string): Ignore | null {
    let rules = perFolder.get(folder);
    if (rules === undefined) {
      rules = loaded(folder);
      perFolder.set(folder, rules);
    }
    return rules;
  }

  function loaded(folder: string): Ignore | null {
    const text = [".gitignore", ".ignore"].map((name) => readIfThere(join(folder, name))).join("\n");
    if (text.trim() === "") return null;
    const rules = ignore().add(text);
    return isAbove(folder, start) && rules.ignores(`${slashed(folder, start)}/`) ? null : rules;
  }
}

function isAbove(folder: string, path: string): boolean {
  return folder !== path && !relative(folder, path).startsWith("..");
}

function slashed(folder: string, path: string): string {
  return relative(folder, path).split(sep).join("/");
}

/** Synchronous, as the search is; each file is read once. */
function readIfThere(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
