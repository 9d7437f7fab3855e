/** JSON on a command line, or in a file that it names. */
import * as v from "valibot";

/** Throws the first problem, with the place where it is. */
export function readJson<S extends v.GenericSchema>(schema: S, json: string): v.InferOutput<S> {
  const read = v.safeParse(v.pipe(v.string(), v.parseJson(), schema), json);
  if (read.success) return read.output;
  const [issue] = read.issues;
  const path = v.getDotPath(issue);
  throw new Error(path === null ? issue.message : `${path}: ${issue.message}`);
}
