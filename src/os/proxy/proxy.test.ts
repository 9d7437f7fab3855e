import { expect, test } from "vitest";
import { proxyFor } from "./proxy.js";

const PROXY = "http://proxy.example:3128";

test.each<[url: string, env: Record<string, string>, proxy: string | undefined]>([
  ["https://a.example/x", {}, undefined],
  ["https://a.example/x", { HTTPS_PROXY: PROXY }, PROXY],
  ["https://a.example/x", { https_proxy: PROXY, HTTPS_PROXY: "http://other" }, PROXY],
  ["https://a.example/x", { HTTP_PROXY: PROXY }, undefined],
  ["http://a.example/x", { http_proxy: PROXY }, PROXY],
  ["https://a.example", { HTTPS_PROXY: "proxy.example:3128" }, PROXY],
  ["https://a.example", { HTTPS_PROXY: "" }, undefined],
  ["http://localhost:8080", { HTTP_PROXY: PROXY }, undefined],
  ["http://127.1.2.3", { HTTP_PROXY: PROXY }, undefined],
  ["http://[::1]:8080", { HTTP_PROXY: PROXY }, undefined],
  ["https://a.example", { HTTPS_PROXY: PROXY, NO_PROXY: "*" }, undefined],
  ["https://a.example", { HTTPS_PROXY: PROXY, NO_PROXY: "b.example, A.example" }, undefined],
  ["https://x.a.example", { HTTPS_PROXY: PROXY, no_proxy: ".a.example" }, undefined],
  ["https://x.a.example", { HTTPS_PROXY: PROXY, no_proxy: "*.a.example" }, undefined],
  ["https://xa.example", { HTTPS_PROXY: PROXY, NO_PROXY: "a.example" }, PROXY],
  ["https://a.example", { HTTPS_PROXY: PROXY, NO_PROXY: "a.example:443" }, undefined],
  ["https://a.example:8443", { HTTPS_PROXY: PROXY, NO_PROXY: "a.example:443" }, PROXY],
  ["https://[2001:db8::1]", { HTTPS_PROXY: PROXY, NO_PROXY: "[2001:db8::1]" }, undefined],
])("%s with %j is reached through %s", (url, env, proxy) => {
  expect(proxyFor(new URL(url), env)).toBe(proxy);
});
