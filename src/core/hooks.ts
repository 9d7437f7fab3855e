/** Hooks: the points at which they are asked, and how a config file says which calls a hook is about. */
import { isRule } from "./text/rule-text.js";

interface HookPoint {
  /** The point is about one call, so a hook may say by `match` which calls it wants. */
  readonly ofCall?: true;
  /** No host is left to ask: only commands of a config file are asked. */
  readonly withoutHost?: true;
}

const POINTS = {
  pre_tool_use: { ofCall: true },
  post_tool_use: { ofCall: true },
  prompt: {},
  stop: {},
  session_start: {},
  session_end: { withoutHost: true },
} satisfies Record<string, HookPoint>;

export type HookEvent = keyof typeof POINTS;
export type HostEvent = { [E in HookEvent]: (typeof POINTS)[E] extends { withoutHost: true } ? never : E }[HookEvent];

const ENTRIES = Object.entries<HookPoint>(POINTS) as [HookEvent, HookPoint][];
export const HOOK_EVENTS: readonly HookEvent[] = ENTRIES.map(([event]) => event);
export const HOST_EVENTS: readonly HookEvent[] = ENTRIES.flatMap(([event, { withoutHost }]) => (withoutHost === true ? [] : [event]));

/** One value for each point. */
export function byHookEvent<T>(valueFor: (event: HookEvent, point: HookPoint) => T): Record<HookEvent, T> {
  return Object.fromEntries(ENTRIES.map(([event, point]) => [event, valueFor(event, point)])) as Record<HookEvent, T>;
}

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
