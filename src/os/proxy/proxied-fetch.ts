/** Node's `fetch`, which knows no proxies, for addresses that the environment names one for. */
import { proxyFor } from "./proxy.js";

type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

export const proxiedFetch: Fetch = async (address, init) => {
  const proxy = proxyFor(new URL(address));
  if (proxy === undefined) return fetch(address, init);
  const { fetchThrough } = await import("./fetch-through.js");
  return fetchThrough(proxy, address, init);
};
