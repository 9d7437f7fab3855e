/** Small files that are there as a whole or not at all, for their owner's eyes only. */
import { rename, rm, writeFile } from "node:fs/promises";
import { mintId } from "../../core/ids.js";

/** Rejects when the file cannot be written; then the old content is still there, and nothing else. */
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
