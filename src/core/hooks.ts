/** When a hook is asked. */

export const HOOK_EVENTS = ["pre_tool_use", "post_tool_use", "prompt", "stop", "session_start", "session_end"] as const;
export type HookEvent = (typeof HOOK_EVENTS)[number];

/** A session that ends has no host to ask; the host hears `session.ended`. */
export const HOST_EVENTS: readonly HookEvent[] = HOOK_EVENTS.filter((event) => event !== "session_end");
