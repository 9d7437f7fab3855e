/** A call as rules see it. */
import type { Category } from "../../core/event.js";
import type { CallPath } from "./path-pattern.js";

export interface RuledCall {
  tool: string;
  /** The whole name of a tool whose name was shortened: deny and ask find the tool by either. */
  wholeName?: string | undefined;
  category: Category;
  args: Record<string, unknown>;
  paths: readonly CallPath[];
  /** Calls of other tools that would do the same together: a deny or an ask of one holds for the call, and an allow of all. */
  equivalents?: readonly EquivalentCall[];
}

/** A call of another tool with the same effect, which is judged as well. */
export interface EquivalentCall extends Omit<RuledCall, "equivalents"> {
  /** Further tools whose deny and ask rules hold for the call. */
  forbiddenAs?: readonly string[];
  /** The call needs no allow. */
  onlyForbids?: true;
}

/** The calls that must be allowed before the call may run. */
export function neededCalls(call: RuledCall): readonly EquivalentCall[] {
  const needed = call.equivalents?.filter(({ onlyForbids }) => onlyForbids !== true) ?? [];
  return needed.length === 0 ? [call] : needed;
}
