/** A provider: how its credentials are checked and its package is loaded. One file a provider. */
import type { Access } from "../access.js";
import type { WebSearch } from "../vendor/web-search.js";
import type { Fetch, Loaded } from "../vendor/vendor.js";

export interface Provider {
  /** Throws if something needed beside a key is missing. Returns the source of the credentials, if it is not the key. */
  check?(access: Access): Promise<string | undefined>;
  /**
   * Loads the package and the wire for the first request. The packages read absent values from the process's environment,
   * so every value is given.
   */
  load(access: Access, fetch: Fetch): Promise<Loaded>;
  /** The request for the list of its models; undefined if there is none. The config's headers are added. */
  models?(access: Access): { url: string; headers: Record<string, string> };
  /** The vendor's own web search; undefined if this server has none. */
  webSearch?(access: Access): WebSearch | undefined;
}
