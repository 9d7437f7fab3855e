import fc from "fast-check";
import { expect, test } from "vitest";
import { ToolNames } from "./names.js";

test.each([
  ["my-server", "do.thing", "mcp__my_server__do_thing"],
  ["files", "read_file", "mcp__files__read_file"],
  ["ünïcode", "größe", "mcp___n_code__gr__e"],
])("%s and %s become %s", (server, tool, name) => {
  expect(new ToolNames().tool(server, tool)).toBe(name);
});

test("two that would be the same are told apart, the first keeps its name", () => {
  const names = new ToolNames();
  expect(names.tool("s", "a.b")).toBe("mcp__s__a_b");
  expect(names.tool("s", "a-b")).toMatch(/^mcp__s__a_b_[0-9a-f]{8}$/);
  expect(names.tool("s", "a.b")).toBe("mcp__s__a_b");
  expect(names.tool("my.s", "x")).toBe("mcp__my_s__x");
  expect(names.tool("my-s", "x")).toMatch(/^mcp__my_s_[0-9a-f]{8}__x$/);
});

test("names are short, of plain characters, one for each, and always the same", () => {
  const named = fc.oneof(fc.string({ minLength: 1, maxLength: 200, unit: "grapheme" }), fc.constantFrom("_", "__", "a", "a_", "_a"));
  fc.assert(
    fc.property(fc.uniqueArray(named, { maxLength: 5 }), fc.uniqueArray(named, { maxLength: 20 }), (servers, tools) => {
      const names = new ToolNames();
      const all = (): string[] => servers.flatMap((server) => tools.map((tool) => names.tool(server, tool)));
      const first = all();
      expect(new Set(first).size).toBe(first.length);
      for (const name of first) expect(name).toMatch(/^mcp__\w{1,59}$/);
      expect(all()).toEqual(first);
    }),
  );
});
