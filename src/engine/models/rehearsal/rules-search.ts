/** Orders about finding: files by name (Glob), lines by content (Grep). */
import { group, pattern, type Rule, type Situation } from "./rule.js";
import { MARK } from "./spans.js";
import type { Step } from "./step.js";
import { FILE, fileName, isMark, isPath, THE_FILE } from "./words.js";

const GLOB = `(?:${MARK}|\\S*[*?]\\S*)`;
const IN_FOLDER = `(?:\\s+(?:in|under|inside|from|within|of|at)\\s+(?:the\\s+)?(${FILE})(?:\\s+(?:folder|directory|dir))?)?`;
const ASK = "(?:find|list|show(?:\\s+me)?|locate|search(?:\\s+for)?|look\\s+for|get|give\\s+me|which|what|how\\s+many|see|enumerate)";

export const SEARCH_RULES: readonly Rule[] = [
  { when: pattern("^grep\\s+-"), steps: (match, { marked }) => [{ do: "run", command: marked.raw(match.input) }] },
  { when: pattern(`^glob\\s+(?:for\\s+)?(${GLOB}|\\S+)(?:\\s+files)?${IN_FOLDER}$`), steps: (match, now) => glob(now, wildcard(now, group(match, 1)), group(match, 2)) },
  { when: pattern("^(?:which|what|find|list|show me|show)\\s+(?:all\\s+)?(?:the\\s+)?files\\s+(?:which|that|do)?\\s*(?:contain|containing|contains|mention|mentioning|mentions|use|have|with the (?:word|text))\\s+(.+)$"), steps: (match, now) => grep(now, group(match, 1), "") },
  {
    when: pattern(`^${ASK}\\s+(?:(?:all|the|every|any|of|files?|matching|named|called|like)\\s+)*(\\S*[*?]\\S*|${MARK})(?:\\s+files?)?${IN_FOLDER}$`),
    steps: findByWildcard,
  },
  { when: pattern(`^${ASK}\\b(.*?)\\bfiles?\\b(.*)$`), steps: findFiles },
  {
    when: pattern(`^(?:list|show(?:\\s+me)?|what(?:'s| is) in)\\s+(?:me\\s+)?(?:the\\s+)?(?:contents?\\s+of\\s+)?(?:the\\s+)?(?:current\\s+|this\\s+|whole\\s+|working\\s+)?(?:directory|folder|workspace|project|everything|dir)(?:\\s+(${FILE}))?$`),
    steps: (match, now) => glob(now, "*", group(match, 1)),
  },
  { when: pattern(`^(?:find|locate|where\\s+is)\\s+${THE_FILE}(${FILE})$`), steps: findByName },

  { when: pattern("^(?:search|grep|look|scan)\\s+(?:through\\s+|in\\s+|inside\\s+)?(?!for\\b)(.+?)\\s+for\\s+(.+)$"), steps: (match, now) => grep(now, group(match, 2), group(match, 1)) },
  { when: pattern("^(?:search|grep|find|look|rg|scan)\\s+(?:for\\s+)?(.+?)\\s+(?:in|inside|within|across|under|through|throughout)\\s+(.+)$"), steps: (match, now) => grep(now, group(match, 1), group(match, 2)) },
  { when: pattern(`^(?:grep|rg)\\s+(?!for\\s)(${MARK}|\\S+)\\s+(\\S+)$`), steps: (match, now) => grep(now, group(match, 1), group(match, 2)) },
  { when: pattern("^(?:find|show me|search for)?\\s*where\\s+(?:is\\s+|are\\s+)?(.+?)\\s+(?:is\\s+|are\\s+)?(?:used|defined|mentioned|called|declared|written|set)[?.!]*$"), steps: (match, now) => grep(now, group(match, 1), "") },
  { when: pattern("^(?:search(?:\\s+for)?|grep(?:\\s+for)?|look\\s+for|find|rg)\\s+(.+)$"), steps: (match, now) => grep(now, group(match, 1), "") },
];

const KINDS: Readonly<Record<string, string>> = {
  typescript: "ts", javascript: "js", python: "py", markdown: "md", rust: "rs", json: "json", yaml: "yaml", text: "txt", go: "go",
  html: "html", css: "css", shell: "sh", java: "java", ruby: "rb", test: "test.*",
};

function wildcard({ marked }: Situation, word: string): string {
  return isMark(word) ? marked.value(word) : word.replace(/[.,!?]+$/, "");
}

function glob({ marked }: Situation, wanted: string, folder: string): Step[] {
  const path = folder === "" || HERE.test(folder) || /^(?:this|current|that|there|my)$/i.test(folder) ? undefined : fileName(marked, folder);
  return [{ do: "glob", pattern: wanted, ...(path !== undefined && { path }) }];
}

/** Words that mean the whole workspace. */
const HERE =
  /^(?:here|(?:the |this |my |our |all |all the |every |whole |entire |current )*(?:code|codebase|project|repo|repository|workspace|folder|directory|files?|sources?|source code|tree|everything))$|^everywhere$/i;

function findByWildcard(match: RegExpExecArray, now: Situation): Step[] | undefined {
  const wanted = wildcard(now, group(match, 1));
  if (!/[*?]/.test(wanted) || /^\?+$/.test(wanted)) return undefined;
  return glob(now, wanted.includes("/") ? wanted : `**/${wanted}`, group(match, 2));
}

function findFiles(match: RegExpExecArray, now: Situation): Step[] | undefined {
  const [before, after] = [group(match, 1), group(match, 2)];
  if (/\b(?:for|in)\b/i.test(before) || /\b(?:say|contain|mean)\b/i.test(after)) return undefined;
  const folder = pattern(`\\b(?:in|under|inside|from|within)\\s+(?:the\\s+)?(${FILE})`).exec(after)?.[1]?.replace(/[.!?]+$/, "") ?? "";
  const named = pattern(`^\\s*(?:is |are )?(?:named|called|matching|like)?\\s*(${FILE})`).exec(after)?.[1];
  if (named !== undefined && (/\b(?:named|called|matching|like)\b/i.test(after) || isPath(fileName(now.marked, named)))) {
    return glob(now, `**/${fileName(now.marked, named)}`, folder);
  }
  const ending = /\.(\w+)\s*$/.exec(before)?.[1] ?? /\b(?:ending (?:in|with)|with (?:the )?(?:extension|ending))\s+\.?(\w+)/i.exec(after)?.[1];
  const kind = ending ?? KINDS[/(\w+)\s*$/.exec(before)?.[1]?.toLowerCase() ?? ""];
  return glob(now, kind === undefined ? "**/*" : `**/*.${kind}`, kind !== undefined && ending !== undefined && folder === `.${ending}` ? "" : folder);
}

function findByName(match: RegExpExecArray, now: Situation): Step[] | undefined {
  const name = fileName(now.marked, group(match, 1));
  return isPath(name) && !isMark(group(match, 1)) ? glob(now, name.includes("/") ? name : `**/${name}`, "") : undefined;
}

const ANY_CASE = /[\s,]*\(?\b(?:case[- ]insensitiv(?:e|ely)|ignoring (?:the )?case|in any case)\b\)?/i;
const BEFORE = /^(?:(?:all|the|every|any|of|occurrences?|mentions?|uses?|usages?|references?|to|word|words|text|string|pattern|lines?|containing|with|matching|for|regex)\s+)+(?=\S)/i;
const AFTER = /\s+(?:occurrences?|mentions?|comments?|references?|recursively)$/i;

function grep(now: Situation, what: string, where: string): Step[] | undefined {
  const { marked } = now;
  const ignoreCase = ANY_CASE.test(what) || ANY_CASE.test(where);
  const wanted = marked.value(what.replace(ANY_CASE, "").trim().replace(BEFORE, "").replace(AFTER, "").trim()).replace(/[.?!]$/, "");
  if (wanted === "" || /^(?:it|out|me|that)$/i.test(wanted)) return undefined;
  return [{ do: "grep", pattern: wanted, ...place(now, where.replace(ANY_CASE, "").replace(AFTER, "").trim()), ...(ignoreCase && { ignoreCase }) }];
}

function place({ marked }: Situation, where: string): { path?: string; glob?: string } {
  const words = where.replace(/[.!?]$/, "").trim();
  if (words === "" || HERE.test(words)) return {};
  const kind = /^(?:all |the |every )*(\w+) files?$/i.exec(words)?.[1]?.toLowerCase();
  if (kind !== undefined && KINDS[kind] !== undefined) return { glob: `*.${KINDS[kind]}` };
  const word = words.replace(/^(?:(?:all|the|every|files?|folder|directory|in|of)\s+)+/i, "").replace(/\s+(?:folder|directory|dir|files?)$/i, "");
  const name = fileName(marked, word);
  return /[*?]/.test(name) ? { glob: name } : { path: name };
}
