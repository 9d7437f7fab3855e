/** Requests to the host (a tool, a hook, a file): each has a deadline, and only its first answer counts. */
import { mintId } from "../../core/ids.js";
import { timerMs } from "../../core/limits.js";
import type { EventOf } from "../../core/event.js";
import type { Emit } from "../turn/turn.js";

export interface HostReply {
  ok: boolean;
  data?: unknown;
}

type Kind = EventOf<"host.request">["kind"];

const INTERRUPTED = "the turn was interrupted";

export class HostRequests {
  readonly #pending = new Map<string, (reply: HostReply, why?: string) => void>();
  #closed: string | undefined;

  async ask(emit: Emit, kind: Kind, data: unknown, options: { seconds: number; signal: AbortSignal; call?: string }): Promise<HostReply> {
    const refused = this.#closed ?? (options.signal.aborted ? INTERRUPTED : undefined);
    if (refused !== undefined) return { ok: false, data: { message: refused } };
    const request = mintId();
    const deadline = Date.now() + options.seconds * 1000;
    // The answer is awaited before the request is sent: a host in the same process answers at once, and a close may come meanwhile.
    const replied = this.#wait(emit, request, options);
    await emit({ type: "host.request", request, kind, data, deadline, ...(options.call !== undefined && { call: options.call }) });
    return replied;
  }

  #wait(emit: Emit, request: string, { seconds, signal }: { seconds: number; signal: AbortSignal }): Promise<HostReply> {
    return new Promise((resolve) => {
      const expire = (why: string): void => settle({ ok: false, data: { message: why } }, why);
      const timer = setTimeout(() => expire(`the host did not answer within ${seconds} s`), timerMs(seconds));
      const stop = (): void => expire(INTERRUPTED);
      const settle = (reply: HostReply, why?: string): void => {
        clearTimeout(timer);
        signal.removeEventListener("abort", stop);
        this.#pending.delete(request);
        void emit({ type: "host.settled", request, ok: reply.ok, ...(why !== undefined && { reason: why }) });
        resolve(reply);
      };
      this.#pending.set(request, settle);
      signal.addEventListener("abort", stop, { once: true });
    });
  }

  /** Returns false if no request of that name is open. */
  answer(request: string, reply: HostReply): boolean {
    const settle = this.#pending.get(request);
    settle?.(reply);
    return settle !== undefined;
  }

  close(reason: string): void {
    this.#closed = reason;
    for (const settle of this.#pending.values()) settle({ ok: false, data: { message: reason } }, reason);
  }
}
