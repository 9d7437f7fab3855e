/**
 * Whether a git command only shows things, and whether git can read a repository without running anything that the workspace brought along:
 * its config, a monitor, a hook of the index, and the same in submodules, which `git status` and `git diff` look into.
 */
import { open, readdir, readFile, realpath, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { gitFolders, isPlainRepository } from "../../workspace/repository.js";
import { readOptions, type Grammar } from "./options.js";

const SHOWING: Grammar = {
  letters: "pswbuRaizMCq",
  valued: "UnSG",
  counts: true,
  long:
    "stat? shortstat numstat name-only name-status summary cached staged patch no-patch unified= ignore-all-space ignore-space-change " +
    "ignore-blank-lines color? no-color word-diff? diff-filter= find-renames find-copies no-ext-diff no-textconv check quiet raw " +
    "compact-summary dirstat merge-base no-renames function-context minimal patience histogram text full-index abbrev?",
};

const HISTORY: Grammar = {
  ...SHOWING,
  letters: `${SHOWING.letters}gEFPc`,
  long:
    `${SHOWING.long} oneline graph all branches tags remotes decorate? no-decorate max-count= skip= author= committer= since= until= after= before= ` +
    "grep= invert-grep regexp-ignore-case extended-regexp fixed-strings follow format= pretty? date= abbrev-commit no-abbrev-commit reverse merges " +
    "no-merges first-parent topo-order date-order left-right cherry-pick no-notes",
};

const COMMANDS: Readonly<Record<string, Grammar>> = {
  status: { letters: "sbvz", long: "short branch porcelain? long untracked-files? ignored? show-stash ahead-behind no-renames column?" },
  diff: SHOWING,
  log: HISTORY,
  show: HISTORY,
  branch: {
    letters: "arvl",
    long: "all remotes verbose list show-current sort= format= color? no-color column? contains= no-contains= merged= no-merged= points-at= abbrev? ignore-case",
  },
};

/** The words that may be paths; undefined where the command may do more than show. `args` begin behind `git`. */
export function gitReading(args: readonly string[]): { paths: readonly string[]; shows: "names" | "contents" } | undefined {
  const [name = "", ...rest] = args[0] === "--no-pager" ? args.slice(1) : args;
  const grammar = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  const given = grammar === undefined ? undefined : readOptions(rest, grammar);
  if (given === undefined) return undefined;
  // Signatures are checked by a program of the user's config.
  if (given.options.some(({ value = "" }) => /%G|signature/i.test(value))) return undefined;
  const lists = given.options.some((option) => /^(?:-l|--list)$/.test(option.name));
  // A word would be the name of a new branch.
  if (name === "branch" && given.operands.length > 0 && !lists) return undefined;
  if (name === "branch") return { paths: [], shows: "names" };
  // Words of other kinds than a name, a range and a path: `:(top)x`, `:/text`.
  if (given.operands.some((word) => word.startsWith(":"))) return undefined;
  // `HEAD:path` is a file of a commit.
  const paths = given.operands.flatMap((word) => [word, word.slice(word.lastIndexOf(":") + 1)]).filter((word) => word !== "");
  return { paths: [...paths, ...given.apart], shows: name === "status" ? "names" : "contents" };
}

/** Variables that tell git to run something, or to read another repository. */
const DECIDING =
  /^GIT_(?:DIR|WORK_TREE|COMMON_DIR|INDEX_FILE|EXEC_PATH|EXTERNAL_DIFF|CONFIG.*|TRACE.*|OBJECT_DIRECTORY|ALTERNATE_OBJECT_DIRECTORIES|DIFF_OPTS|PROXY_.*)$/;

/** `folder` is real, and `isInside` tells whether a path belongs to the workspace. */
export async function isHarmlessRepository(
  folder: string,
  isInside: (path: string) => boolean,
  env: Readonly<Record<string, string | undefined>>,
): Promise<boolean> {
  if (Object.keys(env).some((name) => DECIDING.test(name))) return false;
  let found = false;
  // A folder whose `.git` git does not accept is passed over, so those above count as well.
  for (let at = folder; isInside(at); at = dirname(at)) {
    if (await hasAll(at, ["HEAD", "objects", "refs"])) return false;
    if (await isThere(join(at, ".git"))) {
      if (!(await isHarmless(at, isInside))) return false;
      found = true;
    }
    if (dirname(at) === at) break;
  }
  return found;
}

async function isHarmless(repository: string, isInside: (path: string) => boolean): Promise<boolean> {
  try {
    const { folder, common } = await gitFolders(repository);
    if (!isInside(await realpath(folder)) && !(await pointsBack(folder, repository))) return false;
    if (!(await isPlainRepository(repository)) || (await isThere(join(common, "hooks/post-index-change")))) return false;
    if ((await readdir(folder)).some((name) => name.startsWith("sharedindex."))) return false;
    return !(await mayHaveSubmodules(join(folder, "index")));
  } catch {
    return false;
  }
}

/** Git writes into the folder of a worktree where that worktree is. */
async function pointsBack(folder: string, repository: string): Promise<boolean> {
  const back = await readFile(join(folder, "gitdir"), "utf8").catch(() => "");
  return back.trim() === join(repository, ".git");
}

const MAX_INDEX = 64 * 1024 * 1024;
/** The mode of a submodule's entry. */
const GITLINK = Buffer.from([0, 0, 0xe0, 0]);

async function mayHaveSubmodules(index: string): Promise<boolean> {
  const file = await open(index).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  if (file === undefined) return false;
  try {
    if ((await file.stat()).size > MAX_INDEX) return true;
    return (await file.readFile()).includes(GITLINK);
  } finally {
    await file.close();
  }
}

async function hasAll(folder: string, names: readonly string[]): Promise<boolean> {
  for (const name of names) if (!(await isThere(join(folder, name)))) return false;
  return true;
}

function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
