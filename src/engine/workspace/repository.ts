/**
 * The git repository that a folder lies in, and whether git can read a repository without running anything that the repository itself names. A repository's own config can name
 * filters, monitors, pagers, aliases and included files; each is a program of somebody else. Only settings that run nothing are known
 * here, and any other one makes the repository not plain.
 */
import { open, readFile, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";

const MAX_CONFIG_BYTES = 64 * 1024;

/** Keys that run nothing, by section; `true` allows every key of the section. */
const PLAIN: Record<string, true | ReadonlySet<string>> = {
  core: new Set(
    "repositoryformatversion filemode bare logallrefupdates ignorecase precomposeunicode symlinks autocrlf eol safecrlf quotepath longpaths".split(
      " ",
    ),
  ),
  extensions: new Set(["objectformat", "refstorage", "partialclone"]),
  remote: new Set(["url", "pushurl", "fetch", "push", "tagopt", "prune", "mirror", "partialclonefilter", "promisor", "gh-resolved"]),
  branch: new Set([
    "remote",
    "merge",
    "rebase",
    "description",
    "pushremote",
    "vscode-merge-base",
    "gh-merge-base",
    "github-pr-owner-number",
  ]),
  submodule: new Set(["active", "url"]),
  user: new Set(["name", "email"]),
  gc: true,
  pull: true,
  push: true,
  fetch: true,
  init: new Set(["defaultbranch"]),
  lfs: new Set(["repositoryformatversion"]),
};

/** The nearest folder upwards that holds a `.git`. */
export async function gitRepositoryOf(root: string): Promise<string | undefined> {
  for (let folder = root; ; folder = dirname(folder)) {
    const isThere = await stat(join(folder, ".git")).then(
      () => true,
      () => false,
    );
    if (isThere) return folder;
    if (dirname(folder) === folder) return undefined;
  }
}

/** `repository` is the folder that holds `.git`. */
export async function isPlainRepository(repository: string): Promise<boolean> {
  try {
    const { folder, common } = await gitFolders(repository);
    const configs = await Promise.all([configText(join(common, "config")), configText(join(folder, "config.worktree"))]);
    return configs.every(isPlain);
  } catch {
    return false;
  }
}

/** The branch that is checked out; a commit where none is; undefined where that cannot be read. */
export async function branchOf(repository: string): Promise<string | undefined> {
  try {
    const head = (await readFile(join(await gitFolder(join(repository, ".git")), "HEAD"), "utf8")).trim();
    const [, branch] = /^ref: refs\/heads\/(.+)$/.exec(head) ?? [];
    return branch ?? (/^[0-9a-f]{40,64}$/.test(head) ? head.slice(0, 12) : undefined);
  } catch {
    return undefined;
  }
}

/** The folder of git's own files, and the one that worktrees of a repository have in common. */
export async function gitFolders(repository: string): Promise<{ folder: string; common: string }> {
  const folder = await gitFolder(join(repository, ".git"));
  const common = await readFile(join(folder, "commondir"), "utf8").then(
    (text) => resolve(folder, text.trim()),
    () => folder,
  );
  return { folder, common };
}

/** A worktree and a submodule have a file that names the folder. */
async function gitFolder(path: string): Promise<string> {
  const text = await readFile(path, "utf8").catch(() => undefined);
  const [, named] = /^gitdir: (.+)$/m.exec(text ?? "") ?? [];
  return named === undefined ? path : resolve(dirname(path), named.trim());
}

/** A missing file is empty. Throws when the file is too large to be judged. */
async function configText(path: string): Promise<string> {
  const file = await open(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  if (file === undefined) return "";
  try {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(MAX_CONFIG_BYTES + 1), 0, MAX_CONFIG_BYTES + 1, 0);
    if (bytesRead > MAX_CONFIG_BYTES) throw new Error(`${path} is larger than ${MAX_CONFIG_BYTES} bytes`);
    return buffer.toString("utf8", 0, bytesRead);
  } finally {
    await file.close();
  }
}

/** A value that goes on in the next line, or a line that is no setting, is not judged: the file is not plain. */
function isPlain(config: string): boolean {
  let section: string | undefined;
  for (const line of config.split(/\r?\n/)) {
    const text = line.trim();
    if (text === "" || text.startsWith("#") || text.startsWith(";")) continue;
    const [, header] = /^\[([A-Za-z0-9.-]+)(?: +"(?:[^"\\]|\\.)*")?\]$/.exec(text) ?? [];
    if (header !== undefined) {
      section = header.toLowerCase();
      if (!Object.hasOwn(PLAIN, section)) return false;
      continue;
    }
    const [, key] = /^([A-Za-z][A-Za-z0-9-]*)(?:\s*=.*)?$/.exec(text) ?? [];
    if (key === undefined || section === undefined || text.endsWith("\\")) return false;
    const allowed = PLAIN[section];
    if (allowed !== true && allowed?.has(key.toLowerCase()) !== true) return false;
  }
  return true;
}
