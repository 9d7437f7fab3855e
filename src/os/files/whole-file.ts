/** Small files that are written whole or not at all, readable by their owner alone. */
import { rename, rm, writeFile } from "node:fs/promises";
import { mintId } from "../../core/ids.js";

/** Rejects if the file cannot be written; the old content is then still there. */
export async function writeWhole(file: string, text: string): Promise<void> {
  const draft = `${file}.${mintId()}.tmp`;
  try {
    await writeFile(draft, text, { mode: 0o600, flag: "wx", flush: true });
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}
