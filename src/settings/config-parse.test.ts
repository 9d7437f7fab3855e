import { describe, expect, test } from "vitest";
import { stringify } from "yaml";
import type * as v from "valibot";
import { parseConfig } from "./config-parse.js";
import { Config } from "./config-schema.js";

const parse = (text: string, owner: "user" | "workspace" = "user") => parseConfig("/x/config.yaml", text, owner);
const problems = (text: string) => parse(text).problems;

describe("a file that is no YAML", () => {
  test.each([
    ["a broken flow", "provider: anthropic\nrules: [a, b\n", 3],
    ["a key that is there twice", "model: a\nmaxTurns: 1\nmodel: b\n", 3],
    ["an unknown tag", "model: a\nprovider: !secret x\n", 2],
    ["a tag that makes an object", "model: a\nsystemPrompt: !!binary aGk=\n", 2],
    ["two documents", "model: a\n---\nmodel: b\n", 2],
    ["an alias without its anchor", "model: a\nprovider: *nobody\n", 2],
    ["a list as a key", "model: a\n? [x]\n: y\n", 2],
  ])("%s is reported where it stands", (_, text, line) => {
    const found = problems(text);
    expect(found.length).toBeGreaterThan(0);
    expect(found[0]).toMatch(new RegExp(`^/x/config\\.yaml:${line}:\\d+: \\S`));
  });

  test("a mapping of very many keys is read all the same, and no more than a page is told", () => {
    const keys = (line: (at: number) => string): string => Array.from({ length: 40_000 }, (_, at) => line(at)).join("\n");
    expect(problems(keys((at) => `k${at}: 1`)).at(-1)).toBe("/x/config.yaml: and 39900 more such problems");
    expect(problems(keys(() => "k: 1"))).toMatchObject({
      0: "/x/config.yaml:2:1: Map keys must be unique",
      20: "/x/config.yaml: and 39979 more such problems",
    });
  });

  test("aliases that would expand without end are refused", () => {
    const bomb = ["a: &a [x, x, x, x, x, x, x, x, x]"];
    for (const [name, before] of ["ba", "cb", "dc", "ed", "fe"].map((pair) => pair.split(""))) {
      bomb.push(`${name}: &${name} [${Array.from({ length: 9 }, () => `*${before}`).join(", ")}]`);
    }
    expect(problems(bomb.join("\n"))).toEqual([expect.stringMatching(/^\/x\/config\.yaml:2:8: cannot be expanded: /)]);
    expect(problems("allowTools: &a [*a]")).toEqual([expect.stringMatching(/^\/x\/config\.yaml:1:17: /)]);
  });

  test("nesting without end is refused before the parser's stack ends", () => {
    for (const depth of [101, 800, 3000, 100_000]) {
      expect(problems(`# x\nmodel: ${"[".repeat(depth)}${"]".repeat(depth)}`)).toEqual(["/x/config.yaml:2:108: this is nested too deeply"]);
      expect(problems(`model:\n${"- ".repeat(depth)}x`)).toEqual(["/x/config.yaml:2:201: this is nested too deeply"]);
    }
    const stairs = Array.from({ length: 800 }, (_, depth) => `${" ".repeat(depth)}a:\n`).join("");
    expect(problems(stairs)).toEqual(["/x/config.yaml:102:1: this is nested too deeply"]);
  });

  test("brackets, dashes and spaces in a text are no nesting", () => {
    const prose = `${" ".repeat(200)}deep\n${"[".repeat(200)}\n${"- ".repeat(200)}`;
    const file = parse(
      stringify({
        systemPrompt: prose,
        appendSystemPrompt: prose.replaceAll("\n", " "),
        rules: Array.from({ length: 200 }, () => ({ deny: "x" })),
      }),
    );
    expect(file.problems).toEqual([]);
    expect(file.config.systemPrompt).toBe(prose);
    expect(parse(`systemPrompt: |\n  [\n  ${"x\n  [".repeat(200)}\nmodel: m`).problems).toEqual([]);
  });
});

describe("a value that is not allowed", () => {
  test.each([
    ["maxTurns: many", '1:11: maxTurns must be a whole number from 1, not "many"'],
    ["maxTurns: 0", "1:11: maxTurns must be a whole number from 1, not 0"],
    ["maxTurns: 1.5", "1:11: maxTurns must be a whole number from 1, not 1.5"],
    ["approval: yollo", '1:11: approval must be one of default, auto_edit, plan, yolo, sandboxed, not "yollo"'],
    ["thinking: true", "1:11: thinking must be one of disabled, enabled, low, medium, high, deep, max, off, not true"],
    ["model:", "1:1: model is empty; it must be a text"],
    ["model: ''", '1:8: model must be a text that is not empty, not ""'],
    ["sessions: { enabled: 'yes' }", '1:22: sessions.enabled must be true or false, not "yes"'],
    ["limits: [1]", "1:9: limits must be a mapping, not a list"],
    ["mcpServers: []", "1:13: mcpServers must be a mapping of servers, not a list"],
    ["allowTools: Read", '1:13: allowTools must be a list of texts, not "Read"'],
    ["allowTools: [Read, 7]", "1:20: allowTools[1] must be a text, not 7"],
    ["baseUrl: ftp://x", '1:10: baseUrl must be an http or https URL, not "ftp://x"'],
    ["- a", "1:1: the file must be a mapping of settings, not a list"],
    ["just text", '1:1: the file must be a mapping of settings, not "just text"'],
    ["rules: [{ deny: a, allow: b }]", "1:9: rules[0] must have exactly one of deny, ask and allow"],
    ["mcpServers: { a: { command: x, url: y } }", "1:18: mcpServers.a must have either a command or a url"],
    ["mcpServers: { constructor: { command: x } }", "1:15: 'constructor' cannot be a name in mcpServers"],
    ["hooks: { pre_tool_use: [{ match: Write }] }", "1:25: hooks.pre_tool_use[0] must have 'command'"],
    ["hooks: { stop: [{ match: Write, command: [a] }] }", "1:19: unknown key 'match' in hooks.stop[0]; known here: command, timeoutMs"],
    [
      "hooks: { pre_tool_use: [{ match: 'Write|Bash(rm', command: [a] }] }",
      '1:34: hooks.pre_tool_use[0].match must be Tool or Tool(pattern), or several of them joined by |, not "Write|Bash(rm"',
    ],
    ["hooks: { on_stop: [] }", "1:10: unknown key 'on_stop' in hooks; did you mean 'stop'?"],
    ["hooks: { stop: [{ command: [] }] }", "1:28: hooks.stop[0].command must be a list with the program first"],
    [
      "providers: { lab: { kind: magic } }",
      '1:27: providers.lab.kind must be one of openai-compatible, anthropic, openai, gemini, not "magic"',
    ],
    ["providers: { lab: {} }", "1:19: providers.lab must have a kind: openai-compatible, anthropic, openai, gemini"],
    ["providers: { lab: { kind: openai-compatible } }", "1:19: providers.lab must have a baseUrl"],
    ["limits: { approvalSeconds: 3000000 }", "1:28: limits.approvalSeconds must be a whole number from 1 to 2147483, not 3000000"],
  ])("%s", (text, expected) => {
    expect(problems(text)).toEqual([`/x/config.yaml:${expected}`]);
  });

  test("a key in the wrong place is not repeated", () => {
    const secret = "sk-ant-0123456789-0123456789-0123456789";
    const found = problems(
      `apiKey: ${secret}\nproviders: { lab: { kind: openai-compatible, apiKeyEnv: ${secret}, apiKey: ${secret} } }\nmaxTurns: ${secret}`,
    );
    expect(found).toHaveLength(4);
    expect(found.join("\n")).not.toContain(secret);
    expect(found[0]).toBe(
      "/x/config.yaml:1:1: unknown key 'apiKey': keys are not kept in config files; set the provider's environment variable",
    );
  });
});

test("all problems are listed, in the order of the file", () => {
  const text = [
    "modle: x",
    "limits:",
    "  lineByte: 3",
    "  outputChars: 0",
    "  foo: 1",
    "rules:",
    "  - deyn: a",
    "  - {}",
    "approval: no",
  ].join("\n");
  expect(problems(text).map((problem) => problem.replace("/x/config.yaml:", ""))).toEqual([
    "1:1: unknown key 'modle'; did you mean 'model'?",
    "3:3: unknown key 'lineByte' in limits; did you mean 'lineBytes'?",
    "4:16: limits.outputChars must be a whole number from 1 to 536870888, not 0",
    "5:3: unknown key 'foo' in limits; known here: contextTokens, lineBytes, approvalSeconds, connectSeconds, firstByteSeconds, idleSeconds, retries, retrySeconds, outputChars, nesting, answerMiB, memoryMiB, stuckSeconds",
    "7:5: unknown key 'deyn' in rules[0]; did you mean 'deny'?",
    "8:5: rules[1] must have exactly one of deny, ask and allow",
    '9:11: approval must be one of default, auto_edit, plan, yolo, sandboxed, not "no"',
  ]);
});

test("a rule that cannot be read is told with its place, in the lists of tools, too", () => {
  const text = ["rules:", "  - deny: Bash((", "allowTools: [Read, 'Bash(ls']", "allowedTools: ['a b']", "disallowedTools: ['Bash()']"].join(
    "\n",
  );
  expect(problems(text).map((problem) => problem.replace("/x/config.yaml:", ""))).toEqual([
    '2:11: rules[0].deny must be Tool or Tool(pattern), not "Bash(("',
    '3:20: allowTools[1] must be Tool or Tool(pattern), not "Bash(ls"',
    '4:16: allowedTools[0] must be Tool or Tool(pattern), not "a b"',
    '5:19: disallowedTools[0] must be Tool or Tool(pattern), not "Bash()"',
  ]);
});

test("what other tools call a key leads to ours", () => {
  expect(problems("max_turns: 3")).toEqual(["/x/config.yaml:1:1: unknown key 'max_turns'; did you mean 'maxTurns'?"]);
  expect(problems("mcp-servers: {}")).toEqual(["/x/config.yaml:1:1: unknown key 'mcp-servers'; did you mean 'mcpServers'?"]);
});

test("every key of the schema, misspelt by one letter, is reported with its line and the right suggestion", () => {
  const paths = keyPaths(Config, []);
  expect(paths.length).toBeGreaterThan(35);
  for (const path of paths) {
    const key = String(path.at(-1));
    for (let index = 0; index < key.length; index += 1) {
      const typo = `${key.slice(0, index)}${key[index] === "q" ? "z" : "q"}${key.slice(index + 1)}`;
      const text = `# a comment\n${stringify(nested([...path.slice(0, -1), typo]))}`;
      const line = text.split("\n").findIndex((row) => row.includes(`${typo}:`)) + 1;
      const expected = `/x/config.yaml:${line}:`;
      expect(
        problems(text).filter((problem) => problem.startsWith(expected) && problem.includes(`'${typo}'`)),
        text,
      ).toEqual([expect.stringMatching(new RegExp(`did you mean '${key}'\\?$`))]);
    }
  }
});

test("aliases and anchors count as what they stand for", () => {
  const file = parse("allowTools: &tools [Read]\nallowedTools: *tools\nlimits: &l { lineBytes: 2048 }\n");
  expect(file.problems).toEqual([]);
  expect(file.config).toEqual({ allowTools: ["Read"], allowedTools: ["Read"], limits: { lineBytes: 2048 } });
  expect(file.locate(["limits", "lineBytes"])).toBe("/x/config.yaml:3");
  expect(parse("allowTools: &tools [Read, 3]\nallowedTools: *tools\n").problems).toEqual([
    "/x/config.yaml:1:27: allowTools[1] must be a text, not 3",
    "/x/config.yaml:1:27: allowedTools[1] must be a text, not 3",
  ]);
});

test("references to the environment stay as written", () => {
  const text =
    'mcpServers: { a: { command: node, args: ["${A}"], env: { T: "${T}" } }, b: { url: "https://${H}/", headers: { X: "Bearer ${X}" } } }';
  expect(parse(text).config.mcpServers).toEqual({
    a: { command: "node", args: ["${A}"], env: { T: "${T}" } },
    b: { url: "https://${H}/", headers: { X: "Bearer ${X}" } },
  });
});

test("a workspace's file loses addresses, keys, headers, providers and the model server", () => {
  const text = [
    "model: m",
    "baseUrl: https://evil.example",
    "apiKey: abc",
    "headers: { a: b }",
    "providers: { lab: nonsense }",
    "mcpServers:",
    "  remote:",
    "    url: https://example.com",
    "    headers: { Authorization: x }",
    "llamaServer: ./evil",
  ].join("\n");
  const file = parse(text, "workspace");
  expect(file.problems).toEqual([]);
  expect(file.config).toEqual({ model: "m", mcpServers: { remote: { url: "https://example.com" } } });
  const told = [
    ["2", "baseUrl"],
    ["3", "apiKey"],
    ["4", "headers"],
    ["5", "providers"],
    ["10", "llamaServer"],
    ["9", "mcpServers.remote.headers"],
  ];
  expect(file.warnings).toEqual(
    told.map(([line, key]) => `/x/config.yaml:${line}: ${key} is ignored: only your own config.yaml may set it`),
  );
});

/** A way to every key of the schema: "x" for a name, 0 for an item. */
function keyPaths(schema: v.GenericSchema, path: (string | number)[]): (string | number)[][] {
  if ("wrapped" in schema) return keyPaths(asSchema(schema.wrapped), path);
  if ("entries" in schema && typeof schema.entries === "object") {
    return Object.entries(schema.entries ?? {}).flatMap(([key, entry]) => [[...path, key], ...keyPaths(asSchema(entry), [...path, key])]);
  }
  if (schema.type === "record" && "value" in schema) return keyPaths(asSchema(schema.value), [...path, "x"]);
  if (schema.type === "array" && "item" in schema) return keyPaths(asSchema(schema.item), [...path, 0]);
  return [];
}

function asSchema(value: unknown): v.GenericSchema {
  return value as v.GenericSchema;
}

function nested(path: (string | number)[]): unknown {
  return path.reduceRight<unknown>((inner, key) => (key === 0 ? [inner] : { [key]: inner }), 1);
}
