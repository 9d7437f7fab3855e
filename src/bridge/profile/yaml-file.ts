/** A YAML file that a person wrote: its value, and the place of each part in the text. */
import type { Document } from "yaml";
import { messageOf } from "../../core/errors.js";
import { firstFew } from "../../core/text/truncate-list.js";
import type { Keys } from "../../core/values/value-issues.js";
import { tooDeepAt } from "../../core/yaml/depth.js";
import { offsetOf } from "../../core/yaml/position.js";
import { readYaml } from "../../core/yaml/text.js";
import { brokenFile } from "./broken-file.js";
import { readSmallFile } from "./small-file.js";

const MAX_DEPTH = 50;
const MAX_ALIASES = 100;

export interface YamlFile {
  value: unknown;
  /** The place of a key in the text, and the same for people: `path:line:column`. */
  offset(keys: Keys, on: "key" | "value"): number;
  point(keys: Keys, on: "key" | "value"): string;
}

/** Throws a `config` fault that names the file and calls it `what`. */
export async function readYamlFile(path: string, what: string): Promise<YamlFile> {
  return parseYaml(await readSmallFile(path, what), path);
}

/** `path` names the file in messages; `mend` may change the values that YAML read. */
export function parseYaml(text: string, path: string, mend: (doc: Document.Parsed) => void = () => {}): YamlFile {
  const deep = tooDeepAt(text, MAX_DEPTH);
  if (deep !== undefined) throw brokenFile([`${path}:${deep.line}:${deep.column}: this is nested too deeply`]);
  const { doc, lines, problems } = readYaml(text);
  const at = (offset: number): string => {
    const { line, col } = lines.linePos(offset);
    return `${path}:${line}:${col}`;
  };
  const more = (count: number): string => `${path}: and ${count} more such problems`;
  const words = ({ offset, message }: (typeof problems)[number]): string => `${at(offset)}: ${message}${braces(text, offset)}`;
  if (problems.length > 0) throw brokenFile(firstFew(problems, words, more));
  mend(doc);
  try {
    const value: unknown = doc.toJS({ maxAliasCount: MAX_ALIASES });
    const offset: YamlFile["offset"] = (keys, on) => offsetOf(doc, keys, on);
    return { value, offset, point: (keys, on) => at(offset(keys, on)) };
  } catch (error) {
    throw brokenFile([`${path}: cannot be expanded: ${messageOf(error)}`]);
  }
}

/** YAML reads a placeholder at the start of a value as a mapping. */
function braces(text: string, offset: number): string {
  const line = text.slice(text.lastIndexOf("\n", offset - 1) + 1).split("\n", 1)[0] ?? "";
  return /(^|[\s,[])\{\{/.test(line) ? '; what begins with {{ needs quotes: "{{…}}"' : "";
}
