/** Copies a session's log under another name, line by line, as far as it is written; the original may be in use. */
import { rename } from "node:fs/promises";
import { parseEntry, writeEntry } from "../entry.js";
import { isBlank, lostItsEnd } from "./read-log.js";
import { LogFile, readLineBytes } from "../../../os/files/log-file.js";

/** The copy appears all at once or not at all. It has the first `most` entries. */
export async function copyLog(from: string, to: string, as: { id: string; name: string | undefined }, most: number): Promise<void> {
  const draft = `${to}.tmp`;
  const file = LogFile.open(draft);
  try {
    file.clear();
    let count = 0;
    for (const line of readLineBytes(from, 0, lostItsEnd)) {
      if (!isBlank(line) && ++count > most) break;
      file.append(renamed(line, as));
    }
  } finally {
    await file.close();
  }
  await rename(draft, to);
}

/** Only the `opened` lines are rewritten; unreadable lines are copied unchanged. */
function renamed(line: Buffer, { id, name }: { id: string; name: string | undefined }): string | Buffer {
  const entry = parseEntry(line, 0);
  if (entry.kind !== "opened") return line;
  return writeEntry({ ...entry, id, ...(name !== undefined && { name }) });
}
