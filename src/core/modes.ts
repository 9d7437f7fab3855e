/** Modes: the categories of calls that each mode lets run unasked. */
import type { Mode } from "./config.js";
import type { Category } from "./event.js";

const UNASKED_CATEGORIES: Readonly<Record<Mode, readonly Category[]>> = {
  default: [],
  plan: [],
  auto_edit: ["info", "edit"],
  yolo: ["info", "edit", "exec", "mcp"],
};

export function runsUnasked(mode: Mode | undefined, category: Category | undefined): boolean {
  return mode !== undefined && category !== undefined && UNASKED_CATEGORIES[mode].includes(category);
}
