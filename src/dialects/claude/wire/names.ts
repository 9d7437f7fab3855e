/** Claude Code's names of our tools, modes and levels of effort: its hosts look for these names. */
import type { Mode } from "../../../core/config.js";

/** The version of the wire. */
export const VERSION = "2.1";

/** The version of Claude Code that hosts are told. */
export const WIRE_VERSION = "2.1.325";

/** Tools with another name in Claude Code. */
const TOOLS: Readonly<Record<string, string>> = { Spawn: "Agent", ExitPlan: "ExitPlanMode" };

/** The name of a tool on the wire; tools unknown to Claude Code keep their own. */
export function wireTool(name: string): string {
  return Object.hasOwn(TOOLS, name) ? (TOOLS[name] ?? name) : name;
}

/** `init` lists the sub-agent tool under its older name. */
export function listedTool(name: string): string {
  return name === "Spawn" ? "Task" : wireTool(name);
}

/** `auto`, in which a model decides about calls, asks as `default` does; `dontAsk` is `default` that denies instead of asking. */
const MODES: Readonly<Record<string, Mode>> = {
  default: "default",
  manual: "default",
  acceptEdits: "auto_edit",
  auto: "default",
  bypassPermissions: "yolo",
  dontAsk: "default",
  plan: "plan",
};

/** The modes that a host may set, as Claude Code lists them. */
export const MODE_NAMES: readonly string[] = Object.keys(MODES)
  .filter((name) => name !== "manual")
  .toSorted();

export function modeNamed(name: string): Mode | undefined {
  return Object.hasOwn(MODES, name) ? MODES[name] : undefined;
}

const WIRE_MODES: Readonly<Record<Mode, string>> = {
  default: "default",
  auto_edit: "acceptEdits",
  sandboxed: "acceptEdits",
  plan: "plan",
  yolo: "bypassPermissions",
};

export function wireMode(mode: Mode = "default"): string {
  return WIRE_MODES[mode];
}

/** Claude Code's names for the latest model of a kind. `default` and `inherit` keep the present model. */
const ALIASES: Readonly<Record<string, string>> = {
  opus: "claude-opus-4-8",
  sonnet: "claude-sonnet-4-6",
  haiku: "claude-haiku-4-5",
};

/** The model for a name; undefined if the name leaves the choice to the agent. */
export function modelNamed(name: string): string | undefined {
  const plain = name.trim();
  if (plain === "" || plain === "default" || plain === "inherit") return undefined;
  return Object.hasOwn(ALIASES, plain) ? ALIASES[plain] : plain;
}
