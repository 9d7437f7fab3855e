/**
 * The lists of tools that a session is opened with: which tools there are. `Bash` names a tool, in capitals or not and by the names that
 * other agents have for it; `mcp__files__*` all of a server. tool-limits.ts reads a pattern behind a name.
 */
import type { SessionConfig } from "../../core/config.js";
import { toolNamed } from "../../core/names.js";
import { parseRule } from "../../core/text/rule-text.js";

export interface ToolEntry {
  /** Our name, perhaps with `*` at its end. */
  tool: string;
  pattern?: string;
}

/** A disallowed `Tool(pattern)` leaves the tool. `wholeName` is the whole of a shortened name: either may be disallowed. */
export function toolExists(name: string, { allowedTools, disallowedTools }: SessionConfig, wholeName = name): boolean {
  const forbids = (entry: ToolEntry): boolean => entry.pattern === undefined && (covers(entry, name) || covers(entry, wholeName));
  if (disallowedTools?.map(parseEntry).some(forbids) === true) return false;
  return allowedTools === undefined || allowedTools.some((entry) => namesTool(entry, name));
}

/** Whether the entries name the tool, or each of those that it stands for. */
export function areNamed(
  entries: readonly string[],
  { name, standsFor = [name] }: { name: string; standsFor?: readonly string[] },
): boolean {
  return standsFor.every((each) => entries.some((entry) => namesTool(entry, each)));
}

export function namesTool(entry: string, name: string): boolean {
  return covers(parseEntry(entry), name);
}

/** Whether the entry has a pattern, readable or not. */
export function hasPattern(entry: string): boolean {
  return entry.includes("(");
}

/** Throws a `config` fault for an entry that cannot be read. */
export function parseEntry(text: string): ToolEntry {
  const { tool, ...rest } = parseRule(text);
  return { tool: toolNamed(tool), ...rest };
}

export function covers({ tool }: ToolEntry, name: string): boolean {
  const [entry, known] = [tool.toLowerCase(), name.toLowerCase()];
  return entry.endsWith("*") ? known.startsWith(entry.slice(0, -1)) : entry === known;
}
