/** Modes: the calls that each mode forbids, and those that it lets run unasked. */
import type { Mode } from "./config.js";
import type { Category } from "./event.js";

interface ModeRow {
  readonly forbidden: readonly Category[];
  readonly unasked: readonly Category[];
  /** Calls that run unasked if they are confined to a sandbox. */
  readonly confined?: readonly Category[];
  /** Unasked calls may also reach beyond the workspace and edit its protected files. */
  readonly isUnbounded?: true;
}

const MODES: Readonly<Record<Mode, ModeRow>> = {
  default: { forbidden: [], unasked: [] },
  plan: { forbidden: ["edit", "exec", "mcp"], unasked: [] },
  auto_edit: { forbidden: [], unasked: ["info", "edit"] },
  sandboxed: { forbidden: [], unasked: ["info", "edit"], confined: ["exec"] },
  yolo: { forbidden: [], unasked: ["info", "edit", "exec", "mcp"], isUnbounded: true },
};

export function isForbidden(mode: Mode, category: Category): boolean {
  return MODES[mode].forbidden.includes(category);
}

export function runsUnasked(mode: Mode | undefined, category: Category | undefined): boolean {
  return mode !== undefined && category !== undefined && MODES[mode].unasked.includes(category);
}

/** Whether the mode means anything only where there is a sandbox. */
export function needsSandbox(mode: Mode): boolean {
  return MODES[mode].confined !== undefined;
}

export function runsConfined(mode: Mode, category: Category): boolean {
  return MODES[mode].confined?.includes(category) === true;
}

export function isUnbounded(mode: Mode): boolean {
  return MODES[mode].isUnbounded === true;
}
