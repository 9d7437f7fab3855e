/** Node's `fetch`, which ignores proxies, for addresses with a proxy in the environment. */
import { proxyFor } from "./proxy.js";

type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

export const proxiedFetch: Fetch = async (address, init) => {
  const proxy = proxyFor(new URL(address));
  if (proxy === undefined) return fetch(address, init);
  const { fetchThrough } = await import("./fetch-through.js");
  return fetchThrough(proxy, address, init);
};
