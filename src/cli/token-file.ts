/** `--token-file`: the token that a WebSocket asks for, or is asked for. */
import { readFile } from "node:fs/promises";
import { systemReason } from "../core/errors.js";
import { text, usage, type Parsed } from "./flags.js";

/** Its first line; blanks around it do not count. */
export async function readToken(parsed: Parsed): Promise<string | undefined> {
  const file = text(parsed, "token-file");
  if (file === undefined) return undefined;
  const content = await readFile(file, "utf8").catch((error: unknown) => {
    throw usage(`The token file '${file}' cannot be read: ${systemReason(error)}`);
  });
  const token = content.trim().split("\n")[0]?.trim() ?? "";
  if (token === "") throw usage(`The token file '${file}' is empty; put a long random text into it`);
  return token;
}
