/** The `---` front matter of a Markdown file: YAML from somebody else's hands, so everything about it is bounded, and told by line. */
import { messageOf } from "../../core/errors.js";
import { isRecord } from "../../core/values/json-object.js";

const MAX_CHARS = 64 * 1024;
/** Columns of indentation count too. */
const MAX_DEPTH = 100;
const MAX_ALIASES = 20;

export interface FrontMatter {
  data: Record<string, unknown>;
  /** The text behind the front matter, without the empty lines at its edges. */
  body: string;
  /** `path:line` of a key, for messages about a wrong value. */
  locate(key: string): string;
}

/** A file without front matter is all body. Never throws: a problem is one line that begins with the path. */
export async function readFrontMatter(path: string, text: string): Promise<FrontMatter | { problem: string }> {
  const split = splitFrontMatter(text);
  if (split === undefined) return { problem: `${path}:1: the front matter that begins here has no closing '---' line` };
  const { yaml, body } = split;
  if (yaml === undefined) return { data: {}, body, locate: () => `${path}:1` };
  if (yaml.length > MAX_CHARS) {
    return { problem: `${path}:1: the front matter has ${yaml.length} characters; at most ${MAX_CHARS} are read` };
  }
  const [{ isMap, isScalar, LineCounter, parseDocument }, { tooDeepAt }, { duplicatesIn }] = await Promise.all([
    import("yaml"),
    import("../../core/yaml/depth.js"),
    import("../../core/yaml/duplicates.js"),
  ]);
  // The YAML begins on the second line of the file.
  const deep = tooDeepAt(yaml, MAX_DEPTH);
  if (deep !== undefined) return { problem: `${path}:${deep.line + 1}: this is nested too deeply` };
  const lines = new LineCounter();
  const at = (offset: number): string => `${path}:${lines.linePos(offset).line + 1}`;
  const doc = parseDocument(yaml, {
    lineCounter: lines,
    prettyErrors: false,
    stringKeys: true,
    resolveKnownTags: false,
    uniqueKeys: false,
  });
  const [wrong] = [...doc.errors, ...doc.warnings];
  if (wrong !== undefined) return { problem: `${at(wrong.pos[0])}: ${wrong.message}` };
  const [twice] = duplicatesIn(doc);
  if (twice !== undefined) return { problem: `${at(twice)}: Map keys must be unique` };
  const { contents } = doc;
  if (contents === null) return { data: {}, body, locate: () => `${path}:1` };
  if (!isMap(contents)) return { problem: `${at(contents.range[0])}: the front matter must be a mapping of keys to values` };
  const locate = (key: string): string => {
    const pair = contents.items.find((item) => isScalar(item.key) && item.key.value === key);
    return isScalar(pair?.key) ? at(pair.key.range?.[0] ?? 0) : `${path}:1`;
  };
  try {
    const data: unknown = doc.toJS({ maxAliasCount: MAX_ALIASES });
    return { data: isRecord(data) ? data : {}, body, locate };
  } catch (error) {
    return { problem: `${path}:1: the front matter cannot be expanded: ${messageOf(error)}` };
  }
}

/** Undefined when front matter begins and does not end. Lines end in LF or CRLF; a byte order mark is no text. */
export function splitFrontMatter(text: string): { yaml: string | undefined; body: string } | undefined {
  const whole = text.startsWith("\uFEFF") ? text.slice(1) : text;
  const start = lineEnd(whole, 0);
  if (!isFence(whole.slice(0, start), "---")) return { yaml: undefined, body: trimLines(whole) };
  for (let at = start; at < whole.length;) {
    const next = lineEnd(whole, at);
    const line = whole.slice(at, next);
    if (isFence(line, "---") || isFence(line, "...")) return { yaml: whole.slice(start, at), body: trimLines(whole.slice(next)) };
    at = next;
  }
  return undefined;
}

function isFence(line: string, fence: string): boolean {
  return line.trimEnd() === fence;
}

/** Where the next line begins. */
function lineEnd(text: string, from: number): number {
  const at = text.indexOf("\n", from);
  return at < 0 ? text.length : at + 1;
}

function trimLines(text: string): string {
  return text.replace(/^(?:[ \t]*\r?\n)+/, "").trimEnd();
}
