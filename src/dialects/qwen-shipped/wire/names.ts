/** Qwen Code's names of our tools, modes and levels of effort: its hosts look for these names. */
import type { Mode } from "../../../core/config.js";

/** The version of Qwen Code that hosts are told. */
export const WIRE_VERSION = "0.24.4";

const TOOLS: Readonly<Record<string, string>> = {
  Read: "read_file",
  Glob: "glob",
  Grep: "grep_search",
  TodoWrite: "todo_write",
  Skill: "skill",
  ExitPlan: "exit_plan_mode",
  Write: "write_file",
  Edit: "edit",
  Bash: "run_shell_command",
  Spawn: "agent",
  WebFetch: "web_fetch",
};

/** A tool of the host or of a server keeps its name. */
export function wireTool(name: string): string {
  return Object.hasOwn(TOOLS, name) ? (TOOLS[name] ?? name) : name;
}

/** `auto`, in which a model decides about calls, asks as `default` does. */
const MODES: Readonly<Record<string, Mode>> = {
  plan: "plan",
  default: "default",
  "auto-edit": "auto_edit",
  auto: "default",
  yolo: "yolo",
};

export const MODE_NAMES: readonly string[] = Object.keys(MODES);

export function modeNamed(name: string): Mode | undefined {
  return Object.hasOwn(MODES, name) ? MODES[name] : undefined;
}

export function wireMode(mode: Mode = "default"): string {
  return mode === "auto_edit" || mode === "sandboxed" ? "auto-edit" : mode;
}
