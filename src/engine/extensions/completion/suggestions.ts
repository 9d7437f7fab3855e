/** Completes a half-written `/command` or `@path` while the user types. */
import { readdir } from "node:fs/promises";
import type { Suggestion, SuggestReply } from "../../../core/command.js";
import type { OpOf } from "../../../core/op.js";
import { Interrupted, untilAborted } from "../../turn/interrupt.js";
import type { Workspace } from "../../workspace/workspace.js";
import type { Command } from "../commands/command.js";
import type { FileIndex } from "./file-index.js";
import { escaped, mentionsIn, unescaped } from "../mentions/tokens.js";

type SuggestRequest = OpOf<"command.suggest">;

/** Several replies with `loading` may precede the final one. */
export type SuggestAnswer = (status: "ok" | "noop" | "loading", data?: SuggestReply) => Promise<void> | undefined;

const MOST = 20;
/** After this time the host gets the reply `loading`. */
const PATIENCE_MS = 100;

interface Sources {
  commands(): readonly Command[];
  files: FileIndex;
  workspace: Workspace;
}

export class Suggestions {
  readonly #sources: Sources;
  /** Open requests by trigger. */
  readonly #open = new Map<SuggestRequest["trigger"], AbortController>();

  constructor(sources: Sources) {
    this.#sources = sources;
  }

  /** A later request voids an earlier one of the same trigger, which gets `noop`. */
  async answer(asked: SuggestRequest, answer: SuggestAnswer): Promise<void> {
    const earlier = this.#open.get(asked.trigger);
    earlier?.abort();
    if (asked.cancel === true) return answer(earlier === undefined ? "noop" : "ok");
    const mine = new AbortController();
    this.#open.set(asked.trigger, mine);
    const loadingTimer = setTimeout(() => void answer("loading", { suggestions: [] }), PATIENCE_MS);
    try {
      const found = await untilAborted(mine.signal, this.#find(asked)).finally(() => clearTimeout(loadingTimer));
      await answer("ok", found);
    } catch (error) {
      if (!(error instanceof Interrupted)) throw error;
      await answer("noop");
    } finally {
      if (this.#open.get(asked.trigger) === mine) this.#open.delete(asked.trigger);
    }
  }

  #find({ trigger, text, cursor }: SuggestRequest): Promise<SuggestReply> {
    const written = text.slice(0, cursor);
    return trigger === "slash" ? suggestCommands(written, this.#sources.commands()) : suggestPaths(written, this.#sources);
  }
}

// --- commands ---

async function suggestCommands(written: string, commands: readonly Command[]): Promise<SuggestReply> {
  const line = written.replace(/^\//, "");
  const [, name = "", args] = /^(\S*)(?:\s+([^]*))?$/.exec(line.trimStart()) ?? [];
  if (args !== undefined) return suggestArguments(name, args, commands);
  const wanted = name === "?" ? "help" : name.toLowerCase();
  const ranked = commands.flatMap((command) => rankedName(command, wanted)).sort((a, b) => a.rank - b.rank);
  return {
    suggestions: ranked.slice(0, MOST).map(({ name: value, description }) => ({ label: value, value, description })),
    perfect: ranked.some(({ rank }) => rank === 0),
  };
}

/** The command's name if it begins so, else an alias that does; names that only contain the text come last. */
function rankedName({ name, aliases = [], description }: Command, wanted: string): { name: string; rank: number; description: string }[] {
  const names = [name, ...aliases];
  const exact = names.find((each) => each.toLowerCase() === wanted);
  if (exact !== undefined) return [{ name: exact, rank: 0, description }];
  const begins = names.find((each) => each.toLowerCase().startsWith(wanted));
  if (begins !== undefined) return [{ name: begins, rank: begins === name ? 1 : 2, description }];
  return name.toLowerCase().includes(wanted) ? [{ name, rank: 3, description }] : [];
}

async function suggestArguments(name: string, args: string, commands: readonly Command[]): Promise<SuggestReply> {
  const command = commands.find((each) => each.name === name || each.aliases?.includes(name) === true);
  const all = (await command?.complete?.(args)) ?? [];
  const fitting = all.filter(({ value }) => value.toLowerCase().startsWith(args.toLowerCase()));
  return {
    suggestions: fitting.slice(0, MOST).map((each) => ({ ...each, value: `${name} ${each.value}` })),
    perfect: all.some(({ value }) => value === args.trimEnd()),
  };
}

// --- paths ---

async function suggestPaths(written: string, { files, workspace }: Sources): Promise<SuggestReply> {
  const wanted = writtenPath(written);
  const found = isElsewhere(wanted) ? [] : (await files.table()).search(wanted, MOST);
  // Ignored files and files outside the workspace are not in the index, but a written path may name their folder.
  const paths = found.length === 0 && wanted.includes("/") ? await listing(wanted, workspace) : found;
  return { suggestions: paths.map(suggestPath), perfect: paths.includes(wanted) };
}

function suggestPath(path: string): Suggestion {
  return { label: path, value: escaped(path) };
}

/** The mention at the end of the text, or the whole text if it has none. */
function writtenPath(written: string): string {
  if (written === "@" || /\s@$/.test(written)) return "";
  const last = mentionsIn(written).findLast(({ end }) => end === written.length);
  return (last?.path ?? unescaped(written)).replace(/^"/, "").replace(/^(?:\.\/)+/, "");
}

function isElsewhere(path: string): boolean {
  return /^(?:\/|~|\.\.(?:\/|$))/.test(path);
}

/** The names in the path's folder; none if there is no such folder. */
async function listing(wanted: string, workspace: Workspace): Promise<string[]> {
  const cut = wanted.lastIndexOf("/") + 1;
  const [folder, start] = [wanted.slice(0, cut), wanted.slice(cut).toLowerCase()];
  try {
    const { path } = await workspace.resolve(folder);
    const entries = await readdir(path, { withFileTypes: true });
    return entries
      .filter(({ name }) => name.toLowerCase().startsWith(start) && (start.startsWith(".") || !name.startsWith(".")))
      .map((entry) => `${folder}${entry.name}${entry.isDirectory() ? "/" : ""}`)
      .sort()
      .slice(0, MOST);
  } catch {
    return [];
  }
}
