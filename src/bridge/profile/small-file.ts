/** Reads a file that a person wrote. Its kind and size are checked first, because a pipe may never end and a device never does. */
import { readFile, stat } from "node:fs/promises";
import { messageOf, ParleyError, systemCode } from "../../core/errors.js";
import { brokenFile } from "./broken-file.js";

/** A larger file was not written by hand. */
const MAX_BYTES = 1024 * 1024;

/** Throws a `config` fault that names the file and calls it `what`. */
export async function readSmallFile(path: string, what: string): Promise<string> {
  try {
    const info = await stat(path);
    if (info.isDirectory()) throw brokenFile([`'${path}' is a folder; a ${what} is a file`]);
    if (!info.isFile()) throw brokenFile([`'${path}' is no ordinary file; a ${what} is one`]);
    if (info.size > MAX_BYTES) throw brokenFile([`${path}: is ${info.size} bytes long; a ${what} may have ${MAX_BYTES}`]);
    return await readFile(path, "utf8");
  } catch (error) {
    if (error instanceof ParleyError) throw error;
    if (systemCode(error) === "ENOENT") throw brokenFile([`There is no ${what} '${path}'`]);
    throw brokenFile([`The ${what} '${path}' cannot be read: ${messageOf(error)}`]);
  }
}
