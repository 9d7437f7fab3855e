/** What a provider is: how its credentials are checked and its package is loaded. One file a provider. */
import type { Access } from "../access.js";
import type { Fetch, Loaded } from "../vendor.js";

export interface Provider {
  /** Where to look when the vendor refuses us, if what opens it is no key. */
  keyName?: string;
  /** Throws when what it needs beside a key is missing. */
  check?(access: Access): Promise<void>;
  /**
   * The package and the wire, for the first request. The packages would look into the process's environment for what is not given,
   * so all of it is given.
   */
  load(access: Access, fetch: Fetch): Promise<Loaded>;
}
