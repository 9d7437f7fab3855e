/** Ops that wait for a reply, and their receivers. */
import type { EventOf } from "../../core/event.js";
import { mintId } from "../../core/ids.js";

type Reply = EventOf<"reply">;

export class Replies {
  readonly #waiting = new Map<string, (reply: Reply) => void>();

  /** Returns an id for an op; `take` gets the reply to it, except that it is still loading. */
  expect(take: (reply: Reply) => void): string {
    const id = mintId();
    this.#waiting.set(id, take);
    return id;
  }

  heard(reply: Reply): void {
    if (reply.status === "loading" || reply.parent === undefined) return;
    const take = this.#waiting.get(reply.parent);
    this.#waiting.delete(reply.parent);
    take?.(reply);
  }
}
