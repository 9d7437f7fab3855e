/** Our own source as trees: what a file imports (dynamic imports and types too) and a few things that it must not contain. */
import { readFileSync, readdirSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { parseSync } from "rolldown/utils";

const ROOT = join(import.meta.dirname, "../../src");

export interface SourceFile {
  /** Relative to src. */
  path: string;
  imports: string[];
  /** Texts in quotes, and templates without a value in them. */
  strings: { text: string; line: number }[];
  /** Comments as one line each, without their marks. */
  comments: { text: string; line: number }[];
  /** Lines with a type that is `any`. */
  anys: number[];
  /** Names of module-level variables that can change. */
  lets: string[];
}

/** Every file of the program, tests left out. */
export function sourceFiles(): SourceFile[] {
  return readdirSync(ROOT, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts") && !path.endsWith(".test.ts"))
    .map((path) => path.replaceAll("\\", "/"))
    .toSorted()
    .map((path) => scan(path, readFileSync(join(ROOT, path), "utf8")));
}

export function scan(path: string, text: string): SourceFile {
  const { program, comments, errors } = parseSync(path, text);
  if (errors.length > 0) throw new Error(`${path} cannot be parsed: ${errors[0]?.message}`);
  const file: SourceFile = { path, imports: [], strings: [], comments: [], anys: [], lets: [] };
  for (const { value, start } of comments)
    file.comments.push({ text: value.replaceAll(/\s*\n\s*\*?\s*|^\*?\s+/g, " ").trim(), line: text.slice(0, start).split("\n").length });
  walk(program, (node) => {
    const from = /^(Import|Export|TSImportType)/.test(String(node["type"])) ? literal(node["source"]) : undefined;
    if (from !== undefined) file.imports.push(from);
    const line = (): number => text.slice(0, Number(node["start"])).split("\n").length;
    if (node["type"] === "TSAnyKeyword") file.anys.push(line());
    const string = node["type"] === "TemplateElement" ? raw(node["value"]) : node["type"] === "Literal" ? literal(node) : undefined;
    if (string !== undefined) file.strings.push({ text: string, line: line() });
  });
  for (const statement of program.body) {
    const declared = "declaration" in statement && statement.declaration ? statement.declaration : statement;
    if (declared.type !== "VariableDeclaration" || declared.kind === "const") continue;
    for (const { id } of declared.declarations) file.lets.push(id.type === "Identifier" ? id.name : id.type);
  }
  return file;
}

/** A relative import as a path below src; others as they are. */
export function target(file: SourceFile, from: string): string {
  if (!from.startsWith(".")) return from;
  return relative(".", join(dirname(file.path), from))
    .replaceAll("\\", "/")
    .replace(/\.js$/, ".ts");
}

type Node = Record<string, unknown>;

function walk(value: unknown, visit: (node: Node) => void): void {
  if (Array.isArray(value)) for (const item of value) walk(item, visit);
  if (!isNode(value)) return;
  if (typeof value["type"] === "string") visit(value);
  for (const child of Object.values(value)) walk(child, visit);
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function literal(value: unknown): string | undefined {
  if (!isNode(value)) return undefined;
  return typeof value["value"] === "string" ? value["value"] : undefined;
}

function raw(value: unknown): string | undefined {
  return isNode(value) && typeof value["raw"] === "string" ? value["raw"] : undefined;
}
