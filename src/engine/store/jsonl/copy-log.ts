/** A copy of a session's log under another name: line by line, as far as it is written, so that nobody need hold the original still. */
import { rename } from "node:fs/promises";
import { parseEntry, writeEntry } from "../entry.js";
import { lostItsEnd } from "./read-log.js";
import { LogFile, readLineBytes } from "../../../os/files/log-file.js";

/** The copy appears all at once, or not at all. */
export async function copyLog(from: string, to: string, as: { id: string; name: string | undefined }): Promise<void> {
  const draft = `${to}.tmp`;
  const file = LogFile.open(draft);
  try {
    file.clear();
    for (const line of readLineBytes(from, 0, lostItsEnd)) file.append(renamed(line, as));
  } finally {
    await file.close();
  }
  await rename(draft, to);
}

/** Only the `opened` lines are written anew; unreadable lines are copied as they are. */
function renamed(line: Buffer, { id, name }: { id: string; name: string | undefined }): string | Buffer {
  const entry = parseEntry(line, 0);
  if (entry.kind !== "opened") return line;
  return writeEntry({ ...entry, id, ...(name !== undefined && { name }) });
}
