/** Tokens for Google Cloud: fetched with the credentials, kept until shortly before they expire, and added to every request. */
import { sign, type KeyObject } from "node:crypto";
import * as v from "valibot";
import { ParleyError } from "../../../core/errors.js";
import { Redactor } from "../../../core/secrets/redact.js";
import type { GoogleCredentials } from "./credentials.js";
import type { Fetch } from "../vendor/vendor.js";

const SCOPE = "https://www.googleapis.com/auth/cloud-platform";
const LIFETIME_SECONDS = 3600;
/** A token must not expire on its way. */
const SPARE_MS = 60_000;

export interface Tokens {
  /** `isNew`: the token was fetched for this request. */
  current(): Promise<{ token: string; isNew: boolean }>;
  /** The vendor refused this token: it is not used again. */
  drop?(token: string): void;
}

/** `secrets` learns every token. */
export function tokensOf(credentials: GoogleCredentials, fetch: Fetch, secrets: string[]): Tokens {
  secrets.push(...credentials.secrets);
  let kept: { token: string; until: number } | undefined;
  let coming: Promise<string> | undefined;

  async function exchange(): Promise<string> {
    const { access_token: token, expires_in: seconds } = await ask(credentials, fetch, secrets);
    secrets.push(token);
    kept = { token, until: Date.now() + seconds * 1000 - SPARE_MS };
    return token;
  }

  return {
    async current() {
      if (kept !== undefined && Date.now() < kept.until) return { token: kept.token, isNew: false };
      coming ??= exchange().finally(() => (coming = undefined));
      return { token: await coming, isNew: true };
    },
    drop(token) {
      if (kept?.token === token) kept = undefined;
    },
  };
}

/** A kept token may have been revoked meanwhile: then a new one is tried, once. */
export function signedFetch(fetch: Fetch, tokens: Tokens, headers: Readonly<Record<string, string>> = {}): Fetch {
  return async (input, init = {}) => {
    const send = async (token: string): Promise<Response> =>
      // The packages give headers as plain objects.
      fetch(input, { ...init, headers: Object.assign({}, init.headers, headers, { authorization: `Bearer ${token}` }) });
    const { token, isNew } = await unlessAborted(tokens.current(), init.signal);
    const answer = await send(token);
    if (answer.status !== 401) return answer;
    tokens.drop?.(token);
    if (isNew) return answer;
    await answer.body?.cancel();
    return send((await unlessAborted(tokens.current(), init.signal)).token);
  };
}

/** One fetch may serve several requests: an aborted request leaves it to the others. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal | null | undefined): Promise<T> {
  if (signal === null || signal === undefined) return work;
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason instanceof Error ? signal.reason : new DOMException("Aborted", "AbortError"));
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}

// --- the exchange ---

const Granted = v.pipe(
  v.string(),
  v.parseJson(),
  v.looseObject({ access_token: v.pipe(v.string(), v.nonEmpty()), expires_in: v.optional(v.number(), LIFETIME_SECONDS) }),
);

async function ask(credentials: GoogleCredentials, fetch: Fetch, secrets: readonly string[]): Promise<v.InferOutput<typeof Granted>> {
  const answer = await fetch(credentials.tokenUri, requestFor(credentials));
  const text = await answer.text();
  const safe = new Redactor(secrets);
  if (!answer.ok) throw refusal(credentials, answer.status, safe.text(refusalWords(text)));
  const granted = v.safeParse(Granted, text);
  if (granted.success) return granted.output;
  throw new ParleyError({ code: "provider", message: `What ${credentials.tokenUri} sent is no access token`, retryable: false });
}

function requestFor(credentials: GoogleCredentials): RequestInit {
  switch (credentials.kind) {
    case "service account":
      return form({ grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer", assertion: assertionOf(credentials) });
    case "user": {
      const { clientId: client_id, clientSecret: client_secret, refreshToken: refresh_token } = credentials;
      return form({ grant_type: "refresh_token", client_id, client_secret, refresh_token });
    }
    case "machine":
      return { headers: { "metadata-flavor": "Google" } };
    default:
      return credentials satisfies never;
  }
}

function form(fields: Record<string, string>): RequestInit {
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  return { method: "POST", headers, body: new URLSearchParams(fields).toString() };
}

/** A request for a token of one hour, signed by the account's key. */
function assertionOf({
  email,
  key,
  keyId,
  tokenUri,
}: {
  email: string;
  key: KeyObject;
  keyId: string | undefined;
  tokenUri: string;
}): string {
  const iat = Math.floor(Date.now() / 1000);
  const header = { alg: "RS256", typ: "JWT", ...(keyId !== undefined && { kid: keyId }) };
  const claims = { iss: email, scope: SCOPE, aud: tokenUri, iat, exp: iat + LIFETIME_SECONDS };
  const unsigned = `${encoded(header)}.${encoded(claims)}`;
  return `${unsigned}.${sign("RSA-SHA256", Buffer.from(unsigned), key).toString("base64url")}`;
}

function encoded(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}

// --- refusals ---

function refusal({ kind, tokenUri }: GoogleCredentials, status: number, words: string): ParleyError {
  const remedy = kind === "machine" ? "check the account of this machine" : "check GOOGLE_APPLICATION_CREDENTIALS";
  return new ParleyError({
    code: "provider",
    message: `${tokenUri} gave no token and answered ${status}: ${words} (${remedy})`,
    status,
    retryable: status === 429 || status >= 500,
  });
}

const Refusal = v.pipe(v.string(), v.parseJson(), v.looseObject({ error: v.string(), error_description: v.optional(v.string()) }));

function refusalWords(text: string): string {
  const said = v.safeParse(Refusal, text);
  if (!said.success) return "no explanation was given";
  const { error, error_description: description } = said.output;
  return description === undefined ? error : `${error}: ${description}`;
}
