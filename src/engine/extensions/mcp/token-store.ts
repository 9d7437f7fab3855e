/**
 * Tokens from logins to servers: PARLEY_HOME/mcp-auth/HASH.json, one file a server, for the user's eyes only. The hash is of the address,
 * so that a token never goes to another server that took over a name.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import * as v from "valibot";
import type { Redactor } from "../../../core/secrets/redact.js";
import { digest } from "../../../os/digest.js";
import { makeFolder } from "../../../os/files/folders.js";
import { writeWhole } from "../../../os/files/whole-file.js";

const Tokens = v.looseObject({
  access_token: v.string(),
  token_type: v.string(),
  refresh_token: v.optional(v.string()),
  expires_in: v.optional(v.number()),
  scope: v.optional(v.string()),
  issuer: v.optional(v.string()),
});

const Registration = v.looseObject({
  client_id: v.string(),
  client_secret: v.optional(v.string()),
  redirect_uris: v.optional(v.array(v.string())),
  issuer: v.optional(v.string()),
});

const Login = v.object({ url: v.string(), tokens: v.optional(Tokens), client: v.optional(Registration) });
export type Login = v.InferOutput<typeof Login>;

export class TokenStore {
  readonly #folder: string;
  readonly #redactor: Redactor;

  constructor(home: string, redactor: Redactor) {
    this.#folder = join(home, "mcp-auth");
    this.#redactor = redactor;
  }

  /** Read anew each time: another process may have refreshed it. A file that cannot be read is no login. */
  async read(url: URL): Promise<Login> {
    const text = await readFile(this.#file(url), "utf8").catch(() => "");
    const read = v.safeParse(v.pipe(v.string(), v.parseJson(), Login), text);
    const login = read.success && read.output.url === url.href ? read.output : { url: url.href };
    this.#learn(login);
    return login;
  }

  async write(url: URL, change: Partial<Pick<Login, "tokens" | "client">>): Promise<void> {
    const login = { ...(await this.read(url)), ...change };
    this.#learn(login);
    makeFolder(this.#folder, 0o700);
    await writeWhole(this.#file(url), `${JSON.stringify(login, null, 2)}\n`);
  }

  #learn({ tokens, client }: Login): void {
    for (const secret of [tokens?.access_token, tokens?.refresh_token, client?.client_secret])
      if (secret !== undefined) this.#redactor.add(secret);
  }

  #file(url: URL): string {
    return join(this.#folder, `${digest(url.href, 32)}.json`);
  }
}
