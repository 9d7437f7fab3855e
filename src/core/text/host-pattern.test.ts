import { expect, test } from "vitest";
import { isHostPattern, patternFor } from "./host-pattern.js";

test.each(["example.com", "*.example.com", "Example.com:8443", "localhost:3000", "127.0.0.1", "[::1]:80", "a-b.example"])("%s", (text) => {
  expect(isHostPattern(text)).toBe(true);
});

test.each([
  "",
  "*",
  "*.com",
  "*.*.example.com",
  "https://example.com",
  "example.com/x",
  "a b",
  "example.com:0",
  "example.com:70000",
  "-a.b",
  "::1",
  "a..b",
])("not %s", (text) => {
  expect(isHostPattern(text)).toBe(false);
});

test.each<[patterns: string[], host: string, port: number, found: "exact" | "below" | "none"]>([
  [["example.com"], "example.com", 443, "exact"],
  [["example.com"], "EXAMPLE.com.", 80, "exact"],
  [["example.com"], "example.com", 22, "none"],
  [["example.com"], "www.example.com", 443, "none"],
  [["example.com"], "example.com.evil.net", 443, "none"],
  [["*.example.com"], "www.example.com", 443, "below"],
  [["*.example.com"], "a.b.example.com", 443, "below"],
  [["*.example.com"], "example.com", 443, "none"],
  [["*.example.com"], "badexample.com", 443, "none"],
  [["*.example.com", "www.example.com"], "www.example.com", 443, "exact"],
  [["example.com:8443"], "example.com", 8443, "exact"],
  [["example.com:8443"], "example.com", 443, "none"],
  [["[::1]:3000"], "::1", 3000, "exact"],
  [[], "example.com", 443, "none"],
])("%j and %s:%d", (patterns, host, port, found) => {
  const pattern = patternFor(patterns, host, port);
  expect(pattern === undefined ? "none" : pattern.isExact ? "exact" : "below").toBe(found);
});
