/**
 * The pattern language of WebFetch rules. `domain:example.com` is that host and those below it. `https://example.com/docs/*` is a glob:
 * a `*` before the first single slash stays within scheme, host and port, a later one is any text; without a path it means all of the site.
 * A pattern that begins with `*` and has no `://` is compared with the whole address.
 */
import type { Subject } from "./rule-subject.js";
import { wildcard } from "./wildcard.js";

export interface UrlPattern {
  readonly kind: "url";
  matches(url: URL): boolean;
}

export function compileUrlPattern(pattern: string): UrlPattern | { problem: string } {
  if (pattern.startsWith("domain:")) return domainPattern(pattern.slice("domain:".length));
  const scheme = pattern.indexOf("://");
  if (scheme >= 0) return addressPattern(pattern, scheme + 3);
  if (!pattern.startsWith("*")) return { problem: "names neither a domain (domain:example.com) nor an address (https://example.com/*)" };
  const whole = wildcard(pattern);
  return { kind: "url", matches: (url) => whole.matches(`${originOf(url)}${pathOf(url)}`) };
}

export function urlSubject(address: unknown): Subject<UrlPattern> {
  const url = typeof address === "string" ? parsed(address) : undefined;
  return {
    hit(pattern) {
      if (url === undefined) return { hit: "maybe", why: "the address could not be parsed" };
      return { hit: pattern.matches(url) || pattern.matches(decoded(url)) ? "yes" : "no" };
    },
    cover(patterns) {
      if (url === undefined) return { why: "the address could not be parsed" };
      if (url.username !== "" || url.password !== "") return { why: "the address carries credentials" };
      const by = patterns.findIndex((pattern) => pattern.matches(url));
      return by < 0 ? { why: `no rule allows '${url.href}'` } : { by: [by] };
    },
  };
}

function domainPattern(text: string): UrlPattern | { problem: string } {
  const url = parsed(`https://${text.replace(/^\*\./, "")}/`);
  const domain = url === undefined ? "" : hostOf(url);
  if (url === undefined || domain === "" || domain.includes("*") || url.href !== `https://${url.hostname}/`) {
    return { problem: "has no plain domain after 'domain:'; write for example domain:example.com" };
  }
  return { kind: "url", matches: (tested) => hostOf(tested) === domain || hostOf(tested).endsWith(`.${domain}`) };
}

function addressPattern(pattern: string, hostAt: number): UrlPattern | { problem: string } {
  const slash = pattern.indexOf("/", hostAt);
  const site = slash < 0 ? pattern : pattern.slice(0, slash);
  const plain = site.includes("*") ? undefined : parsed(site);
  if (/[@?#\s]/.test(site)) return { problem: "has an address with more than scheme, host and port before its path" };
  const origin = wildcard(plain === undefined ? site.toLowerCase() : originOf(plain));
  const path = wildcard(slash < 0 ? "*" : pattern.slice(slash));
  return { kind: "url", matches: (url) => origin.matches(originOf(url)) && path.matches(pathOf(url)) };
}

/** `URL` has resolved dots, escapes and case of the host by now; a trailing dot means the same host. */
function hostOf(url: URL): string {
  return url.hostname.toLowerCase().replace(/\.$/, "");
}

function originOf(url: URL): string {
  return `${url.protocol}//${hostOf(url)}${url.port === "" ? "" : `:${url.port}`}`;
}

function pathOf(url: URL): string {
  return `${url.pathname}${url.search}${url.hash}`;
}

/** The same address for the server, with what was needlessly escaped in its path. */
function decoded(url: URL): URL {
  try {
    const plain = new URL(url);
    plain.pathname = decodeURIComponent(url.pathname);
    return plain;
  } catch {
    return url;
  }
}

function parsed(address: string): URL | undefined {
  return URL.canParse(address) ? new URL(address) : undefined;
}
