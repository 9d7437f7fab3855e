/** The files of the workspace: listed once, kept in memory, and listed again in the background when the list is old. */
import { listFiles } from "../../tools/search/list-files.js";
import type { Workspace } from "../../workspace/workspace.js";
import { PathTable } from "./path-table.js";

/** The most files: a larger list costs more memory than it is worth. */
const MOST_PATHS = 200_000;
const FRESH_MS = 5000;

export class FileIndex {
  readonly #workspace: Workspace;
  readonly #closed = new AbortController();
  #table: PathTable | undefined;
  #builtAt = 0;
  #building: Promise<PathTable> | undefined;

  constructor(workspace: Workspace) {
    this.#workspace = workspace;
  }

  /** Returns the present table; only the first caller waits until it is built. */
  async table(): Promise<PathTable> {
    if (this.#table === undefined) return this.#build();
    if (Date.now() - this.#builtAt > FRESH_MS) this.#build().catch(() => {});
    return this.#table;
  }

  close(): void {
    this.#closed.abort();
  }

  #build(): Promise<PathTable> {
    this.#building ??= this.#list().finally(() => {
      this.#building = undefined;
    });
    return this.#building;
  }

  async #list(): Promise<PathTable> {
    const context = { workspace: this.#workspace, signal: this.#closed.signal };
    this.#table = new PathTable(await listFiles(context, this.#workspace.root, "found", MOST_PATHS));
    this.#builtAt = Date.now();
    return this.#table;
  }
}
