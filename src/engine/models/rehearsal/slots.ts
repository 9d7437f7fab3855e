/** Forms of orders: a regular expression with slots such as {file}. The words in a slot are read as one kind of value. */
import { isMark, MARK, type Marked } from "./spans.js";
import { RESULT, type Content, type Step } from "./step.js";
import { FILE, fileIn, fileName, filesIn, itemsOf, NUMBER, numberOf } from "./words.js";

/** The order so far, when one of its clauses is read. */
export interface Situation {
  readonly marked: Marked;
  /** The steps of the clauses before. */
  readonly steps: readonly Step[];
  /** The file that was named last, for "it" and for orders that name none. */
  readonly file: string | undefined;
}

/** The values of one match; a slot that the form does not have, or that was left out, is empty. */
export type Slots = NonNullable<ReturnType<typeof readSlots>>;

const FORMS: Readonly<Record<string, string>> = {
  file: FILE,
  target: FILE,
  files: ".+",
  items: ".+",
  tasks: ".+",
  url: "(?:https?:\\/\\/|www\\.)[^\\s\uE000]+",
  name: `(?:${MARK}|[^\\s,;:\uE000]+)`,
  folder: "(?:(?:the|this|my|current)\\s+)*[^\\s,;]+(?:\\s+(?:folder|directory))?",
  count: NUMBER,
  to: NUMBER,
  fact: "[\\p{L}][\\p{L}\\x20-]{0,40}?",
  known: "(?:(?:secret|magic|pass|special|favou?rite)\\s+)?(?:word|number|name|phrase|code|colou?r|city|password)",
};

/** A space stands for any white space, capitals do not matter, and a slot at the end of the form takes all that is left. */
export function compileForm(form: string): RegExp {
  const end = /\{(?:text|other|content|speech|command)\}$/.test(form) ? "" : "[.!?]*";
  const source = form
    .replaceAll(/\((?!\?)/g, "(?:")
    .replaceAll(" ", "\\s+")
    .replaceAll(/\{(\w+)\}/g, (slot, name: string, _at: number, whole: string) => {
      return `(?<${name}>${FORMS[name] ?? (whole.endsWith(slot) ? ".+" : ".+?")})`;
    });
  return new RegExp(`^(?:${source})${end}$`, "isu");
}

/** Undefined when a slot's words are not of its kind: no file is meant by "to me". */
export function readSlots(groups: Readonly<Record<string, string | undefined>>, now: Situation) {
  const { marked } = now;
  const words = (slot: string) => groups[slot] ?? "";
  const number = (slot: string) => (groups[slot] === undefined ? undefined : numberOf(words(slot)));
  // The file that was named last stands for one that is not named.
  const file = groups["file"] === undefined ? (now.file ?? "") : fileMeant(words("file"), now);
  const target = groups["target"] === undefined ? "" : fileMeant(words("target"), now);
  const files = groups["files"] === undefined ? [] : filesMeant(words("files"), now);
  const content = contentOf(words("content"), now);
  const command = commandOf(words("command"), marked);
  if (file === undefined || target === undefined || files === undefined || content === undefined || command === undefined) return undefined;
  return {
    file,
    target,
    files,
    content,
    speech: speechOf(words("speech"), now),
    text: marked.value(words("text")),
    other: marked.value(words("other")),
    items: itemsOf(marked, words("items"), /,\s*(?:and\s+)?|\s+and\s+/),
    task: marked.value(words("tasks")),
    tasks: itemsOf(marked, words("tasks"), /\n/),
    name: fileName(marked, words("name")),
    url: fileName(marked, words("url")),
    command,
    fact: (words("fact") || words("known")).toLowerCase(),
    folder: folderOf(words("folder"), marked),
    count: number("count"),
    to: number("to"),
  };
}

function fileMeant(words: string, { marked, file }: Situation): string | undefined {
  return /^(?:it|(?:the|this|that) file)[.!?]*$/i.test(words) ? file : fileIn(marked, words);
}

function filesMeant(words: string, now: Situation): string[] | undefined {
  const file = fileMeant(words, now);
  return file === undefined ? filesIn(now.marked, words) : [file];
}

const REFERS_BACK =
  /^(?:it|that|this|them|both|(?:its|their|the|that|this) (?:contents?|outputs?|results?|text|answer)|a summary)(?: of (?:it|that))?[.!?]*$/i;
const LABEL = /^(?:the|this) (?:following )?(?:text|words?|lines?|contents?|code):? (?=\uE000)/i;

/** The step before, when the words refer to its result or its speech; else the words, unless a quotation stands among others. */
function contentOf(words: string, { marked, steps }: Situation): Content | undefined {
  const text = words.replace(LABEL, "");
  if (!REFERS_BACK.test(words)) return isMark(text) || !text.includes("\uE000") ? marked.value(text) : undefined;
  const before = steps.findLast((step) => step.do !== "unknown");
  return before?.do === "say" ? before.text : before && RESULT;
}

/** Words to say lose the full stop of their sentence. */
function speechOf(words: string, now: Situation): Content {
  const content = contentOf(words, now) ?? now.marked.raw(words);
  return typeof content === "string" && !isMark(words) && /^[^.]*\.$/.test(content) ? content.slice(0, -1) : content;
}

/** A command in code signs stands alone; one in bare words loses the full stop of its sentence. */
function commandOf(words: string, marked: Marked): string | undefined {
  const command = words.replace(/(?<=[\p{L}\p{N}])[.!]$/u, "").replace(/(?<=\uE001)\s+again$/i, "");
  return isMark(command) || !/^\uE000[cf]/.test(command) ? marked.value(command) : undefined;
}

/** Words that mean the whole workspace. */
const HERE = /^(?:here|(?:(?:the|this|my) )?(?:code|project|repo(?:sitory)?|workspace|(?:current )?(?:folder|directory)))[.!?]*$/i;

function folderOf(words: string, marked: Marked): string | undefined {
  const name = fileName(marked, words.replace(/^the /i, "").replace(/ (?:folder|directory)$/i, ""));
  return name === "" || HERE.test(words) ? undefined : name;
}
