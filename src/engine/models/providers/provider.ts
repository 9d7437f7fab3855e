/** A provider: how its credentials are checked and its package is loaded. One file a provider. */
import type { Access } from "../access.js";
import type { WebSearch } from "../vendor/web-search.js";
import type { Fetch, Loaded } from "../vendor/vendor.js";

export interface Provider {
  /** Throws when something that it needs beside a key is missing. Returns the source of its credentials, where that is not the key. */
  check?(access: Access): Promise<string | undefined>;
  /**
   * The package and the wire, for the first request. The packages would look into the process's environment for what is not given,
   * so all of it is given.
   */
  load(access: Access, fetch: Fetch): Promise<Loaded>;
  /** The request for the list of its models; undefined where it has none. The headers of the config are added. */
  models?(access: Access): { url: string; headers: Record<string, string> };
  /** The vendor's own search of the web; undefined where this server has none. */
  webSearch?(access: Access): WebSearch | undefined;
}
