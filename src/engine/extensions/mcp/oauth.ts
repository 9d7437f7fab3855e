/** Logins to servers: the token of each request, a refresh when it is refused, and the way through the browser when there is none. */
import { randomBytes } from "node:crypto";
import {
  auth,
  extractWWWAuthenticateParams,
  UnauthorizedError,
  type AuthProvider,
  type OAuthClientMetadata,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type StoredOAuthClientInformation,
  type StoredOAuthTokens,
} from "@modelcontextprotocol/client";
import { proxiedFetch } from "../../../os/proxy/proxied-fetch.js";
import { ParleyError } from "../../../core/errors.js";
import { oneLine } from "../../tools/title.js";
import { listenForRedirect, type Redirect } from "./redirect.js";
import type { TokenStore } from "./token-store.js";

/** Time for one request to an authorization server. */
const REQUEST_MS = 30_000;

export interface RunningLogin {
  /** The address for the user's browser. */
  url: string;
  /** Settles when the user came back and the tokens are stored. */
  done: Promise<void>;
}

/** The server's words when it refused us. */
interface Challenge {
  resourceMetadataUrl?: URL;
  scope?: string;
}

/** The logins to one address. */
export class OAuth implements AuthProvider {
  readonly #url: URL;
  readonly #store: TokenStore;
  #sent: string | undefined;
  #challenge: Challenge = {};
  #refreshing: Promise<void> = Promise.resolve();

  constructor(url: URL, store: TokenStore) {
    this.#url = url;
    this.#store = store;
  }

  async token(): Promise<string | undefined> {
    const { tokens } = await this.#store.read(this.#url);
    this.#sent = tokens?.access_token;
    return this.#sent;
  }

  /** One refresh at a time: of two requests that are refused at once the second would spend a token that the first has used up. */
  onUnauthorized({ response }: { response: Response }): Promise<void> {
    const sent = this.#sent;
    const refreshed = this.#refreshing.catch(() => {}).then(() => this.#refresh(response, sent));
    this.#refreshing = refreshed;
    return refreshed;
  }

  /** A new token, or an `UnauthorizedError`: without a user nothing more is tried, no client registered and no browser opened. */
  async #refresh(response: Response, sent: string | undefined): Promise<void> {
    const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(response);
    this.#challenge = { ...(resourceMetadataUrl !== undefined && { resourceMetadataUrl }), ...(scope !== undefined && { scope }) };
    const { tokens, client } = await this.#store.read(this.#url);
    // Another process has refreshed the token meanwhile.
    if (tokens !== undefined && tokens.access_token !== sent) return;
    if (tokens?.refresh_token === undefined || client === undefined) throw new UnauthorizedError();
    const known = new StoredClient(this.#url, this.#store, client.redirect_uris?.[0] ?? "http://127.0.0.1/callback");
    if ((await this.#auth(known)) !== "AUTHORIZED") throw new UnauthorizedError();
  }

  /** Begins a login; it ends by itself, at the latest when `signal` is aborted. */
  async login(signal: AbortSignal): Promise<RunningLogin> {
    const { client } = await this.#store.read(this.#url);
    const redirect = await listenForRedirect(portOf(client?.redirect_uris?.[0]));
    try {
      const flow = new StoredClient(this.#url, this.#store, redirect.url);
      await this.#auth(flow, { forceReauthorization: true });
      const url = flow.authorizationUrl;
      if (url === undefined || !/^https?:$/.test(url.protocol)) throw refused("The authorization server gave no address for the browser");
      return { url: url.href, done: this.#finish(flow, redirect, signal).finally(() => redirect.close()) };
    } catch (error) {
      redirect.close();
      throw error;
    }
  }

  async #finish(flow: StoredClient, redirect: Redirect, signal: AbortSignal): Promise<void> {
    const params = await redirect.arrived(flow.state(), signal);
    const code = params.get("code");
    if (code === null) throw refused(`The login was refused: ${oneLine(params.get("error") ?? "no reason was given", 80)}`);
    const iss = params.get("iss");
    await this.#auth(flow, { authorizationCode: code, ...(iss !== null && { iss }) });
  }

  #auth(flow: OAuthClientProvider, more: { authorizationCode?: string; iss?: string; forceReauthorization?: true } = {}) {
    const fetchFn = (url: string | URL, init?: RequestInit): Promise<Response> =>
      proxiedFetch(url, { ...init, signal: AbortSignal.timeout(REQUEST_MS) });
    return auth(flow, { serverUrl: this.#url, fetchFn, ...this.#challenge, ...more });
  }
}

/** Acts as a client of the authorization server. The state between the two halves of a login stays in memory. */
class StoredClient implements OAuthClientProvider {
  readonly redirectUrl: string;
  authorizationUrl: URL | undefined;
  readonly #url: URL;
  readonly #store: TokenStore;
  readonly #state = randomBytes(24).toString("base64url");
  #verifier = "";
  #discovered: OAuthDiscoveryState | undefined;

  constructor(url: URL, store: TokenStore, redirectUrl: string) {
    this.#url = url;
    this.#store = store;
    this.redirectUrl = redirectUrl;
  }

  get clientMetadata(): OAuthClientMetadata {
    return {
      client_name: "Parley",
      redirect_uris: [this.redirectUrl],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "none",
    };
  }

  state(): string {
    return this.#state;
  }

  /** A registration for another port is none: many servers compare the whole address. */
  async clientInformation(): Promise<StoredOAuthClientInformation | undefined> {
    const { client } = await this.#store.read(this.#url);
    return client?.redirect_uris?.includes(this.redirectUrl) === true ? client : undefined;
  }

  async saveClientInformation(client: StoredOAuthClientInformation): Promise<void> {
    await this.#store.write(this.#url, { client: { ...client, redirect_uris: [this.redirectUrl] } });
  }

  async tokens(): Promise<StoredOAuthTokens | undefined> {
    return (await this.#store.read(this.#url)).tokens;
  }

  async saveTokens(tokens: StoredOAuthTokens): Promise<void> {
    await this.#store.write(this.#url, { tokens });
  }

  redirectToAuthorization(url: URL): void {
    this.authorizationUrl = url;
  }

  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier;
  }

  codeVerifier(): string {
    return this.#verifier;
  }

  saveDiscoveryState(state: OAuthDiscoveryState): void {
    this.#discovered = state;
  }

  discoveryState(): OAuthDiscoveryState | undefined {
    return this.#discovered;
  }

  async invalidateCredentials(scope: "all" | "client" | "tokens" | "verifier" | "discovery"): Promise<void> {
    if (scope === "all" || scope === "tokens") await this.#store.write(this.#url, { tokens: undefined });
    if (scope === "all" || scope === "client") await this.#store.write(this.#url, { client: undefined });
  }
}

function portOf(redirect: string | undefined): number {
  return redirect !== undefined && URL.canParse(redirect) ? Number(new URL(redirect).port) : 0;
}

function refused(message: string): ParleyError {
  return new ParleyError({ code: "tool", message, retryable: false });
}
