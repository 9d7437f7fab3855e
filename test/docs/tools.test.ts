/** docs/tools.md against the tools: their names, categories, other names, limits, and what of them runs unasked. */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { canonicalTool, categoryOf, TOOL_NAMES } from "../../src/core/names.js";
import { dialectIds, loadDialect } from "../../src/dialects/index.js";
import { UNASKED } from "../../src/engine/permissions/permissions.js";
import { builtinTools } from "../../src/engine/tools/index.js";
import { ROOT, textOf } from "./shell-blocks.js";

const page = textOf("docs/tools.md");
const [listed = "", unasked = "", limited = ""] = [page, section("What runs unasked"), section("Limits")].map(tableOf);
const rows = cellsOf(listed).map(([tool = "", category = "", , asks = "", others = ""]) => ({
  tool: codesIn(tool)[0] ?? "",
  category,
  asks,
  others: codesIn(others),
}));

it("lists every tool once", () => {
  const ofServers = ["ListMcpResources", "ReadMcpResource"];
  const expected = new Set([...TOOL_NAMES, ...builtinTools.map(({ name }) => name), ...ofServers]);
  expect(rows.map(({ tool }) => tool).sort()).toEqual([...expected].sort());
});

it.each(rows)("$tool has its category and its other names", ({ tool, category, others }) => {
  const known = TOOL_NAMES.includes(tool) ? categoryOf(tool) : builtinTools.find(({ name }) => name === tool)?.category;
  expect(category).toBe(known ?? "mcp");
  expect(others.map(canonicalTool)).toEqual(others.map(() => tool));
  const [, aliases = ""] = new RegExp(`name: "${tool}",[^{}]*aliases: \\[([^\\]]*)\\]`).exec(textOf("src/core/names.ts")) ?? [];
  expect(others).toEqual([...aliases.matchAll(/"([^"]+)"/g)].map(([, alias]) => alias));
});

it("tells what runs unasked, everywhere and by dialect", async () => {
  const always = rows.filter(({ asks }) => asks === "yes").map(({ tool }) => tool);
  // AskUser is no call that could be asked about: it is itself a question.
  expect(always.filter((tool) => tool !== "AskUser").sort()).toEqual([...UNASKED].sort());
  const told = new Map(cellsOf(unasked).flatMap(([dialects = "", tools = ""]) => codesIn(dialects).map((id) => [id, codesIn(tools)])));
  for (const id of dialectIds.filter((each) => !each.includes("@"))) {
    expect.soft(told.get(id), id).toEqual((await loadDialect(id)).unasked ?? UNASKED);
  }
});

it.each(cellsOf(limited))("the limits of %s are those of the code", (tool, text = "") => {
  const source = sourceOf(codesIn(tool)[0] ?? "all").replaceAll(/(?<=\d)_(?=\d)/g, "");
  const numbers = [...text.matchAll(/\d+/g)].map(([number]) => number);
  expect(numbers.filter((number) => !new RegExp(`\\b${number}(?:000)?\\b`).test(source))).toEqual([]);
});

/** The tool's own file and those beside it. */
function sourceOf(tool: string): string {
  if (tool === "all") return textOf("src/core/limits.ts");
  const folder = join(ROOT, "src/engine/tools");
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter(
    (file) => file.endsWith(".ts") && !file.endsWith(".test.ts"),
  );
  const own = files.find((file) => readFileSync(join(folder, file), "utf8").includes(`name: "${tool}"`)) ?? "";
  const near = files.filter((file) => dirname(file) === dirname(own) || file.startsWith("files/"));
  return near.map((file) => readFileSync(join(folder, file), "utf8")).join("\n");
}

function section(title: string): string {
  return page.split(`## ${title}\n`)[1] ?? "";
}

function tableOf(text: string): string {
  return /^\|[^]*?(?=^\s*$)/m.exec(text)?.[0] ?? "";
}

function cellsOf(table: string): string[][] {
  return table
    .trim()
    .split("\n")
    .slice(2)
    .map((line) =>
      line
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
}

function codesIn(cell: string): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code);
}
