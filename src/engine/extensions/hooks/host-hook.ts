/** A hook that is a callback of the host: asked by `host.request`, answered by `host.answer`, within the session's time for answers. */
import type { ExtensionServices } from "../../session/control.js";
import type { HookEvent } from "../../../core/hooks.js";
import { toAnswer, type Hook } from "./hook.js";

export function hostHook(event: HookEvent, callback: string, session: ExtensionServices): Hook {
  return {
    name: `The host's ${event} hook '${callback}'`,
    concerns: () => Promise.resolve(true),
    async ask(input, { emit, signal }) {
      // The call is told in the input: the event may come before the call has been requested.
      const { ok, data } = await session.hostRequests.ask(emit, "hook", { callback, input }, { seconds: session.answerSeconds, signal });
      if (signal.aborted) return { interrupted: true };
      if (!ok) return { failure: `failed: ${wordsOf(data)}` };
      return data === undefined || data === null ? { answer: {} } : toAnswer(data);
    },
  };
}

function wordsOf(data: unknown): string {
  if (typeof data === "string") return data;
  if (typeof data === "object" && data !== null && "message" in data && typeof data.message === "string") return data.message;
  return "the host gave no reason";
}
