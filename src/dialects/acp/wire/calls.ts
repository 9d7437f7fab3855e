/** Tool calls: kinds and names, and the content of a call as parts. */
import * as v from "valibot";
import type { Part } from "../../../core/content.js";
import type { Call, Category } from "../../../core/event.js";
import { isRecord } from "../../../core/values/json-object.js";
import { canonicalTool, categoryOf } from "../../../core/names.js";
import { blockOf, partOf } from "./content.js";
import { diffPart } from "./diff.js";
import { KnownToolContent, type ToolContent, type WireCall } from "./updates.js";

// --- names and kinds ---

/** Kinds of our own tools; other tools have the kind of their category. */
const KINDS: ReadonlyMap<string, string> = new Map([
  ["Read", "read"],
  ["Glob", "search"],
  ["Grep", "search"],
  ["TodoWrite", "think"],
  ["AskUser", "other"],
  ["ExitPlan", "switch_mode"],
  ["Skill", "other"],
  ["Spawn", "other"],
  ["WebFetch", "fetch"],
]);
const KIND_OF_CATEGORY: Readonly<Record<Category, string>> = { info: "read", edit: "edit", exec: "execute", mcp: "other" };

export function kindOf({ name, category }: Call): string {
  return KINDS.get(name) ?? KIND_OF_CATEGORY[category ?? categoryOf(name)];
}

/** Our tool for a kind, for agents that tell no tool name. */
const TOOL_OF_KIND: ReadonlyMap<string, string> = new Map([
  ["read", "Read"],
  ["edit", "Edit"],
  ["search", "Grep"],
  ["execute", "Bash"],
  ["fetch", "WebFetch"],
  ["switch_mode", "ExitPlan"],
]);
const CATEGORY_OF_KIND: ReadonlyMap<string, Category> = new Map([
  ["read", "info"],
  ["search", "info"],
  ["think", "info"],
  ["edit", "edit"],
  ["delete", "edit"],
  ["move", "edit"],
]);

/** Our call for a call of a driven agent with all its updates merged. */
export function callOf(wire: WireCall): Call {
  const name = nameOf(wire);
  const { rawInput, title, locations, content } = wire;
  const paths = [...new Set((locations ?? []).map(({ path }) => path))];
  const preview = partsOf(content ?? []);
  return {
    id: wire.toolCallId,
    name,
    args: isRecord(rawInput) ? rawInput : {},
    category: categoryIn(name, wire.kind ?? undefined),
    ...(title != null && title !== "" && { title }),
    ...(paths.length > 0 && { paths }),
    ...(preview.length > 0 && { preview }),
  };
}

/**
 * The name is in `name` or in an agent's own place: Qwen Code has `_meta.toolName`, the Claude adapter `_meta.claudeCode.toolName`, and
 * Gemini CLI puts it before the id of the call. Without a name the kind selects our tool of the same purpose.
 */
function nameOf({ name, toolCallId, kind, title, _meta }: WireCall): string {
  const meta: Record<string, unknown> = _meta ?? {};
  const claude = meta["claudeCode"];
  const [front = ""] = toolCallId.split("__");
  const told = [name, meta["toolName"], isRecord(claude) ? claude["toolName"] : undefined].find(
    (word): word is string => typeof word === "string" && word !== "",
  );
  if (told !== undefined) return canonicalTool(told);
  if (front !== toolCallId && canonicalTool(front) !== front) return canonicalTool(front);
  return TOOL_OF_KIND.get(kind ?? "") ?? canonicalTool(title || kind || "tool");
}

/** If name and kind disagree, the category that asks more often wins. */
function categoryIn(name: string, kind: string | undefined): Category {
  const byName = categoryOf(name);
  if (kind === undefined || byName === "mcp") return byName;
  const byKind = CATEGORY_OF_KIND.get(kind);
  if (byKind === undefined) return "exec";
  // An unknown name is `exec`; its kind is more precise.
  if (byName === "exec") return canonicalTool(name) === name && !isOurs(name) ? byKind : "exec";
  return byName === "edit" || byKind === "edit" ? "edit" : "info";
}

function isOurs(name: string): boolean {
  return name === "Bash" || name === "Spawn" || name === "WebFetch";
}

// --- content ---

export function partsOf(content: readonly ToolContent[]): Part[] {
  return content.flatMap((item): Part[] => {
    if (!v.is(KnownToolContent, item)) return [{ type: "json", data: item }];
    if (item.type === "content") return [partOf(item.content)];
    // The output of a terminal comes from the client itself or in pieces, not as content.
    return item.type === "diff" ? [diffPart(item.path, item.oldText ?? null, item.newText)] : [];
  });
}

/** Paths on the wire are absolute; relative ones are completed with `cwd`. */
export function contentOf(parts: readonly Part[], cwd: string): ToolContent[] {
  return parts.flatMap((part): ToolContent[] => {
    if (part.type === "todo") return [];
    if (part.type === "diff" && (part.before !== null || part.after !== "" || part.patch === ""))
      return [{ type: "diff", path: absolute(part.path, cwd), oldText: part.before, newText: part.after }];
    const block = blockOf(part);
    return block === undefined ? [] : [{ type: "content", content: block }];
  });
}

export function textContent(text: string): ToolContent[] {
  return text === "" ? [] : [{ type: "content", content: { type: "text", text } }];
}

export function absolute(path: string, cwd: string): string {
  if (path.startsWith("/") || /^[A-Za-z]:[\\/]/.test(path) || cwd === "") return path;
  return `${cwd.replace(/[\\/]$/, "")}/${path.replace(/^\.\//, "")}`;
}

/** The files of a call: its `paths`, or the paths among its arguments. */
export function locationsOf({ paths, args = {} }: Call, cwd: string): { path: string }[] {
  const named = ["file_path", "path", "notebook_path"].map((key) => args[key]).filter((value) => typeof value === "string");
  return [...new Set(paths ?? named)].map((path) => ({ path: absolute(path, cwd) }));
}
