/** Hooks: when one is asked, and how a config file says which calls it is about. */
import { isRule } from "./text/rule-text.js";

export const HOOK_EVENTS = ["pre_tool_use", "post_tool_use", "prompt", "stop", "session_start", "session_end"] as const;
export type HookEvent = (typeof HOOK_EVENTS)[number];

/** A session that ends has no host to ask; the host hears `session.ended`. */
export const HOST_EVENTS: readonly HookEvent[] = HOOK_EVENTS.filter((event) => event !== "session_end");

/** Whether the text of `match` can be read. */
export function isMatch(text: string): boolean {
  return alternatives(text).every(isRule);
}

/** A `|` within brackets belongs to the pattern. */
export function alternatives(text: string): string[] {
  const found = [""];
  let depth = 0;
  for (const letter of text) {
    if (letter === "(") depth++;
    if (letter === ")") depth--;
    if (letter === "|" && depth === 0) found.push("");
    else found.push((found.pop() ?? "") + letter);
  }
  return found;
}
