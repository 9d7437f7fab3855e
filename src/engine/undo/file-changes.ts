/**
 * The changes of files by tools in one turn, or by a rewind: each is logged before it is made, and the first change of a
 * file keeps a copy of the file. Changes by commands are noticed for files that a file tool changed before.
 */
import { messageOf } from "../../core/errors.js";
import { contentHash } from "../../os/digest.js";
import type { FileState } from "../store/entry.js";
import type { Recorder } from "../store/recorder.js";
import type { FileCopies } from "../store/store.js";
import { shownPath } from "../tools/files/text-file.js";
import type { Workspace } from "../workspace/workspace.js";
import { look } from "./file-state.js";

/** A file as it was left; without a stamp it was deleted. */
interface Left {
  after: string | null | undefined;
  mode: number;
  stamp: string | undefined;
}

export interface ChangeLog {
  recorder: Pick<Recorder, "change" | "write">;
  copies: FileCopies;
  /** Reports a file that a rewind cannot restore. */
  warn(text: string): void;
}

export class FileChanges {
  readonly #log: ChangeLog;
  readonly #left = new Map<string, Left>();

  constructor(log: ChangeLog) {
    this.#log = log;
  }

  /** The same workspace, with its changes recorded. */
  within(workspace: Workspace): Workspace {
    return {
      ...workspace,
      write: (path, data, mode) => this.#make(workspace, path, contentHash(data), () => workspace.write(path, data, mode)),
      remove: (path) => this.#make(workspace, path, null, () => workspace.remove(path)),
      rename: async (from, to) => {
        const { state } = await look(workspace, from);
        await this.#make(workspace, to, state?.sha256, () => this.#make(workspace, from, null, () => workspace.rename(from, to)));
      },
    };
  }

  /** Call it before a command runs, and the returned function afterwards: it notes the command's changes to files of this turn. */
  async watch(workspace: Workspace): Promise<() => Promise<void>> {
    const before = new Map<string, Left>();
    for (const [path, left] of this.#left) if ((await stampOf(workspace, path)) === left.stamp) before.set(path, left);
    return async () => {
      for (const path of before.keys()) await this.#follow(workspace, path);
    };
  }

  async #follow(workspace: Workspace, path: string): Promise<void> {
    const left = this.#left.get(path);
    if (left === undefined || (await stampOf(workspace, path)) === left.stamp) return;
    const { state } = await look(workspace, path).catch(() => ({ state: undefined }));
    const before = left.stamp === undefined ? null : { ...(typeof left.after === "string" && { sha256: left.after }), mode: left.mode };
    this.#record(path, before, state === null ? null : state?.sha256);
    await this.#leave(workspace, path, state === null ? null : state?.sha256);
  }

  async #make(workspace: Workspace, path: string, after: string | null | undefined, work: () => Promise<void>): Promise<void> {
    this.#record(path, await this.#before(workspace, path), after);
    await work();
    await this.#leave(workspace, path, after);
  }

  #record(path: string, before: FileState | null, after: string | null | undefined): void {
    const { recorder } = this.#log;
    recorder.change({ path, before, ...(after !== undefined && { after }) });
    recorder.write();
  }

  async #leave(workspace: Workspace, path: string, after: string | null | undefined): Promise<void> {
    const info = await workspace.info(path).catch(() => null);
    this.#left.set(path, { after, mode: info?.mode ?? 0, stamp: info?.stamp });
  }

  /** A file without a copy is changed all the same. */
  async #before(workspace: Workspace, path: string): Promise<FileState | null> {
    let state: FileState | null = { mode: 0 };
    try {
      const found = await look(workspace, path);
      state = found.state;
      if (state === null || this.#left.has(path)) return state;
      if (state.sha256 === undefined || found.bytes === undefined) throw new Error("it is too large");
      await this.#log.copies.keep(state.sha256, found.bytes);
    } catch (error) {
      const name = shownPath(workspace, path);
      this.#log.warn(`${name} is changed without a copy, so a rewind will not bring it back: ${messageOf(error)}`);
    }
    return state;
  }
}

async function stampOf(workspace: Workspace, path: string): Promise<string | undefined> {
  return (await workspace.info(path).catch(() => null))?.stamp;
}
