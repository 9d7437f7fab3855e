/** Finds ripgrep: the bundled one, else the user's, else none. */
import { access, constants } from "node:fs/promises";
import { delimiter, join } from "node:path";

let search: Promise<string | null> | undefined;

/** The search runs once a process. `PARLEY_RIPGREP` names another ripgrep, or "none". */
export function findRipgrep(): Promise<string | null> {
  const named = process.env["PARLEY_RIPGREP"];
  if (named !== undefined && named !== "") return Promise.resolve(named === "none" ? null : named);
  search ??= bundled().then((path) => path ?? onPath());
  return search;
}

async function bundled(): Promise<string | null> {
  try {
    const { rgPath } = await import("@vscode/ripgrep");
    return (await isExecutable(rgPath)) ? rgPath : null;
  } catch {
    // There is no ripgrep package for this platform.
    return null;
  }
}

async function onPath(): Promise<string | null> {
  const name = process.platform === "win32" ? "rg.exe" : "rg";
  for (const folder of (process.env["PATH"] ?? "").split(delimiter)) {
    if (folder !== "" && (await isExecutable(join(folder, name)))) return join(folder, name);
  }
  return null;
}

function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}
