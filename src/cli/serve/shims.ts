/** `parley shims DIR`: launchers under the names that hosts look for. */
import { chmod, readFile, realpath, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { ParleyError, systemCode, systemReason } from "../../core/errors.js";
import { makeFolder } from "../../os/files/folders.js";
import { usage } from "../command-line/flags.js";
import { programNames } from "../command-line/host-program.js";

/** The mark by which we recognise a launcher of ours. */
const MARK = "// Written by parley shims";

export async function writeShims(folder: string, program: string, node: string): Promise<string> {
  const dir = resolve(folder);
  const target = await realpath(program);
  try {
    makeFolder(dir);
    for (const name of programNames) await refuseForeign(join(dir, name));
    for (const name of programNames) await writeLauncher(join(dir, name), target, node);
  } catch (error) {
    if (error instanceof ParleyError) throw error;
    const message = `The launchers could not be written to ${dir}: ${systemReason(error)}. Choose another folder`;
    throw new ParleyError({ code: "config", message, retryable: false }, { cause: error });
  }
  return `${programNames.map((name) => join(dir, name)).join("\n")}\nPut ${dir} first in PATH, or give a host one of these paths.\n`;
}

/** Writes a script of Node, which tells the program its name. The script names this Node, wherever the host's PATH points. */
async function writeLauncher(path: string, target: string, node: string): Promise<void> {
  const interpreter = /\s/.test(node) ? "/usr/bin/env node" : node;
  const program = JSON.stringify(target);
  // The folder decides which kind of module the launcher is, and `import()` takes no path with a backslash.
  const load = `process.getBuiltinModule("node:module").createRequire(${program})(${program});`;
  await writeFile(path, `#!${interpreter}\n${MARK}.\n${load}\n`);
  await chmod(path, 0o755);
  if (process.platform === "win32") await writeFile(`${path}.cmd`, `@"${node}" "%~dpn0" %*\r\n`);
}

/** Refuses to overwrite another program. */
async function refuseForeign(path: string): Promise<void> {
  const text = await readFile(path, "latin1").catch((error: unknown) => {
    if (systemCode(error) === "ENOENT") return undefined;
    throw error;
  });
  if (text !== undefined && !text.includes(MARK))
    throw usage(`${path} is not a launcher of ours; it was left as it is. Choose another folder`);
}
