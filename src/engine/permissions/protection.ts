/** Finds calls that touch protected files (protected-paths.ts): by the paths of file tools, and by the words of commands. */
import { lstat } from "node:fs/promises";
import { userInfo } from "node:os";
import { dirname, isAbsolute, join, normalize, relative, sep } from "node:path";
import { homeOf, userHomeOf } from "../../os/files/home.js";
import { commandWords } from "./command-words.js";
import type { CallPath } from "./path-pattern.js";
import { pathPattern, PROTECTED, reach, stepsOf, type PathPattern, type Reach } from "./protected-paths.js";
import type { RuledCall } from "./ruled-call.js";
import type { Workspace } from "../workspace/workspace.js";

/** The reason for asking about a call. */
export interface Protected {
  path: string;
  why: string;
}

interface Sources {
  workspace: Pick<Workspace, "root" | "resolve">;
  env: Readonly<Record<string, string | undefined>>;
  /** PARLEY_HOME, where it differs from the environment's. */
  home?: string | undefined;
  /** Folders of the user's settings for other agents. */
  others?: readonly string[];
}

/** Protection for a session in this workspace; `places` are PARLEY_HOME and the user's own folder, where they are known. */
export function protectionOf(
  places: { home: string; userHome: string } | undefined,
  env: Sources["env"],
  workspace: Sources["workspace"],
): Protection {
  if (places === undefined) return new Protection({ workspace, env });
  const { home, userHome } = places;
  const others = [env["ANTE_HOME"] || join(userHome, ".ante"), join(userHome, ".agents"), join(userHome, ".claude")];
  return new Protection({ workspace, env, home, others });
}

interface Guard {
  why: string;
  patterns: readonly PathPattern[];
}

const [GOVERNING] = PROTECTED;
const WHY = GOVERNING?.why ?? "";
const guards = (groups: typeof PROTECTED): Guard[] => groups.map(({ why, paths }) => ({ why, patterns: paths.map(pathPattern) }));
const ALWAYS = guards(PROTECTED.filter(({ always }) => always));
const READ = guards(PROTECTED.filter(({ reads }) => reads));
const EDITED = guards(PROTECTED);

/** The most words of one command to follow through links, and the most comparisons; a command with more is asked about. */
const MAX_FOLLOWED = 1024;
const MAX_COMPARED = 50_000;
const MAX_BASES = 64;
const SHOWN = 200;
/** No path of a file is longer. */
const LONGEST = 4096;
/** In PARLEY_HOME. */
const KEYS = ["credentials", "mcp-auth/"];
const MAYBE_PATH = /[\\/~*]|^\./;

export class Protection {
  readonly #workspace: Sources["workspace"];
  readonly #env: Sources["env"];
  readonly #home: string | undefined;
  readonly #userHome: string | undefined;
  readonly #others: readonly string[];
  #keys: Promise<Guard[]> | undefined;

  constructor({ workspace, env, home, others = [] }: Sources) {
    this.#workspace = workspace;
    this.#env = env;
    this.#home = home ?? unlessHomeless(() => homeOf(env, workspace.root));
    this.#userHome = unlessHomeless(() => userHomeOf(env));
    this.#others = others;
  }

  /** A path of the call that is asked about in every mode. */
  async always(call: RuledCall & { folder?: string }): Promise<Protected | undefined> {
    const { command } = call.args;
    if (call.tool === "Bash" && typeof command === "string") return this.#inCommand(command, call.folder);
    const guarding = call.category === "edit" ? [...ALWAYS, ...(await this.#ownHome())] : READ;
    const keys = call.category === "edit" ? [] : await (this.#keys ??= this.#ownKeys());
    // A search reads all files below its folder; from the root it leaves out /proc by itself.
    const reached = (path: string): readonly Reach[] => (call.tool === "Grep" && path !== sep ? ["hit", "near"] : ["hit"]);
    for (const { path, named } of call.paths) {
      for (const each of named === undefined ? [path] : [path, named.path]) {
        const guard =
          guarding.find(({ patterns }) => patterns.some((pattern) => reached(each).includes(reach(each, pattern)))) ??
          keys.find(({ patterns }) => patterns.some((pattern) => reach(each, pattern) === "hit"));
        if (guard !== undefined) return { path: each, why: guard.why };
      }
    }
    return undefined;
  }

  /** A path of an edit that is asked about in modes where edits run unasked. */
  async edited({ category, paths }: RuledCall): Promise<Protected | undefined> {
    if (category !== "edit") return undefined;
    const homes = await Promise.all(this.#others.map((folder) => this.#real(folder)));
    for (const place of paths) {
      const why = (await this.#whyEdited(place)) ?? (homes.some((home) => isBelow(home, place.path)) ? WHY : undefined);
      if (why !== undefined) return { path: place.path, why };
    }
    return undefined;
  }

  async #whyEdited({ path, relative: inside }: CallPath): Promise<string | undefined> {
    if (inside === undefined) return undefined;
    const guard = EDITED.find(({ patterns }) => patterns.some((pattern) => reach(inside, pattern) === "hit"));
    if (guard !== undefined) return guard.why;
    return (await isOfBareRepository(path, this.#workspace.root)) ? WHY : undefined;
  }

  /** PARLEY_HOME, as it is written and with its links resolved. */
  async #ownHome(): Promise<Guard[]> {
    if (this.#home === undefined) return [];
    const folders = [this.#home, await this.#real(this.#home)];
    return [{ why: WHY, patterns: folders.map((folder) => pathPattern(folder + sep)) }];
  }

  /** The files of PARLEY_HOME that hold keys and logins. */
  async #ownKeys(): Promise<Guard[]> {
    if (this.#home === undefined) return [];
    const folders = [this.#home, await this.#real(this.#home)];
    return [{ why: "holds your keys", patterns: folders.flatMap((folder) => KEYS.map((name) => pathPattern(join(folder, name)))) }];
  }

  async #real(path: string): Promise<string> {
    return (await this.#workspace.resolve(path)).path;
  }

  async #inCommand(command: string, folder = this.#workspace.root): Promise<Protected | undefined> {
    const words = await commandWords(command, { ...this.#env, HOME: this.#userHome, PARLEY_HOME: this.#home, PWD: folder });
    if (words === undefined) return UNREADABLE;
    const guarding = [...ALWAYS, ...(await this.#ownHome())];
    const governing = guarding.filter(({ why }) => why === WHY);
    const skills = guarding.at(-1)?.patterns.map((pattern) => inFolder(pattern, "skills")) ?? [];
    // Folders for relative words: any folder that is entered, or is on the way to a protected one, may be the current one.
    const bases = [folder];
    const seen = new Set<string>();
    const isNear = compared(folder, guarding).near;
    let followed = 0;

    for (const { text, reads, enters, descends, alters } of words) {
      if (/\bPARLEY_HOME\b/.test(text)) return { path: shown(text), why: WHY };
      for (const piece of piecesOf(text)) {
        const whole = piece === text && piece.length <= LONGEST;
        // Most words of a text are not paths.
        if (!whole && !MAYBE_PATH.test(piece) && bases.length === 1 && !isNear) continue;
        for (const written of this.#placesOf(piece, bases)) {
          const key = `${whole && `${reads}${descends}${alters}`} ${written}`;
          if (seen.has(key)) continue;
          if (seen.size === MAX_COMPARED) return UNREADABLE;
          seen.add(key);
          if (whole && ++followed > MAX_FOLLOWED) return UNREADABLE;
          const path = withoutRoots(normalize(written));
          for (const each of whole ? [path, await this.#followed(written)] : [path]) {
            if (whole && reads && skills.some((pattern) => reach(each, pattern) === "hit")) continue;
            const { guard, near } = compared(each, guarding);
            const below = [...(descends ? READ : []), ...(alters ? governing : [])];
            const found = guard ?? below.find((group) => compared(each, [group]).near);
            if (found !== undefined) return { path: shown(text), why: found.why };
            if ((near || (whole && enters)) && !bases.includes(each)) bases.push(each);
            if (bases.length > MAX_BASES) return UNREADABLE;
          }
        }
      }
    }
    return undefined;
  }

  /** Makes a path absolute. Dots stay: after a link they lead elsewhere. */
  #placesOf(piece: string, bases: readonly string[]): string[] {
    const path = withoutGlobs(this.#withHome(piece));
    return isAbsolute(path) ? [path] : bases.map((base) => base + sep + path);
  }

  #withHome(piece: string): string {
    const [whole, user] = /^~([\w.-]*)(?=\/|$)/.exec(piece) ?? [];
    if (whole === undefined || this.#userHome === undefined || (user !== "" && user !== unlessHomeless(() => userInfo().username)))
      return piece;
    return this.#userHome + piece.slice(whole.length);
  }

  /** Follows links as far as the names of the path are known. */
  async #followed(path: string): Promise<string> {
    const known = path.includes("*") ? dirname(path.slice(0, path.indexOf("*") + 1)) : path;
    try {
      return (await this.#real(known)) + path.slice(known === sep ? 0 : known.length);
    } catch {
      return path;
    }
  }
}

const UNREADABLE: Protected = { path: "The command", why: "is too long to tell whether it names protected files" };

function compared(path: string, guarding: readonly Guard[]): { guard: Guard | undefined; near: boolean } {
  const steps = stepsOf(path);
  let near = false;
  for (const guard of guarding) {
    for (const pattern of guard.patterns) {
      const found = reach(steps, pattern);
      if (found === "hit") return { guard, near };
      near ||= found === "near";
    }
  }
  return { guard: undefined, near };
}

function inFolder(pattern: PathPattern, name: string): PathPattern {
  return { ...pattern, steps: [...pattern.steps, ...pathPattern(name).steps] };
}

/** A word, and its parts that may be paths: `--file=a`, `-Ca`, `a:b`, `open("a")`. */
function piecesOf(text: string): Set<string> {
  const parts = text.split(/[\s"'`=:,;()<>|&[\]{}@!#]+/);
  return new Set([text, ...parts, ...parts.map((part) => part.replace(/^-[A-Za-z]/, ""))].filter((piece) => piece !== ""));
}

/** The root of a process is that of the system. */
function withoutRoots(path: string): string {
  return path.replace(/^(?:\/proc\/[^/]+(?:\/task\/[^/]+)?\/root(?=\/|$))+/, "") || sep;
}

/** A pattern for one character or a set of characters counts as `*`. */
function withoutGlobs(path: string): string {
  return path.replace(/[?*+@!]\([^()]*\)|\?|\[[^\]/]*\]/g, "*");
}

function shown(text: string): string {
  return text.length <= SHOWN ? text : `${text.slice(0, SHOWN)}…`;
}

function isBelow(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder + sep);
}

/** Without a home folder its files need no protection. */
function unlessHomeless<T>(find: () => T): T | undefined {
  try {
    return find();
  } catch {
    return undefined;
  }
}

/**
 * Git takes a folder with HEAD, `objects` and `refs` for a repository, whose config and hooks run programs. So a HEAD is asked about, and
 * all files in a folder that would become a repository.
 */
async function isOfBareRepository(path: string, root: string): Promise<boolean> {
  const steps = relative(root, path).split(sep);
  if (steps.at(-1)?.toUpperCase() === "HEAD") return true;
  for (let at = 0, folder = root; at < steps.length; folder = join(folder, steps[at++] ?? "")) {
    const has = (name: string): Promise<boolean> => isThere(join(folder, name));
    const [first = ""] = steps.slice(at);
    if (!(await has("HEAD"))) continue;
    if (["objects", "refs"].includes(first.toLowerCase()) || ((await has("objects")) && (await has("refs")))) return true;
  }
  return false;
}

function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}
