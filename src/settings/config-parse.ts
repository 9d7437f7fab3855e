/** The text of a config file as settings with positions. This file loads YAML and the schema, so only an existing config file loads it. */
import { visit, type Document } from "yaml";
import { messageOf } from "../core/errors.js";
import { checkValue, nameOf, type Keys } from "../core/values/value-issues.js";
import { brokenFile, type ConfigFile } from "./config-file.js";
import { Config } from "./config-schema.js";
import { firstFew } from "../core/text/truncate-list.js";
import { tooDeepAt } from "../core/yaml/depth.js";
import { offsetOf } from "../core/yaml/position.js";
import { readYaml } from "../core/yaml/text.js";
import { isRecord } from "../core/values/json-object.js";
import { LISTS, ROWS } from "./table.js";

/** The most values that a file's aliases may expand to; more of them is an attack. */
const MAX_ALIASES = 100;
const MAX_DEPTH = 100;
/** The most problems that are reported with their places. */
const MOST_PLACED = 100;

/** Removes from a workspace's file the keys that decide where prompts and keys are sent, with a warning for each. */
export function parseConfig(path: string, text: string, owner: "user" | "workspace"): ConfigFile {
  const deep = tooDeepAt(text, MAX_DEPTH);
  if (deep !== undefined) return brokenFile(path, `${path}:${deep.line}:${deep.column}: this is nested too deeply`);
  const { doc, lines, problems: syntax } = readYaml(text);
  const locate = (keys: Keys) => `${path}:${lines.linePos(offsetOf(doc, keys, "key")).line}`;
  const point = (offset: number) => {
    const { line, col } = lines.linePos(offset);
    return `${path}:${line}:${col}`;
  };
  const locateValue = (keys: Keys) => point(offsetOf(doc, keys, "value"));
  const file: ConfigFile = { path, config: {}, locate, locateValue, warnings: [], problems: [] };

  const more = (count: number): string => `${path}: and ${count} more such problems`;
  if (syntax.length > 0) return { ...file, problems: firstFew(syntax, ({ offset, message }) => `${point(offset)}: ${message}`, more) };
  const plain = plainValue(doc);
  if ("problem" in plain) return { ...file, problems: [`${point(plain.offset)}: ${plain.problem}`] };

  const { value, removed } = owner === "workspace" ? withoutReserved(plain.value) : { value: plain.value, removed: [] };
  const warnings = removed.map((keys) => `${locate(keys)}: ${nameOf(keys)} is ignored: only your own config.yaml may set it`);
  const checked = checkValue(Config, value);
  if ("output" in checked) return { ...file, config: checked.output, warnings };
  // Finding a place walks through the file.
  const placed = checked.problems.slice(0, MOST_PLACED).map((problem) => ({ ...problem, offset: offsetOf(doc, problem.keys, problem.on) }));
  const problems = placed.toSorted((a, b) => a.offset - b.offset).map(({ offset, text: what }) => `${point(offset)}: ${what}`);
  if (checked.problems.length > MOST_PLACED) problems.push(more(checked.problems.length - MOST_PLACED));
  return { ...file, config: namesIn(value), warnings, problems };
}

function plainValue(doc: Document.Parsed): { value: unknown } | { problem: string; offset: number } {
  try {
    const value: unknown = doc.toJS({ maxAliasCount: MAX_ALIASES });
    return { value: value ?? {} };
  } catch (error) {
    let offset = 0;
    visit(doc, {
      Alias(_, alias) {
        offset = alias.range?.[0] ?? 0;
        return visit.BREAK;
      },
    });
    return { problem: `cannot be expanded: ${messageOf(error)}`, offset };
  }
}

/** Keeps only the names of providers of a file with problems, so that they are checked with the rest. */
function namesIn(value: unknown): Config {
  if (!isRecord(value)) return {};
  const { provider, providers } = value;
  return {
    ...(typeof provider === "string" && { provider }),
    ...(isRecord(providers) && { providers: Object.fromEntries(Object.keys(providers).map((name) => [name, {}])) }),
  };
}

/** Keys at the top of a file. `headers` is none; a workspace that tries it is warned like one that names an address. */
const RESERVED: ReadonlySet<string> = new Set([
  ...[...ROWS, ...Object.entries(LISTS)].flatMap(([key, { userOnly }]) => (userOnly === true ? [topOf(key)] : [])),
  "headers",
]);

/** `env.pass` is in the mapping `env`, and so far that mapping has no other keys. */
function topOf(key: string): string {
  return key.split(".")[0] ?? key;
}

function withoutReserved(value: unknown): { value: unknown; removed: Keys[] } {
  if (!isRecord(value)) return { value, removed: [] };
  const names = Object.keys(value).filter((key) => RESERVED.has(key));
  const kept = without(value, names);
  const removed: Keys[] = names.map((key) => [key]);
  if (!isRecord(kept["mcpServers"])) return { value: kept, removed };
  const servers = Object.entries(kept["mcpServers"]).map(([name, server]): [string, unknown] => {
    if (!isRecord(server) || !Object.hasOwn(server, "headers")) return [name, server];
    removed.push(["mcpServers", name, "headers"]);
    return [name, without(server, ["headers"])];
  });
  return { value: { ...kept, mcpServers: Object.fromEntries(servers) }, removed };
}

function without(mapping: Record<string, unknown>, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(mapping).filter(([key]) => !names.includes(key)));
}
