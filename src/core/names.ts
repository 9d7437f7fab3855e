/** Tool names: ours, their categories, and what other agents call the same thing. The one table for all dialects. */
import type { Category } from "./event.js";

const TOOLS: readonly { name: string; category: Category; aliases: readonly string[] }[] = [
  { name: "Read", category: "info", aliases: ["read_file", "ReadFile", "ReadFileTool", "view_file", "ViewImage", "view_image"] },
  { name: "Glob", category: "info", aliases: ["glob", "GlobTool", "FindFiles", "find_files", "list_directory", "ListFiles"] },
  { name: "Grep", category: "info", aliases: ["grep", "GrepTool", "grep_search", "search_file_content", "SearchText"] },
  { name: "TodoWrite", category: "info", aliases: ["todo_write", "TodoWriteTool", "update_plan"] },
  { name: "AskUser", category: "info", aliases: [] },
  { name: "Skill", category: "info", aliases: ["skill", "SkillTool"] },
  { name: "ExitPlan", category: "info", aliases: ["exit_plan_mode", "ExitPlanMode", "exit_plan"] },
  { name: "Write", category: "edit", aliases: ["write_file", "WriteFile", "WriteFileTool", "create_file"] },
  {
    name: "Edit",
    category: "edit",
    aliases: ["edit", "edit_file", "EditTool", "EditFile", "replace", "str_replace", "apply_patch", "MultiEdit"],
  },
  { name: "Bash", category: "exec", aliases: ["bash", "ExecCommand", "exec_command", "run_shell_command", "ShellTool", "Shell", "shell"] },
  { name: "BashOutput", category: "info", aliases: ["bash_output", "TaskOutput", "write_stdin"] },
  { name: "Spawn", category: "exec", aliases: ["Agent", "agent", "Task", "task", "SubAgent", "TaskTool"] },
  { name: "WebFetch", category: "exec", aliases: ["web_fetch", "WebFetchTool", "fetch_url"] },
  { name: "WebSearch", category: "exec", aliases: ["web_search", "WebSearchTool", "google_web_search"] },
];

/** The names of our tools, as the model sees them. */
export const TOOL_NAMES: readonly string[] = TOOLS.map(({ name }) => name);

const byName = new Map(TOOLS.flatMap((tool) => [tool.name, ...tool.aliases].map((name) => [name, tool] as const)));

const inAnyCase = new Map([...byName].map(([name, tool]) => [name.toLowerCase(), tool.name]));

/** Names of host tools that ask the user, with other agents' names for it. A session with one of them needs no AskUser. */
export const ASKING_TOOLS: readonly string[] = ["AskUser", "AskUserQuestion", "ask_user_question", "ask_user"];

/** Our name for a tool as people write it, in any case of letters; the given text if we have no such tool. */
export function toolNamed(text: string): string {
  return inAnyCase.get(text.toLowerCase()) ?? plainMcp(text);
}

/** Our name for a tool of any agent; the given name if we have no such tool. */
export function canonicalTool(name: string): string {
  return byName.get(name)?.name ?? plainMcp(name);
}

/** Names of MCP tools have letters, digits and `_` only: any other character of `mcp__my-server__act` becomes `_`, except the `*` of a pattern. */
function plainMcp(name: string): string {
  return name.startsWith("mcp__") ? name.replace(/[^A-Za-z0-9_*]/g, "_") : name;
}

/** `mcp` for `mcp__server__tool`; `exec`, which is asked about most, for an unknown tool. */
export function categoryOf(name: string): Category {
  return byName.get(name)?.category ?? (name.startsWith("mcp__") ? "mcp" : "exec");
}
