/** Tells names in lists of tools that no tool has; the other names count. */
import type { SessionConfig } from "../../core/config.js";
import type { Emit } from "../turn/turn.js";
import { covers, namesTool, parseEntry } from "./tool-lists.js";
import type { Tool } from "../tools/tool.js";

/** Tools that are there at times: with a skill, or while a server is connected. */
const AT_TIMES: ReadonlySet<string> = new Set(["skill", "listmcpresources", "readmcpresource"]);

/** Tells unknown names of a session's lists, each once. `all` holds every tool, also the ones that the lists leave out. */
export async function tellUnknownOfSession(
  { allowedTools = [], disallowedTools = [] }: SessionConfig,
  all: readonly string[],
  told: Set<string>,
  emit: Emit,
): Promise<void> {
  for (const [verb, list] of Object.entries({ choose: allowedTools, "leave out": disallowedTools })) {
    const unknown = list.filter((entry) => !told.has(entry) && isUnknown(entry, all));
    if (unknown.length === 0) continue;
    for (const entry of unknown) told.add(entry);
    await emit({
      type: "notice",
      level: "warning",
      text: `There is no tool ${quoted(unknown)} to ${verb}: that name in the list has no effect`,
    });
  }
}

/** Tells unknown names of a prompt's own list. */
export async function tellUnknownOfPrompt(list: readonly string[], tools: ReadonlyMap<string, Tool>, emit: Emit): Promise<void> {
  const unknown = list.filter((entry) => ![...tools.keys()].some((name) => namesTool(entry, name)));
  if (unknown.length === 0) return;
  await emit({ type: "notice", level: "warning", kind: "unknown_tool", text: `There is no tool ${quoted(unknown)} for this prompt` });
}

function isUnknown(text: string, all: readonly string[]): boolean {
  const entry = parseEntry(text);
  const tool = entry.tool.toLowerCase();
  return !tool.startsWith("mcp__") && !AT_TIMES.has(tool) && !all.some((name) => covers(entry, name));
}

function quoted(entries: readonly string[]): string {
  return entries.map((entry) => `'${entry}'`).join(", ");
}
