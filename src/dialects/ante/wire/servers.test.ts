import { expect, test } from "vitest";
import { readServers } from "./servers.js";

const read = (settings: unknown) => readServers("/home/x/.ante/settings.json", JSON.stringify(settings));

test("servers keep their command, arguments, environment and tools; the rest of the file is not ours", () => {
  const { servers, warnings } = read({
    model: "claude-sonnet-4-6",
    theme: { dark: true },
    mcp_servers: {
      files: { command: "npx", args: ["-y", "server"], env: { TOKEN: "t" }, enabled_tools: ["read"], later: 1 },
      plain: { command: "node", args: null },
    },
  });
  expect(servers).toEqual({
    files: { command: "npx", args: ["-y", "server"], env: { TOKEN: "t" }, enabledTools: ["read"] },
    plain: { command: "node" },
  });
  expect(warnings).toEqual([]);
});

test("without servers there is nothing to say", () => {
  expect(read({ model: "m" })).toEqual({ servers: {}, warnings: [] });
  expect(read({ mcp_servers: null })).toEqual({ servers: {}, warnings: [] });
});

test.each([
  ["{ no", "JSON"],
  ['"a text"', "it: "],
  ['{"mcp_servers":{"a":{"command":7}}}', "mcp_servers.a.command"],
  ['{"mcp_servers":{"a":{}}}', "mcp_servers.a.command"],
])("%s is one warning that names the place", (text, words) => {
  const { servers, warnings } = readServers("/x/settings.json", text);
  expect(servers).toEqual({});
  expect(warnings).toEqual([expect.stringContaining(words)]);
  expect(warnings[0]).toContain("/x/settings.json is not used");
});
