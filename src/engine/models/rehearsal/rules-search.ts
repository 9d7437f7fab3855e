/** Orders about finding: files by name (Glob), lines by content (Grep). */
import { group, pattern, type Rule, type Situation } from "./rule.js";
import { MARK } from "./spans.js";
import type { Step } from "./step.js";
import { FILE, fileName, isMark, isPath, THE_FILE } from "./words.js";

const GLOB = `(?:${MARK}|\\S*[*?]\\S*)`;
const IN_FOLDER = `(?:\\s+(?:in|under|inside|from|within|of|at)\\s+(?:the\\s+)?(${FILE})(?:\\s+(?:folder|directory|dir))?)?`;
const ASK = "(?:find|list|show(?:\\s+me)?|locate|search(?:\\s+for)?|look\\s+for|get|give\\s+me|which|what|how\\s+many|see|enumerate)";

export const SEARCH_RULES: readonly Rule[] = [
  { when: pattern`^grep -`, steps: (match, { marked }) => [{ do: "run", command: marked.raw(match.input) }] },
  {
    when: pattern`^glob (?:for )?(${GLOB}|\S+)(?: files)?${IN_FOLDER}$`,
    steps: (match, now) => glob(now, wildcard(now, group(match, 1)), group(match, 2)),
  },
  {
    when: pattern`
      ^(?:which|what|find|list|show me|show) (?:all )?(?:the )?files (?:which|that|do)?\s*(?:contain|containing|
      contains|mention|mentioning|mentions|use|have|with the (?:word|text)) (.+)$
    `,
    steps: (match, now) => grep(now, group(match, 1), ""),
  },
  {
    when: pattern`^${ASK} (?:(?:all|the|every|any|of|files?|matching|named|called|like) )*(\S*[*?]\S*|${MARK})(?: files?)?${IN_FOLDER}$`,
    steps: findByWildcard,
  },
  {
    when: pattern`
      ^(?:${ASK}|count|where are|are there) (?:(?:all|the|every|any|of) )*(TODO|FIXME|HACK|XXX)s?(?: (?:comments?|
      markers?|notes?|do (?:we|i) have|(?:are|is) (?:there|left)|there are|left))*(?: (?:in|under|inside|within|across) (.+?))?[?.!]*$
    `,
    steps: (match, now) => grep(now, group(match, 1).toUpperCase(), group(match, 2)),
  },
  { when: pattern`^${ASK}\b(.*?)\bfiles?\b(.*)$`, steps: findFiles },
  {
    when: pattern`
      ^(?:list|show(?: me)?|what(?:'s| is) in) (?:me )?(?:the )?(?:contents? of )?(?:the )?(?:current |this |whole |
      working )?(?:directory|folder|workspace|project|everything|dir)(?: (${FILE}))?$
    `,
    steps: (match, now) => glob(now, "*", group(match, 1)),
  },
  { when: pattern`^(?:find|locate|where is) ${THE_FILE}(${FILE})$`, steps: findByName },

  {
    when: pattern`^(?:search|grep|look|scan) (?:through |in |inside )?(?!for\b)(.+?) for (.+)$`,
    steps: (match, now) => grep(now, group(match, 2), group(match, 1)),
  },
  {
    when: pattern`^(?:search|grep|find|look|rg|scan) (?:for )?(.+?) (?:in|inside|within|across|under|through|throughout) (.+)$`,
    steps: (match, now) => grep(now, group(match, 1), group(match, 2)),
  },
  {
    when: pattern`^(?:grep|rg) (?!for\s)(${MARK}|\S+) (\S+)$`,
    steps: (match, now) => grep(now, group(match, 1), group(match, 2)),
  },
  {
    when: pattern`
      ^(?:find|show me|search for)?\s*where (?:is |are )?(.+?) (?:is |are )?(?:used|defined|mentioned|called|
      declared|written|set)[?.!]*$
    `,
    steps: (match, now) => grep(now, group(match, 1), ""),
  },
  {
    when: pattern`^(?:search(?: for)?|grep(?: for)?|look for|find|rg) (.+)$`,
    steps: (match, now) => grep(now, group(match, 1), ""),
  },
];

const KINDS: Readonly<Record<string, string>> = {
  typescript: "ts",
  javascript: "js",
  python: "py",
  markdown: "md",
  rust: "rs",
  json: "json",
  yaml: "yaml",
  text: "txt",
  go: "go",
  html: "html",
  css: "css",
  shell: "sh",
  java: "java",
  ruby: "rb",
  test: "test.*",
};

function wildcard({ marked }: Situation, word: string): string {
  return isMark(word) ? marked.value(word) : word.replace(/[.,!?]+$/, "");
}

function glob({ marked }: Situation, wanted: string, folder: string): Step[] {
  const path =
    folder === "" || HERE.test(folder) || /^(?:this|current|that|there|my)$/i.test(folder) ? undefined : fileName(marked, folder);
  return [{ do: "glob", pattern: wanted, ...(path !== undefined && { path }) }];
}

/** Words that mean the whole workspace. */
const HERE = pattern`
  ^(?:here|(?:the |this |my |our |all |all the |every |whole |entire |current )*(?:code|codebase|project|repo|
  repository|workspace|folder|directory|files?|sources?|source code|tree|everything))$|^everywhere$
`;

function findByWildcard(match: RegExpExecArray, now: Situation): Step[] | undefined {
  const wanted = wildcard(now, group(match, 1));
  if (isMark(group(match, 1)) && /^(?:search|look)\b/i.test(match[0]) && !/\bfiles?\b/i.test(match[0])) return undefined;
  if (!/[*?]/.test(wanted) || /^\?+$/.test(wanted)) return undefined;
  return glob(now, wanted.includes("/") ? wanted : `**/${wanted}`, group(match, 2));
}

function findFiles(match: RegExpExecArray, now: Situation): Step[] | undefined {
  const [before, after] = [group(match, 1), group(match, 2)];
  if (/\b(?:for|in)\b/i.test(before) || /\b(?:say|contain|mean)\b/i.test(after)) return undefined;
  const folder = pattern`\b(?:in|under|inside|from|within) (?:the )?(${FILE})`.exec(after)?.[1]?.replace(/[.!?]+$/, "") ?? "";
  const named = pattern`^\s*(?:is |are )?(?:named|called|matching|like)?\s*(${FILE})`.exec(after)?.[1];
  if (named !== undefined && (/\b(?:named|called|matching|like)\b/i.test(after) || isPath(fileName(now.marked, named)))) {
    return glob(now, `**/${fileName(now.marked, named)}`, folder);
  }
  const ending =
    /\.(\w+)\s*$/.exec(before)?.[1] ?? /\b(?:ending (?:in|with)|with (?:the )?(?:extension|ending))\s+\.?(\w+)/i.exec(after)?.[1];
  const kind = ending ?? KINDS[/(\w+)\s*$/.exec(before)?.[1]?.toLowerCase() ?? ""];
  return glob(
    now,
    kind === undefined ? "**/*" : `**/*.${kind}`,
    kind !== undefined && ending !== undefined && folder === `.${ending}` ? "" : folder,
  );
}

function findByName(match: RegExpExecArray, now: Situation): Step[] | undefined {
  const name = fileName(now.marked, group(match, 1));
  return isPath(name) && !isMark(group(match, 1)) ? glob(now, name.includes("/") ? name : `**/${name}`, "") : undefined;
}

const ANY_CASE = /[\s,]*\(?\b(?:case[- ]insensitiv(?:e|ely)|ignoring (?:the )?case|in any case)\b\)?/i;
const BEFORE = pattern`
  ^(?:(?:all|the|every|any|of|occurrences?|mentions?|uses?|usages?|references?|to|word|words|text|string|pattern|
  lines?|containing|with|matching|for|regex) )+(?=\S)
`;
const AFTER = /\s+(?:occurrences?|mentions?|comments?|references?|recursively)$/i;

function grep(now: Situation, what: string, where: string): Step[] | undefined {
  const { marked } = now;
  const ignoreCase = ANY_CASE.test(what) || ANY_CASE.test(where);
  const wanted = marked.value(
    what
      .replace(ANY_CASE, "")
      .trim()
      .replace(BEFORE, "")
      .replace(AFTER, "")
      .replace(/[.?!]$/, ""),
  );
  if (wanted === "" || /^(?:it|out|me|that)$/i.test(wanted)) return undefined;
  return [
    {
      do: "grep",
      pattern: wanted,
      ...place(now, where.replace(ANY_CASE, "").replace(AFTER, "").trim()),
      ...(ignoreCase && { ignoreCase }),
    },
  ];
}

function place({ marked }: Situation, where: string): { path?: string; glob?: string } {
  const words = where.replace(/[.!?]$/, "").trim();
  if (words === "" || HERE.test(words)) return {};
  const kind = /^(?:all |the |every )*(\w+) files?$/i.exec(words)?.[1]?.toLowerCase();
  if (kind !== undefined && KINDS[kind] !== undefined) return { glob: `*.${KINDS[kind]}` };
  const word = words
    .replace(/^(?:(?:all|the|every|files?|folder|directory|in|of)\s+)+/i, "")
    .replace(/\s+(?:folder|directory|dir|files?)$/i, "");
  const name = fileName(marked, word);
  return /[*?]/.test(name) ? { glob: name } : { path: name };
}
