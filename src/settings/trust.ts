/** The workspaces that the user trusts: PARLEY_HOME/trust.json, `{"trusted": ["/path", …]}`. A trusted folder covers the folders in it. */
import { readFile } from "node:fs/promises";
import { isAbsolute, join, relative, sep } from "node:path";
import * as v from "valibot";
import { messageOf, systemCode } from "../core/errors.js";
import { makeFolder } from "../os/files/folders.js";
import { writeWhole } from "../os/files/whole-file.js";

const TrustFile = v.object({ trusted: v.array(v.string()) });

export interface Trust {
  trusted: boolean;
  /** The place that says so. */
  from: string;
  warnings: string[];
}

/** `workspace` is a real path. An unreadable list trusts nothing. */
export async function readTrust(home: string, workspace: string): Promise<Trust> {
  const from = join(home, "trust.json");
  try {
    const { trusted } = v.parse(TrustFile, JSON.parse(await readFile(from, "utf8")));
    return { trusted: trusted.some((folder) => covers(folder, workspace)), from, warnings: [] };
  } catch (error) {
    const code = systemCode(error);
    const isMissing = code === "ENOENT" || code === "ENOTDIR";
    const warnings = isMissing ? [] : [`${from} cannot be read, so no workspace counts as trusted: ${messageOf(error)}`];
    return { trusted: false, from, warnings };
  }
}

function covers(folder: string, workspace: string): boolean {
  if (!isAbsolute(folder)) return false;
  const inside = relative(folder, workspace);
  return inside === "" || (inside.split(sep)[0] !== ".." && !isAbsolute(inside));
}

/** The trusted workspaces. Throws where the list cannot be read. */
export async function trustedIn(home: string): Promise<string[]> {
  const text = await readFile(fileIn(home), "utf8").catch((error: unknown) => {
    if (systemCode(error) === "ENOENT") return '{"trusted":[]}';
    throw error;
  });
  return v.parse(TrustFile, JSON.parse(text)).trusted;
}

/** Adds a workspace (a real path) to the list, and never overwrites an unreadable list. */
export async function addTrust(home: string, workspace: string): Promise<void> {
  const trusted = await trustedIn(home);
  if (!trusted.includes(workspace)) await write(home, [...trusted, workspace]);
}

/** False where the list does not name this workspace. */
export async function removeTrust(home: string, workspace: string): Promise<boolean> {
  const trusted = await trustedIn(home);
  if (!trusted.includes(workspace)) return false;
  await write(
    home,
    trusted.filter((folder) => folder !== workspace),
  );
  return true;
}

function fileIn(home: string): string {
  return join(home, "trust.json");
}

async function write(home: string, trusted: readonly string[]): Promise<void> {
  makeFolder(home, 0o700);
  await writeWhole(fileIn(home), `${JSON.stringify({ trusted }, null, 2)}\n`);
}
