/** The proxy that the environment names for an address: HTTPS_PROXY, HTTP_PROXY and NO_PROXY, in upper or lower case. */

type Env = Readonly<Record<string, string | undefined>>;

/** Undefined if the address is reached directly, as addresses of this machine always are. */
export function proxyFor({ protocol, hostname, port }: URL, env: Env = process.env): string | undefined {
  const name = protocol === "https:" ? "https_proxy" : "http_proxy";
  const proxy = (env[name] || env[name.toUpperCase()])?.trim();
  if (proxy === undefined || proxy === "" || isOwn(hostname)) return undefined;
  const without = (env["no_proxy"] || env["NO_PROXY"]) ?? "";
  if (without.split(/[\s,]+/).some((entry) => covers(entry, hostname, port || defaultPort(protocol)))) return undefined;
  return proxy.includes("://") ? proxy : `http://${proxy}`;
}

function isOwn(hostname: string): boolean {
  return /^(localhost|.+\.localhost|127(\.\d+){3}|\[::1\])$/i.test(hostname);
}

function defaultPort(protocol: string): string {
  return protocol === "https:" ? "443" : "80";
}

/** An entry is `*`, a host, or a domain with or without a leading dot or `*.`; each may have a port. */
function covers(entry: string, hostname: string, port: string): boolean {
  if (entry === "") return false;
  const [, host = "", wanted] = /^(\[[^\]]*\]|[^:]*)(?::(\d+))?$/.exec(entry.toLowerCase()) ?? ["", entry.toLowerCase()];
  if (wanted !== undefined && wanted !== port) return false;
  const domain = host.replace(/^\*?\./, "");
  return host === "*" || hostname.toLowerCase() === domain || hostname.toLowerCase().endsWith(`.${domain}`);
}
