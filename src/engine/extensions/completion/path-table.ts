/** The paths of a tree, for look-ups while the user types: matches of prefixes come first, then of names, then of letters in order. */

/** The letters and digits of a path, one bit each, so that most paths are skipped at once. The last bit marks a hidden path. */
const HIDDEN = 1 << 31;
const OTHER = 1 << 30;

/** A better tier wins, whatever the penalties within it. */
const TIER = { exact: 7000, prefix: 6000, name: 5000, inName: 4000, inPath: 3000, lettersOfName: 2000, lettersOfPath: 1000 } as const;
const WORST_PENALTY = 999;

interface Found {
  path: string;
  score: number;
}

export class PathTable {
  /** Folders end with `/`. */
  readonly #paths: string[];
  readonly #lower: string[];
  readonly #letters: Int32Array;
  /** The position of the last name, and its depth. */
  readonly #names: Uint32Array;
  readonly #depths: Uint32Array;

  /** `files` are relative, with `/`; the folders follow from them. */
  constructor(files: readonly string[]) {
    this.#paths = [...foldersOf(files), ...files];
    this.#lower = this.#paths.map((path) => path.toLowerCase());
    this.#letters = new Int32Array(this.#paths.length);
    this.#names = new Uint32Array(this.#paths.length);
    this.#depths = new Uint32Array(this.#paths.length);
    for (const [at, path] of this.#lower.entries()) {
      this.#letters[at] = lettersOf(path) | (isHidden(path) ? HIDDEN : 0);
      this.#names[at] = path.lastIndexOf("/", path.length - 2) + 1;
      this.#depths[at] = slashesIn(path) - (path.endsWith("/") ? 1 : 0);
    }
  }

  /** At most `most` paths, the best first. Hidden ones only for a query with a hidden name. Case does not count. */
  search(query: string, most: number): string[] {
    const wanted = query.toLowerCase();
    const letters = lettersOf(wanted);
    const skipped = isHidden(wanted) ? 0 : HIDDEN;
    const isListing = wanted === "" || wanted.endsWith("/");
    const depth = slashesIn(wanted);
    const best: Found[] = [];
    for (let at = 0; at < this.#lower.length; at += 1) {
      const has = this.#letters[at] ?? 0;
      if ((has & letters) !== letters || (has & skipped) !== 0) continue;
      const floor = best.length < most ? 0 : (best.at(-1)?.score ?? 0);
      const score = scoreOf(this.#lower[at] ?? "", wanted, this.#names[at] ?? 0, (this.#depths[at] ?? 0) - depth, floor);
      if (score === undefined || score < floor) continue;
      keep(best, { path: this.#paths[at] ?? "", score }, most, isListing);
    }
    return best.map(({ path }) => path);
  }
}

/**
 * Both in lower case; `name` is the position of the path's last name, `below` its depth below the query, so that a tree
 * is completed level by level. Undefined if the query's letters do not occur in order, or no score could reach the floor.
 */
function scoreOf(path: string, query: string, name: number, below: number, floor: number): number | undefined {
  const at = path.indexOf(query);
  if (at === 0) {
    const rest = path.length - query.length;
    if (query !== "" && (rest === 0 || (rest === 1 && path.endsWith("/")))) return TIER.exact;
    return TIER.prefix - penalty(below);
  }
  if (at !== -1) {
    const inName = path.indexOf(query, name);
    if (inName === name) return TIER.name;
    if (inName !== -1) return TIER.inName - (isBoundary(path, inName) ? 0 : 1);
    return TIER.inPath - (isBoundary(path, at) ? 0 : 1);
  }
  if (floor > TIER.lettersOfName) return undefined;
  const gapsInName = gaps(path, query, name);
  if (gapsInName !== undefined) return TIER.lettersOfName - penalty(gapsInName);
  const gapsInPath = name === 0 ? undefined : gaps(path, query, 0);
  return gapsInPath === undefined ? undefined : TIER.lettersOfPath - penalty(gapsInPath);
}

/** The number of gaps between the letters, except at word starts. Undefined if a letter is missing. */
function gaps(path: string, query: string, from: number): number | undefined {
  let count = 0;
  let letter = 0;
  let last = from - 1;
  for (let at = from; at < path.length && letter < query.length; at += 1) {
    if (path.charCodeAt(at) !== query.charCodeAt(letter)) continue;
    if (at !== last + 1 && !isBoundary(path, at)) count += 1;
    last = at;
    letter += 1;
  }
  return letter === query.length ? count : undefined;
}

const JOINTS: ReadonlySet<number> = new Set(["/", "-", "_", ".", " "].map((sign) => sign.charCodeAt(0)));

function isBoundary(path: string, at: number): boolean {
  return at === 0 || JOINTS.has(path.charCodeAt(at - 1));
}

function penalty(count: number): number {
  return Math.min(Math.max(count, 0), WORST_PENALTY);
}

function slashesIn(text: string): number {
  let count = 0;
  for (let at = text.indexOf("/"); at !== -1; at = text.indexOf("/", at + 1)) count += 1;
  return count;
}

function keep(best: Found[], found: Found, most: number, isListing: boolean): void {
  const last = best.at(-1);
  if (last !== undefined && best.length >= most && !isBefore(found, last, isListing)) return;
  const at = best.findIndex((other) => isBefore(found, other, isListing));
  if (at === -1) best.push(found);
  else best.splice(at, 0, found);
  if (best.length > most) best.pop();
}

/** Of equal matches the shorter one first; a folder's listing is sorted by name. */
function isBefore(a: Found, b: Found, isListing: boolean): boolean {
  if (a.score !== b.score) return a.score > b.score;
  if (!isListing && a.path.length !== b.path.length) return a.path.length < b.path.length;
  return a.path < b.path;
}

function lettersOf(text: string): number {
  let letters = 0;
  for (let at = 0; at < text.length; at += 1) letters |= bitOf(text.charCodeAt(at));
  return letters;
}

/** One bit for each of a to z, and four for the digits; the other characters share one. */
function bitOf(code: number): number {
  if (code >= 97 && code <= 122) return 1 << (code - 97);
  return code >= 48 && code <= 57 ? 1 << (26 + (code & 3)) : OTHER;
}

function isHidden(path: string): boolean {
  return path.startsWith(".") || path.includes("/.");
}

function foldersOf(files: readonly string[]): Set<string> {
  const folders = new Set<string>();
  for (const file of files) {
    for (let end = file.lastIndexOf("/"); end > 0; end = file.lastIndexOf("/", end - 1)) {
      const folder = file.slice(0, end + 1);
      if (folders.has(folder)) break;
      folders.add(folder);
    }
  }
  return folders;
}
