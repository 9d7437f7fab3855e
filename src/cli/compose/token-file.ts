/** `--token-file`: the tokens that a WebSocket server accepts, or the token that a client sends. Each line is `name:token` or a token. */
import { readFile, stat } from "node:fs/promises";
import { systemReason } from "../../core/errors.js";
import type { Token } from "../../transports/ws-rules.js";
import { text, usage, type Parsed } from "../command-line/flags.js";
import { isOwnerName } from "./owners.js";

/** A shorter token can be guessed, and redaction would skip it. */
const SHORTEST = 8;

/** Skips blank lines, lines that begin with `#`, and blanks around a token. Returns no tokens without the flag. */
export async function readTokens(parsed: Parsed): Promise<Token[]> {
  const file = text(parsed, "token-file");
  if (file === undefined) return [];
  const [content, { mode }] = await Promise.all([readFile(file, "utf8"), stat(file)]).catch((error: unknown) => {
    throw usage(`The token file '${file}' cannot be read: ${systemReason(error)}`);
  });
  if (process.platform !== "win32" && (mode & 0o077) !== 0)
    console.error(`parley: The token file '${file}' can be read or written by other users; 'chmod 600 ${file}' keeps it to you`);
  const tokens: Token[] = [];
  for (const [index, line] of content.split("\n").entries()) {
    if (line.trim() === "" || line.trim().startsWith("#")) continue;
    const token = tokenOf(line.trim());
    const wrong = problemOf(token, tokens);
    if (wrong !== undefined) throw usage(`The token file '${file}', line ${index + 1}: ${wrong}`);
    tokens.push(token);
  }
  if (tokens.length === 0) throw usage(`The token file '${file}' is empty; put a long random text into it`);
  return tokens;
}

/** The token of a client. */
export async function readToken(parsed: Parsed): Promise<string | undefined> {
  const [first, ...more] = await readTokens(parsed);
  if (more.length > 0)
    throw usage(
      `The token file '${text(parsed, "token-file") ?? ""}' holds ${more.length + 1} tokens; a client takes a file with its own alone`,
    );
  return first?.token;
}

function tokenOf(line: string): Token {
  const colon = line.indexOf(":");
  if (colon === -1) return { owner: undefined, token: line };
  return { owner: line.slice(0, colon).trim(), token: line.slice(colon + 1).trim() };
}

/** The message never contains the token itself. */
function problemOf({ owner, token }: Token, before: readonly Token[]): string | undefined {
  if (owner !== undefined && !isOwnerName(owner)) return "before the colon stands no name: 1 to 64 letters, digits, '-' or '_'";
  if (token.length < SHORTEST) return `a token has ${SHORTEST} characters or more`;
  if (before.some((one) => one.token === token)) return "this token is there already";
  if (!before.some((one) => one.owner?.toLowerCase() === owner?.toLowerCase())) return undefined;
  return owner === undefined ? "a second token without a name; write name:token" : `the name '${owner}' is there already`;
}
