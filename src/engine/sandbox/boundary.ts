/**
 * The boundary of a session: every place where the sandbox differs from "read all, write nothing". It is drawn once, before the first
 * command: a name that exists then is a mount in every sandbox of the session, and no command can move it away or put a link there.
 */
import { lstat, mkdir, realpath, stat, writeFile } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { ParleyError } from "../../core/errors.js";
import { BARRED_IN_GIT, HIDDEN_IN_HOME, HIDDEN_OF_SYSTEM, KEPT, KEPT_IN_GIT } from "./places.js";

/** `temp` and `write` may be changed, `read` only be read; the content of the others is not there. */
type Access = "temp" | "write" | "read" | "hidden folder" | "hidden file";

export interface Place {
  /** Absolute and real. */
  path: string;
  access: Access;
  /** The file or folder that is seen there, if it is not the one of that path. */
  source?: string;
}

export interface Boundary {
  /** A folder comes before the places in it. */
  places: readonly Place[];
  /** Files that were not there and must not come up: by them git would read another configuration than the one that is kept. */
  barred?: readonly string[];
}

export interface BoundarySources {
  root: string;
  directories: readonly string[];
  /** PARLEY_HOME. */
  home: string | undefined;
  userHome: string;
  /** The session's own folder: `tmp` in it is the temporary folder of commands, `outputs` may be read, and `empty` hides files. */
  folder: string;
  /** Commands have a temporary folder of their own in the place of the system's. */
  replacesTemp: boolean;
  /** Paths of the config: absolute, from the home folder (`~/x`), or from the workspace. */
  write: readonly string[];
  read: readonly string[];
  hide: readonly string[];
}

/** Throws a `sandbox` fault where the workspace or the config makes a boundary impossible. */
export async function drawBoundary(sources: BoundarySources): Promise<Boundary> {
  const { root, directories, home, userHome, folder } = sources;
  // A folder that comes up later would not be hidden.
  if (home !== undefined) await mkdir(home, { recursive: true, mode: 0o700 }).catch(() => undefined);
  const drawing = new Drawing(join(folder, "tmp"), join(folder, "empty"));
  const ofWorkspace = [root, ...directories];
  const added = await Promise.all(sources.write.map((path) => existing(path, "write", sources)));
  const roots = [...ofWorkspace, ...added];
  const whole = roots.find((path) => dirname(path) === path);
  if (whole !== undefined) throw refused(`${whole} is the whole file system, and a sandbox for it would keep nothing; work in a folder`);

  for (const path of sources.replacesTemp ? await temporaryPlaces() : [])
    if (!roots.some((each) => isIn(each, path))) drawing.put(path, "temp");
  for (const path of roots) drawing.put(path, "write");
  for (const path of ofWorkspace) await keepIn(path, drawing, true);
  for (const path of added) await keepIn(path, drawing, false);

  const hidden = [
    ...HIDDEN_IN_HOME.map((name) => join(userHome, name)),
    ...HIDDEN_OF_SYSTEM,
    ...(home === undefined ? [] : [home]),
    ...sources.hide.map((path) => absolute(path, sources)),
  ];
  const shown = await Promise.all(sources.read.map((path) => existing(path, "read", sources)));
  const opened = [...roots, ...shown];
  for (const path of await Promise.all(hidden.map(realOrNone))) {
    if (path !== undefined && !opened.includes(path)) drawing.put(path, (await stat(path)).isDirectory() ? "hidden folder" : "hidden file");
  }
  // A workspace can be the folder for temporary files itself.
  if (roots.some((path) => isIn(path, folder))) drawing.put(folder, "hidden folder");
  const skills = home === undefined ? undefined : await realOrNone(join(home, "skills"));
  for (const path of [...shown, ...(skills === undefined ? [] : [skills]), join(folder, "outputs")]) drawing.put(path, "read");
  return drawing.finish();
}

/** Collects the places; the last access of a path counts. */
class Drawing {
  readonly barred: string[] = [];
  readonly #sources: Partial<Record<Access, string>>;
  readonly #places = new Map<string, Place>();

  constructor(temp: string, empty: string) {
    this.#sources = { temp, "hidden file": empty };
  }

  put(path: string, access: Access): void {
    const source = this.#sources[access];
    this.#places.set(path, { path, access, ...(source !== undefined && { source }) });
  }

  async finish(): Promise<Boundary> {
    for (const place of inOrder(this.#places.values())) await this.#settle(place);
    return { places: inOrder(this.#places.values()), barred: this.barred };
  }

  /**
   * A place in a folder that commands may change is safe only if no folder on the way to it can be moved: each of them becomes a mount.
   * In the temporary folder these have to be made first, and nothing needs to be hidden: the system's own is not there.
   */
  async #settle(place: Place): Promise<void> {
    const around = this.#around(place.path);
    if (around === undefined) return place.access === "read" ? this.#drop(place) : undefined;
    const isHidden = place.access.startsWith("hidden");
    if (isHidden && (around.access === "temp" || around.access === "hidden folder")) return this.#drop(place);
    if (around.access === "read" && place.access === "read") return this.#drop(place);
    if (around.access !== "temp" && around.access !== "write") return undefined;
    for (const path of between(around.path, place.path)) {
      const source = around.source === undefined ? undefined : join(around.source, relative(around.path, path));
      if (source !== undefined) await mkdir(source, { recursive: true });
      this.#places.set(path, { path, access: "write", ...(source !== undefined && { source }) });
    }
    if (around.access === "temp") await makeTarget(join(around.source ?? "", relative(around.path, place.path)), place);
  }

  #around(path: string): Place | undefined {
    for (let folder = dirname(path); folder !== dirname(folder); folder = dirname(folder)) {
      const place = this.#places.get(folder);
      if (place !== undefined) return place;
    }
    return undefined;
  }

  #drop({ path }: Place): void {
    this.#places.delete(path);
  }
}

async function makeTarget(target: string, { path, source = path }: Place): Promise<void> {
  if ((await stat(source)).isDirectory()) await mkdir(target, { recursive: true });
  else await writeFile(target, "", { flag: "a" });
}

function inOrder(places: Iterable<Place>): Place[] {
  return [...places].toSorted((a, b) => depth(a.path) - depth(b.path));
}

/** The innermost place around a path, or at it. */
export function placeAround(path: string, places: readonly Place[]): Place | undefined {
  return places.findLast((place) => isIn(place.path, path));
}

function depth(path: string): number {
  return path.split(sep).length;
}

/** The folders strictly between two paths, the outer ones first. */
function between(outer: string, inner: string): string[] {
  const found: string[] = [];
  for (let folder = dirname(inner); folder !== outer; folder = dirname(folder)) found.unshift(folder);
  return found;
}

function isIn(path: string, folder: string): boolean {
  return folder === path || folder.startsWith(path + sep);
}

// The workspace

/** Keeps the files in a root that decide what other programs run. `makes`: those that matter most are made where they are missing. */
async function keepIn(root: string, drawing: Drawing, makes: boolean): Promise<void> {
  for (const name of KEPT) {
    const path = join(root, name);
    // A link can only be kept by its folder: these are not worth that.
    if ((await kindOf(path)) !== undefined && (await realOrNone(path)) === path) drawing.put(path, "read");
  }
  const own = join(root, ".parley");
  if (makes) await makeFolder(own);
  if (await isKeepable(own)) drawing.put(own, "read");
  const git = join(root, ".git");
  if (!(await isKeepable(git))) return;
  if ((await kindOf(git)) === "file") return drawing.put(git, "read");
  drawing.put(git, "write");
  await makeFolder(join(git, "hooks"));
  for (const name of KEPT_IN_GIT) {
    if (await isKeepable(join(git, name))) drawing.put(join(git, name), "read");
    else if (BARRED_IN_GIT.includes(name)) drawing.barred.push(join(git, name));
  }
}

/** Nothing is removed later: another session may keep the same folder by then. */
async function makeFolder(path: string): Promise<void> {
  await mkdir(path).catch(() => undefined);
}

/** Whether it is there. Throws if it is a link, which can only be kept by its folder. */
async function isKeepable(path: string): Promise<boolean> {
  const kind = await kindOf(path);
  if (kind === "link")
    throw refused(`${path} is a symbolic link, which a sandbox cannot keep as it is; put the ${basename(path)} itself there`);
  return kind !== undefined;
}

async function kindOf(path: string): Promise<"file" | "folder" | "link" | undefined> {
  const found = await lstat(path).catch(() => undefined);
  if (found === undefined) return undefined;
  return found.isSymbolicLink() ? "link" : found.isDirectory() ? "folder" : "file";
}

// Paths

/** The folders for temporary files: commands have one of their own in place of each. */
async function temporaryPlaces(): Promise<string[]> {
  const found = await Promise.all(["/tmp", "/var/tmp", tmpdir()].map(realOrNone));
  return [...new Set(found.filter((path) => path !== undefined))];
}

async function existing(path: string, key: "read" | "write", sources: BoundarySources): Promise<string> {
  const whole = absolute(path, sources);
  const real = await realOrNone(whole);
  if (real === undefined) throw refused(`sandbox.${key} names ${whole}, which does not exist; make it, or leave it out`);
  return real;
}

export function absolute(path: string, { root, userHome }: Pick<BoundarySources, "root" | "userHome">): string {
  return resolve(root, path.replace(/^~(?=\/|$)/, userHome || homedir()));
}

function realOrNone(path: string): Promise<string | undefined> {
  return realpath(path).catch(() => undefined);
}

function refused(message: string): ParleyError {
  return new ParleyError({ code: "sandbox", message, retryable: false, param: "sandbox" });
}
