/**
 * The order of calls. Within one agent, reads and writes of different files run side by side, and a shell command runs alone. Writes to one
 * file keep the order in which the models asked for them, even if they are approved in another order.
 */
import type { Access } from "../tools/tool.js";

type Release = () => void;

/** Orders the writes of a whole session, sub-agents included, file by file. */
export class FileOrder {
  readonly #files = new Map<string, Promise<void>>();

  /** Takes a place in the queue of each of these files. Wait for `turn`, and call `leave` however the call ends. */
  queueFor(paths: readonly string[]): { turn: Promise<unknown>; leave: Release } {
    let leave: Release = () => {};
    const left = new Promise<void>((resolve) => {
      leave = resolve;
    });
    const before = paths.flatMap((path) => this.#files.get(path) ?? []);
    for (const path of paths) this.#files.set(path, left);
    void left.then(() => {
      for (const path of paths) if (this.#files.get(path) === left) this.#files.delete(path);
    });
    return { turn: Promise.all(before), leave };
  }
}

/** Lets several calls of one agent share the workspace, or one call have it alone. */
export class AccessLock {
  #shared = 0;
  #exclusive = false;
  #waiting: { access: Access; go: () => void }[] = [];

  async enter(access: Access): Promise<Release> {
    if (access === "none") return () => {};
    if (!this.#free(access) || this.#waiting.length > 0) {
      await new Promise<void>((go) => this.#waiting.push({ access, go }));
    } else {
      this.#hold(access);
    }
    let held = true;
    return () => {
      if (held) this.#letGo(access);
      held = false;
    };
  }

  #free(access: Access): boolean {
    return access === "exclusive" ? this.#shared === 0 && !this.#exclusive : !this.#exclusive;
  }

  #hold(access: Access): void {
    if (access === "exclusive") this.#exclusive = true;
    else this.#shared++;
  }

  #letGo(access: Access): void {
    if (access === "exclusive") this.#exclusive = false;
    else this.#shared--;
    for (let next = this.#waiting[0]; next !== undefined && this.#free(next.access); next = this.#waiting[0]) {
      this.#waiting.shift();
      this.#hold(next.access);
      next.go();
    }
  }
}
