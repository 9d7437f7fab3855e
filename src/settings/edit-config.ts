/**
 * Entries that commands add to the user's config file or remove from it. Every other line stays as it was written; only where the entry
 * cannot be a block of lines of its own is the file written anew, with its comments and the order of its keys. The file is written as a whole
 * or not at all.
 */
import { readFile, realpath } from "node:fs/promises";
import { join } from "node:path";
import { isMap, isNode, isScalar, stringify, type Document, type Pair, type YAMLMap } from "yaml";
import { ParleyError, systemCode, systemReason } from "../core/errors.js";
import { sameJson } from "../core/values/json-object.js";
import { readYaml } from "../core/yaml/text.js";
import { makeFolder } from "../os/files/folders.js";
import { withLock } from "../os/files/lock.js";
import { writeWhole } from "../os/files/whole-file.js";
import { parseConfig } from "./config-parse.js";

/**
 * Adds an entry to a mapping at the top of the file, or removes it where there is no value. `check` gets the names of its entries, and throws a refusal. Returns the path of the
 * file. Throws where the file cannot be read as a config, before or after the change.
 */
export async function editConfig(
  home: string,
  mapping: string,
  name: string,
  value: unknown,
  check: (names: readonly string[]) => void,
): Promise<string> {
  const file = join(home, "config.yaml");
  makeFolder(home, 0o700);
  await withLock(`${file}.lock`, file, async () => {
    const before = await textOf(file);
    refuseProblems(file, before);
    check(entriesOf(readYaml(before).doc, mapping).map(nameOf));
    const after = value === undefined ? without(before, mapping, name) : withEntry(before, mapping, name, value);
    refuseProblems(file, after);
    // A link stays a link: people keep their settings in folders elsewhere.
    await writeWhole(await realpath(file).catch(() => file), after);
  });
  return file;
}

function withEntry(text: string, mapping: string, name: string, value: unknown): string {
  const { doc } = readYaml(text);
  const last = entriesOf(doc, mapping).at(-1);
  const block = last === undefined ? ownBlock(text, mapping, name, value) : behind(text, last, name, value);
  const map = mapOf(doc, mapping);
  if (map !== undefined) map.set(name, doc.createNode(value));
  else doc.set(mapping, doc.createNode({ [name]: value }));
  return faithful(block, doc);
}

function ownBlock(text: string, mapping: string, name: string, value: unknown): string {
  const above = text.trimEnd();
  return `${above === "" ? "" : `${above}\n`}${stringify({ [mapping]: { [name]: value } }, { lineWidth: 0 })}`;
}

/** Behind the line on which the last entry ends, and as far indented as that. */
function behind(text: string, last: Pair, name: string, value: unknown): string {
  const start = startOf(last);
  const indent = " ".repeat(start - (text.lastIndexOf("\n", start - 1) + 1));
  const end = endOfLine(text, endOf(last));
  const entry = stringify({ [name]: value }, { lineWidth: 0 })
    .trimEnd()
    .replace(/^/gm, indent);
  return `${text.slice(0, end)}\n${entry}${text.slice(end) === "" ? "\n" : text.slice(end)}`;
}

function without(text: string, mapping: string, name: string): string {
  const { doc } = readYaml(text);
  const entries = entriesOf(doc, mapping);
  const isLast = entries.length === 1;
  const found = isLast ? topOf(doc).find((pair) => nameOf(pair) === mapping) : entries.find((pair) => nameOf(pair) === name);
  if (found === undefined) return text;
  const start = text.lastIndexOf("\n", startOf(found) - 1) + 1;
  const cut = text.slice(0, start) + text.slice(endOfLine(text, endOf(found)) + 1);
  if (isLast) doc.delete(mapping);
  else mapOf(doc, mapping)?.delete(found.key);
  return faithful(cut, doc);
}

/** The edited text where it means what the changed document means, else the document. */
function faithful(text: string, doc: Document): string {
  const wanted: unknown = doc.toJS({ maxAliasCount: 100 }) ?? {};
  const { doc: edited, problems } = readYaml(text);
  if (problems.length === 0 && sameJson(edited.toJS({ maxAliasCount: 100 }) ?? {}, wanted)) return text;
  return doc.toString({ lineWidth: 0 });
}

function topOf(doc: Document): readonly Pair[] {
  return isMap(doc.contents) ? doc.contents.items : [];
}

function mapOf(doc: Document, mapping: string): YAMLMap | undefined {
  const map = doc.get(mapping);
  return isMap(map) ? map : undefined;
}

function entriesOf(doc: Document, mapping: string): readonly Pair[] {
  return mapOf(doc, mapping)?.items ?? [];
}

function nameOf({ key }: Pair): string {
  return isScalar(key) ? String(key.value) : "";
}

function startOf({ key }: Pair): number {
  return isNode(key) ? (key.range?.[0] ?? 0) : 0;
}

function endOf({ key, value }: Pair): number {
  const node = isNode(value) ? value : key;
  return isNode(node) ? (node.range?.[1] ?? 0) : 0;
}

function endOfLine(text: string, offset: number): number {
  // The value of a block may end with the break of its last line.
  const end = text.indexOf("\n", Math.max(0, text[offset - 1] === "\n" ? offset - 1 : offset));
  return end === -1 ? text.length : end;
}

async function textOf(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    if (systemCode(error) === "ENOENT") return "";
    throw fault(`${file} cannot be read: ${systemReason(error)}`);
  }
}

function refuseProblems(file: string, text: string): void {
  const { problems } = parseConfig(file, text, "user");
  if (problems.length > 0) throw fault(`${problems.join("\n")}\nNothing was changed`);
}

function fault(message: string): ParleyError {
  return new ParleyError({ code: "config", message, retryable: false });
}
