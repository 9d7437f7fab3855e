/** How a session is listed: the name that it was given later, and whether it is archived. A file beside its log, so an open session can be marked, too. */
import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as v from "valibot";
import type { SessionMarks } from "../store.js";

const FILE = "marks.json";

const Marks = v.looseObject({ name: v.optional(v.string()), archived: v.optional(v.boolean()) });

/** None where the file is missing or damaged: the log alone tells the session then. */
export async function readMarks(folder: string): Promise<SessionMarks> {
  const text = await readFile(join(folder, FILE), "utf8").catch(() => "{}");
  const read = v.safeParse(v.pipe(v.string(), v.parseJson(), Marks), text);
  if (!read.success) return {};
  const { name, archived } = read.output;
  return { ...(name !== undefined && { name }), ...(archived !== undefined && { archived }) };
}

/** Adds to the marks that are there. */
export async function writeMarks(folder: string, marks: SessionMarks): Promise<void> {
  const draft = join(folder, `${FILE}.${process.pid}`);
  await writeFile(draft, JSON.stringify({ ...(await readMarks(folder)), ...marks }), { mode: 0o600 });
  await rename(draft, join(folder, FILE));
}
