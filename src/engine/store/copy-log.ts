/** A copy of a session's log under another name: line by line, as far as it is written, so that nobody need hold the original still. */
import { rename } from "node:fs/promises";
import { parseEntry, type Entry } from "./entry.js";
import { LogFile, readLines } from "../../os/log-file.js";

/** There all at once, or not at all. */
export async function copyLog(from: string, to: string, as: { id: string; name: string | undefined }): Promise<void> {
  const draft = `${to}.tmp`;
  const file = LogFile.open(draft);
  try {
    file.clear();
    for (const line of readLines(from, 0)) file.append(renamed(line, as));
  } finally {
    await file.close();
  }
  await rename(draft, to);
}

/** Only the lines that say whose log it is are written anew; what cannot be read is copied as it is. */
function renamed(line: string, { id, name }: { id: string; name: string | undefined }): string {
  const entry = parseEntry(line);
  if (entry.kind !== "opened") return line;
  return JSON.stringify({ ...entry, id, ...(name !== undefined && { name }) } satisfies Entry);
}
