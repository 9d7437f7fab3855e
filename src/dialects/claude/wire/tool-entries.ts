/** Claude Code's names of tools in lists and rules, as ours. */
import { toolNamed } from "../../../core/names.js";

/** Entries apart by commas or blanks. */
export function toolEntries(list: string): string[] {
  return list
    .split(/[,\s]+(?![^(]*\))/)
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "")
    .map((entry) => {
      const { tool, pattern } = partsOf(entry);
      return pattern === undefined ? tool : `${tool}(${pattern})`;
    });
}

/** `mcp__server` is every tool of that server. */
export function partsOf(entry: string): { tool: string; pattern?: string } {
  const [, name = entry, pattern] = /^([^(]+)\((.*)\)$/s.exec(entry) ?? [];
  const tool = /^mcp__(?:(?!__).)+$/.test(name) ? `${toolNamed(name)}__*` : toolNamed(name);
  return { tool, ...(pattern !== undefined && { pattern }) };
}
