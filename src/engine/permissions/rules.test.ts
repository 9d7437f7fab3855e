import { homedir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Category } from "../../core/event.js";
import { parseRule } from "../../core/text/rule-text.js";
import { compilePathPattern } from "./path-pattern.js";
import type { RuledCall } from "./ruled-call.js";
import { compileRules } from "./rules.js";
import { type Decision, rule, judge, decide } from "../../../test/support/judge-rules.js";

describe("parseRule", () => {
  test.each<[string, object]>([
    ["Bash", { tool: "Bash" }],
    [" Bash ", { tool: "Bash" }],
    ["Bash(*)", { tool: "Bash" }],
    ["Bash( * )", { tool: "Bash" }],
    ["Bash(rm *)", { tool: "Bash", pattern: "rm *" }],
    ["Bash(echo (a))", { tool: "Bash", pattern: "echo (a)" }],
    ["mcp__files__*", { tool: "mcp__files__*" }],
    ["edit", { tool: "edit" }],
  ])("%j", (text, expected) => expect(parseRule(text)).toEqual(expected));

  test.each([
    ["", "names no tool"],
    ["(x)", "names no tool"],
    ["Bash(rm", "lacks its closing bracket"],
    ["Bash(rm) x", "has text after its closing bracket"],
    ["Bash)", "has a tool name with"],
    ["Bash rm", "has a tool name with"],
    ["Bash()", "has an empty pattern"],
  ])("%j %s", (text, problem) => {
    expect(() => parseRule(text)).toThrow(`The rule '${text}' ${problem}`);
  });

  test.each([
    ["-Bash(rm", "lacks its closing bracket"],
    ["+Bash(:*)", "has no command before ':*'"],
    ["-Read(!a)", "begins with '!'"],
    ["-Read({a,b)", "is not a valid glob"],
    ["-WebFetch(example.com)", "names neither a domain"],
    ["-WebFetch(domain:)", "has no plain domain"],
    ["-WebFetch(domain:a/b)", "has no plain domain"],
    ["-WebFetch(https://a@b/*)", "has an address with more"],
    ["+mcp__a__b(x)", "allows 'mcp__a__b' by a pattern"],
    ["+*(x)", "allows '*' by a pattern"],
  ])("%s is refused when compiled: %s", async (text, problem) => {
    await expect(compileRules([rule(text)])).rejects.toMatchObject({
      fault: { code: "config", message: expect.stringContaining(problem) },
    });
    await expect(compileRules([rule(text)])).rejects.toThrow(text.slice(1));
  });
});

const ROOT = "/home/me/space";

function path(tool: string, ...paths: string[]): Partial<RuledCall> {
  const category: Category = tool === "Write" || tool === "Edit" ? "edit" : "info";
  const located = paths.map((each) => (each.startsWith("/") ? { path: each } : { path: join(ROOT, each), relative: each }));
  return { tool, category, args: {}, paths: located };
}

describe("path rules", () => {
  test.each<[string, string, string[], Decision]>([
    ["-Read(.env)", "Read", [".env"], "deny"],
    ["-Read(.env)", "Read", ["a/b/.env"], "deny"],
    ["-Read(.env)", "Read", ["/etc/.env"], "deny"],
    ["-Read(.env)", "Read", [".env/a"], "deny"],
    ["-Read(.env)", "Read", [".env.local"], "none"],
    ["-Read(.env)", "Read", [".ENV"], "none"],
    ["-Read(.env)", "Write", [".env"], "none"],
    ["-Read(.env*)", "Read", ["a/.env.local"], "deny"],
    ["-Read(*.pem)", "Read", ["a/b.pem"], "deny"],
    ["-Read(*.pem)", "Read", ["a/.pem"], "deny"],
    ["-Read(*.pem)", "Read", ["a\nb.pem"], "deny"],
    ["-Read(*.pem)", "Read", ["/root/b.pem"], "deny"],
    ["-Read(secrets/)", "Read", ["secrets/a"], "deny"],
    ["-Read(secrets/)", "Read", ["secrets/a/.b"], "deny"],
    ["-Read(secrets/)", "Read", ["x/secrets/a"], "deny"],
    ["-Read(secrets/)", "Read", ["secrets"], "deny"],
    ["-Read(secrets/)", "Read", ["secretsx/a"], "none"],
    ["-Read(secrets/**)", "Read", ["secrets/a/b"], "deny"],
    ["-Read(secrets/**)", "Read", ["secrets/a\nb"], "deny"],
    ["-Read(secrets/**)", "Read", ["x/secrets/a"], "none"],
    ["-Read(./secrets/**)", "Read", ["secrets/a"], "deny"],
    ["-Read(**/secrets/**)", "Read", ["x/secrets/a"], "deny"],
    ["-Read(**/secrets/**)", "Read", ["/x/secrets/a"], "deny"],
    ["-Read(a/b)", "Read", ["a/b/c"], "deny"],
    ["-Read(a/(b)/c)", "Read", ["a/(b)/c/d"], "deny"],
    ["-Read(a/[id]/c)", "Read", ["a/[id]/c"], "deny"],
    ["-Read(space)", "Read", ["a"], "none"],
    ["-Read(/etc/**)", "Read", ["/etc/passwd"], "deny"],
    ["-Read(/etc/passwd)", "Read", ["/etc/passwd"], "deny"],
    ["-Read(/etc)", "Read", ["/etc/ssl/a"], "deny"],
    ["-Read(/etc/**)", "Read", ["etc/passwd"], "none"],
    [`-Read(${ROOT}/a)`, "Read", ["a"], "deny"],
    ["-Read(~/.ssh/**)", "Read", [join(homedir(), ".ssh/id")], "deny"],
    ["-Read(~/.ssh)", "Read", [join(homedir(), ".ssh/id")], "deny"],
    ["-Read(~/.ssh)", "Read", ["~/.ssh/id"], "none"],
    ["-Read(**)", "Read", [""], "deny"],
    ["-Read(.)", "Read", ["a/b"], "deny"],
    ["-Read(a)", "Read", ["b", "a"], "deny"],
    ["?Edit(a)", "Edit", ["b", "a"], "ask"],
    ["+Edit(src/**)", "Edit", ["src/a/b.ts"], "allow"],
    ["+Edit(src/**)", "Edit", ["src/.a"], "allow"],
    ["+Edit(src/**)", "Edit", ["src/a", "lib/b"], "none"],
    ["+Edit(src/**)", "Edit", ["x/src/a"], "none"],
    ["+Edit(src/**)", "Write", ["src/a"], "none"],
    ["+edit(src/**)", "Write", ["src/a"], "allow"],
    ["+Edit(src/)", "Edit", ["src/a/b"], "allow"],
    ["+Edit(src/)", "Edit", ["x/src/a"], "none"],
    ["+Edit(src)", "Edit", ["src/a"], "none"],
    ["+Edit(*.md)", "Edit", ["a/b.md"], "allow"],
    ["+Edit(*.md)", "Edit", ["a.md/b.sh"], "none"],
    ["+Edit(*.md)", "Edit", ["/etc/b.md"], "none"],
    ["+Edit(src/*.ts)", "Edit", ["src/a/b.ts"], "none"],
    ["+Edit(**)", "Edit", ["a"], "allow"],
    ["+Edit(**)", "Edit", ["/etc/passwd"], "none"],
    ["+Edit(**/a)", "Edit", ["/etc/a"], "none"],
    ["+Edit(/etc/**)", "Edit", ["/etc/a"], "allow"],
    ["+Edit(../b/**)", "Edit", ["../b/c"], "none"],
    ["+Edit(**)", "Edit", ["../b/c"], "none"],
    ["+Edit(src/**)", "Edit", ["src/../a"], "none"],
    ["+Read(**)", "Grep", ["a"], "none"],
    ["+Glob(**)", "Glob", [""], "allow"],
    ["+Glob(src/**)", "Glob", [""], "none"],
    ["+Glob(src/**)", "Glob", [], "none"],
    ["+Glob", "Glob", [], "allow"],
    ["+info", "Glob", [], "allow"],
    ["+info(src/**)", "Grep", ["src/a"], "allow"],
    ["-edit", "Write", ["a"], "deny"],
    ["-edit", "Read", ["a"], "none"],
    ["-Re*", "Read", ["a"], "deny"],
  ])("%s on %s %j: %s", async (text, tool, paths, expected) => {
    expect(await decide([text], path(tool, ...paths))).toBe(expected);
  });

  test("different rules may cover different paths", async () => {
    expect(await judge(["+Edit(a/**)", "+Edit(b/**)"], path("Edit", "b/1", "a/1"))).toEqual({
      decision: "allow",
      rule: "Edit(b/**), Edit(a/**)",
    });
  });
});

test("deny and ask rules ignore case on file systems that do, and allow rules do not", async () => {
  const [folding, exact] = [await compilePathPattern("secrets/*.PEM", true), await compilePathPattern("secrets/*.PEM", false)];
  if ("problem" in folding || "problem" in exact) throw new Error("both are valid");
  const path = { path: "/w/Secrets/a.pem", relative: "Secrets/a.pem" };
  expect([folding.hits(path), folding.covers(path), exact.hits(path)]).toEqual([true, false, false]);
});

describe("WebFetch rules", () => {
  test.each<[string, string, Decision]>([
    ["+WebFetch(domain:example.com)", "https://example.com/a", "allow"],
    ["+WebFetch(domain:example.com)", "http://EXAMPLE.com:8080", "allow"],
    ["+WebFetch(domain:example.com)", "https://a.b.example.com./x", "allow"],
    ["+WebFetch(domain:*.example.com)", "https://a.example.com/x", "allow"],
    ["+WebFetch(domain:example.com)", "https://notexample.com", "none"],
    ["+WebFetch(domain:example.com)", "https://example.com.evil.org", "none"],
    ["+WebFetch(domain:example.com)", "https://example.com@evil.org", "none"],
    ["+WebFetch(domain:example.com)", "https://u:p@example.com", "none"],
    ["+WebFetch(domain:example.com)", "https://evil.org/#example.com", "none"],
    ["+WebFetch(domain:example.com)", "https://evil.org\\.example.com", "none"],
    ["+WebFetch(domain:example.com)", "not an address", "none"],
    ["-WebFetch(domain:example.com)", "not an address", "ask"],
    ["-WebFetch(domain:example.com)", "https://u@x.example.com", "deny"],
    ["-WebFetch(domain:münchen.de)", "https://xn--mnchen-3ya.de/", "deny"],
    ["+WebFetch(https://example.com/*)", "https://example.com/a/b?c", "allow"],
    ["+WebFetch(https://example.com/*)", "http://example.com/a", "none"],
    ["+WebFetch(https://example.com/docs/*)", "https://example.com/docs/../admin", "none"],
    ["+WebFetch(https://example.com/docs/*)", "https://example.com/docs/%2e%2e/admin", "none"],
    ["+WebFetch(https://example.com)", "https://example.com/a", "allow"],
    ["+WebFetch(https://EXAMPLE.com:443/*)", "https://example.com/a", "allow"],
    ["+WebFetch(https://*.example.com/*)", "https://a.example.com/x", "allow"],
    ["+WebFetch(https://*.example.com/*)", "https://evil.org/.example.com/", "none"],
    ["+WebFetch(https://*.example.com/*)", "https://evil.org?.example.com/", "none"],
    ["-WebFetch(https://example.com/admin*)", "https://example.com/%61dmin", "deny"],
    ["-WebFetch(*secret*)", "https://example.com/?q=secret", "deny"],
    ["-WebFetch", "https://example.com", "deny"],
  ])("%s on %s: %s", async (text, url, expected) => {
    expect(await decide([text], { tool: "WebFetch", category: "info", args: { url } })).toBe(expected);
  });
});

describe("other tools", () => {
  test.each<[string, Decision]>([
    ["-mcp__files__*", "deny"],
    ["-mcp__files__read", "deny"],
    ["-mcp__files__write", "none"],
    ["-mcp", "deny"],
    ["-info", "none"],
    ["+mcp__files__read", "allow"],
    ["+mcp__*", "allow"],
    ["-mcp__files__read(*secret*)", "deny"],
    ["?mcp(top)", "ask"],
    ["-mcp__files__read(sec)", "none"],
  ])("%s: %s", async (text, expected) => {
    const args = { a: "top", b: { c: ["the secret"] }, d: 1 };
    expect(await decide([text], { tool: "mcp__files__read", category: "mcp", args })).toBe(expected);
  });
});
