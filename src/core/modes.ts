/** Modes: the calls that each mode forbids, and those that it lets run unasked. */
import type { Mode } from "./config.js";
import type { Category } from "./event.js";

interface ModeRow {
  readonly forbidden: readonly Category[];
  readonly unasked: readonly Category[];
  /** Unasked calls may also reach beyond the workspace and edit its protected files. */
  readonly isUnbounded?: true;
}

const MODES: Readonly<Record<Mode, ModeRow>> = {
  default: { forbidden: [], unasked: [] },
  plan: { forbidden: ["edit", "exec", "mcp"], unasked: [] },
  auto_edit: { forbidden: [], unasked: ["info", "edit"] },
  yolo: { forbidden: [], unasked: ["info", "edit", "exec", "mcp"], isUnbounded: true },
};

export function isForbidden(mode: Mode, category: Category): boolean {
  return MODES[mode].forbidden.includes(category);
}

export function runsUnasked(mode: Mode | undefined, category: Category | undefined): boolean {
  return mode !== undefined && category !== undefined && MODES[mode].unasked.includes(category);
}

export function isUnbounded(mode: Mode): boolean {
  return MODES[mode].isUnbounded === true;
}
