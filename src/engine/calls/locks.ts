/**
 * Which calls of a session may run at the same time. Reads and writes of different files go side by side; a shell command runs alone;
 * writes to one file keep the order in which the model asked, even when they are approved in another.
 */
import type { Access } from "../tools/tool.js";

type Release = () => void;

export class Locks {
  readonly #files = new Map<string, Promise<void>>();
  #shared = 0;
  #exclusive = false;
  #waiting: { access: Access; go: () => void }[] = [];

  /** Takes a place in the order of these files. Wait for `turn`, and call `leave` however the call ends. */
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
