/**
 * The syntax of mentions: `@path`, `@"path with spaces"`, `@path\ with\ spaces`. mentions.ts finds the files that they name.
 */

interface Mention {
  /** The place of the mention, the `@` included. */
  start: number;
  end: number;
  path: string;
}

/** An `@` within a word (an e-mail address, `pkg@1.0`, a path) begins no mention. */
const MENTION = /(?<=^|[\s([{<"'`,;])@(?:"([^"\n]+)"|((?:\\[^\n]|[^\s\\])+))/g;

/** A block that is never closed extends to the end. */
const FENCED = /^(`{3,})[^`\n]*\n[^]*?(?:^\1`*[ \t]*$|(?![^]))/gm;

/** From left to right, without overlap. Text in a fenced block mentions nothing. */
export function mentionsIn(text: string): Mention[] {
  const own = text.replace(FENCED, (block) => " ".repeat(block.length));
  return [...own.matchAll(MENTION)].map((match) => {
    const [written, quoted, bare = ""] = match;
    return { start: match.index, end: match.index + written.length, path: quoted ?? unescaped(bare) };
  });
}

/** Quotes the path where needed, so that it is one mention. */
export function escaped(path: string): string {
  return path.replace(/[\s\\"]/g, "\\$&");
}

/** A backslash before any other letter stays: paths of Windows have them. */
export function unescaped(written: string): string {
  return written.replace(/\\([\s\\"])/g, "$1");
}

/** The paths that a mention may name, the likeliest first: punctuation at its end may belong to the sentence. */
export function readings(path: string): string[] {
  const found = [path];
  for (let shorter = path; found.length < MOST_READINGS && /[.,;:!?)\]}>'"`]$/.test(shorter);) {
    shorter = shorter.slice(0, -1);
    if (shorter !== "") found.push(shorter);
  }
  return found.filter((reading) => reading === "./" || /[^./~]/.test(reading));
}

const MOST_READINGS = 6;
