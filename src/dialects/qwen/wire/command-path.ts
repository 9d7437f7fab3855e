/** Commands that have sub-commands: `/chat list` is the path `["chat", "list"]`, where `/model name` is the path `["model"]`. */
import type { CommandRef } from "./op-records.js";

const SUB_COMMANDS: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ["chat", new Set(["list", "save", "resume", "delete"])],
  ["mcp", new Set(["login"])],
]);

/** A command as written: its name, and the rest. */
export function commandRef(name: string, args: string): CommandRef {
  const [, sub = "", rest = ""] = /^\s*(\S*)\s*([^]*)$/.exec(args) ?? [];
  if (SUB_COMMANDS.get(name)?.has(sub) === true) return { kind: "slash", path: [name, sub], args: rest };
  return { kind: "slash", path: [name], args };
}
