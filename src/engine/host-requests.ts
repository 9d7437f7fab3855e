/** Requests to the host (a tool, a hook, a file of its own): each has a deadline, and an answer that counts once. */
import { mintId } from "../core/ids.js";
import { timerMs } from "../core/limits.js";
import type { EventOf } from "../core/event.js";
import type { Emit } from "./run.js";

export interface HostReply {
  ok: boolean;
  data?: unknown;
}

type Kind = EventOf<"host.request">["kind"];

export class HostRequests {
  readonly #pending = new Map<string, (reply: HostReply, why?: string) => void>();
  #closed: string | undefined;

  async ask(emit: Emit, kind: Kind, data: unknown, options: { seconds: number; signal: AbortSignal; call?: string }): Promise<HostReply> {
    if (this.#closed !== undefined) return { ok: false, data: { message: this.#closed } };
    const request = mintId();
    const deadline = Date.now() + options.seconds * 1000;
    await emit({ type: "host.request", request, kind, data, deadline, ...(options.call !== undefined && { call: options.call }) });
    return new Promise((resolve) => {
      const expire = (why: string): void => settle({ ok: false, data: { message: why } }, why);
      const timer = setTimeout(() => expire(`the host did not answer within ${options.seconds} s`), timerMs(options.seconds));
      const stop = (): void => expire("the turn was interrupted");
      const settle = (reply: HostReply, why?: string): void => {
        clearTimeout(timer);
        options.signal.removeEventListener("abort", stop);
        this.#pending.delete(request);
        void emit({ type: "host.settled", request, ok: reply.ok, ...(why !== undefined && { reason: why }) });
        resolve(reply);
      };
      this.#pending.set(request, settle);
      options.signal.addEventListener("abort", stop, { once: true });
      if (options.signal.aborted) stop();
    });
  }

  /** False when nothing of that name waits. */
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
