/** Orders about files: read, write, append, edit, copy, move, delete. */
import { group, pattern, type Rule, type Situation } from "./rule.js";
import { QUOTED } from "./spans.js";
import { RESULT, type Content, type Step } from "./step.js";
import { contentOf, FILE, fileName, filesIn, isPath, isQuoted, itemsOf, NUMBER, numberOf, REFERS_BACK, THE_FILE } from "./words.js";

const TO = "(?:to|into|onto|as|in|inside)";
const WITH =
  "(?:with|containing|contains?|saying|says|having|holding|reading|whose (?:contents?|text) (?:is|are)|and (?:write|put)|:|" +
  "(?:that|which|to) (?:says?|contains?|reads?|has|have|holds?|prints?|outputs?))";
const LABEL =
  "(?:\\s*(?:the |this |a |as )?(?:contents?|text|words?|line|code|following|body)\\b)*(?:\\s+(?:of|is|are|being)\\b)?\\s*[:=]?\\s*";

const CREATE = pattern`
  ^(?:create|make|write|save|add|generate|produce|start) (?:me )?(${THE_FILE})(${FILE})(?: file)?[\s,]*(${WITH})
  ${LABEL}(.*)$
`;

/** "delete x from a.txt" is an edit; "add 'x' to a.txt" appends; "create a.txt with 'x'" writes. */
export const EDIT_RULES: readonly Rule[] = [
  {
    when: pattern`^(?:remove|delete|drop|erase|strip) (.+) (?:from|in|inside|within|of|out of) ${THE_FILE}(${FILE})$`,
    steps: cutOut,
  },
  {
    when: pattern`
      ^(?:edit|update|modify|change) ${THE_FILE}(${FILE})[\s,:]+(?:so that|such that|to make|so) (.+?) (?:becomes?|turns? into|
      is replaced (?:by|with)|is changed to|reads) (.+)$
    `,
    steps: (match, now) => replaceIn(`${group(match, 2)} with ${group(match, 3)} in ${group(match, 1)}`, now),
  },
  {
    when: pattern`^(?:fix|correct|change|edit|update|replace)\b[^:]*? in ${THE_FILE}(${QUOTED}|[^\s,;:\uE000]+)\s*: (.+)$`,
    steps: (match, now) => replaceIn(`${group(match, 2)} in ${group(match, 1)}`, now),
  },
  {
    when: pattern`
      ^(?:in|edit|update|modify|open|change) ${THE_FILE}(${FILE})[\s,:]+(?:to |and |by |so that you )?(?:replac|
      chang|substitut|swap)(?:e|es|ing)? (.+)$
    `,
    steps: (match, now) => replaceIn(`${group(match, 2)} in ${group(match, 1)}`, now),
  },
  {
    when: pattern`^(?:replace|change|substitute|swap|turn|update|modify|rename|fix|correct|set) (.+)$`,
    steps: (match, now) => replaceIn(group(match, 1), now),
  },
];

export const FILE_RULES: readonly Rule[] = [
  {
    when: pattern`^(?:copy|duplicate|clone|cp) (?:the )?(?:contents? (?:of|from) )?${THE_FILE}(${FILE}) ${TO} ${THE_FILE}(${FILE})$`,
    steps: (match, { marked }) => [
      { do: "read", files: [fileName(marked, group(match, 1))] },
      { do: "write", file: fileName(marked, group(match, 2)), content: RESULT },
    ],
  },
  {
    when: pattern`^(?:move|rename|mv) ${THE_FILE}(${FILE}) (?:to|into|as) ${THE_FILE}(${FILE})$`,
    steps: (match, { marked }) => shell("mv --", [fileName(marked, group(match, 1)), fileName(marked, group(match, 2))]),
  },
  {
    when: pattern`^(?:delete|remove|rm|erase) (.+)$`,
    steps: (match, now) => remove(group(match, 1), now),
  },
  {
    when: pattern`^(?:clear|empty|truncate|blank) (?:out )?(?:(?:all )?the )?(?:contents? of )?${THE_FILE}(${FILE})[.!]?$`,
    steps: (match, { marked }) => {
      const file = fileName(marked, group(match, 1));
      return isPath(file) || isQuoted(group(match, 1)) ? [{ do: "write", file, content: "" }] : undefined;
    },
  },
  {
    when: pattern`^(?:create|make|touch|add|generate) (?:(${NUMBER}) )?(?:(?:the|new|empty) )*files(?: (?:named|called))?\s*:? (.+)$`,
    steps: createSeveral,
  },
  {
    when: pattern`^(?:write|save|put) (${NUMBER}) lines (?:in)?to ${THE_FILE}(${QUOTED}|[^\s,;:\uE000]+)\s*: (.+)$`,
    steps: writeLines,
  },
  {
    when: pattern`^(?:create|make|add|mkdir) (?:a |an |the |new )*(?:directory|folder|dir) (?:named |called )?(${FILE})$`,
    steps: (match, { marked }) => shell("mkdir -p --", [fileName(marked, group(match, 1))]),
  },
  {
    when: pattern`^(?:append|add|insert) (.+?) (?:to|at|in|into) (?:the (?:end|bottom) of )?${THE_FILE}(${FILE})$`,
    steps: ([, text, file], now) => append(file, text, now),
  },
  { when: pattern`^append to ${THE_FILE}(${FILE})\s*[:,]? (.+)$`, steps: ([, file, text], now) => append(file, text, now) },

  {
    when: pattern`
      ^(?:write|save|put|output|store) (?:(?:the|this|these|following|text|lines?|content|code) )*(?:in)?to
      \s+${THE_FILE}(${FILE})(?: file)?(?:\s*[:,]| ${WITH})? ${LABEL}(.+)$
    `,
    steps: writeNamed,
  },
  { when: CREATE, steps: create },
  {
    when: pattern`
      ^(write|save|put|store|output|dump|insert|print|create|make|generate|record|add) (.+) (${TO}) (${THE_FILE})(
      ${FILE})(?: file)?$
    `,
    steps: write,
  },
  { when: pattern`^(?:create|make|touch|write|generate|add) (${THE_FILE})(${FILE})(?: file)?[.!]?$`, steps: createEmpty },
  { when: pattern`^(?:write|save|create|put|make) (.*)$`, steps: writeLoosely },
];

export const READ_RULES: readonly Rule[] = [
  {
    when: pattern`^(?:re-?read|read|open|cat|load|view|type|(?:have|take) a look at)\b(.*?)(?: (?:back|again|aloud|to me))?$`,
    steps: (match, now) => read(group(match, 1), now, true),
  },
  {
    when: pattern`
      ^(?:show|print|display|look|check|inspect|examine|get|give|summari[sz]e|explain|analy[sz]e|review|describe|
      tell|see|parse|head|tail|use|what(?:'s|’s)?|how|which|who|where|is|does|do|find|list|go)\b(.*)$
    `,
    steps: (match, now) => read(group(match, 1), now, false),
  },
];

function read(words: string, { marked, file }: Situation, plainly: boolean): Step[] | undefined {
  const named = filesIn(marked, words).filter((name) => plainly || isPath(name));
  const files = [...new Set(named)].filter((name) => !name.endsWith("/") && !/[*?]/.test(name));
  const [only, ...more] = words
    .replace(pattern`^${THE_FILE}`, "")
    .split(/\s+/)
    .map((word) => fileName(marked, word));
  if (files.length === 0 && plainly && only !== undefined && more.length === 0 && only !== "") {
    files.push(/^(?:it|file|this|that|again)$/i.test(only) ? (file ?? "") : only);
  }
  if (files.length === 0 || files.includes("")) return undefined;
  const last = pattern`\b(?:last|bottom|final) (${NUMBER} )?lines?\b`.exec(words);
  if (last !== null) return shell(`tail -n ${numberOf(last[1] ?? "1")} --`, files);
  return [{ do: "read", files, ...linesOf(words) }];
}

function linesOf(words: string): { offset?: number; limit?: number } {
  const range = /\blines?\s+(\d+)(?:\s*(?:-|–|to|through|until)\s*(\d+))?/i.exec(words);
  if (range?.[1] !== undefined) return { offset: Number(range[1]) - 1, limit: Number(range[2] ?? range[1]) - Number(range[1]) + 1 };
  const first = pattern`\b(?:first|top) (${NUMBER} )?lines?\b`.exec(words);
  return first === null ? {} : { limit: numberOf(first[1] ?? "1") };
}

function write(match: RegExpExecArray, now: Situation): Step[] | undefined {
  const [verb, words, preposition, label] = [group(match, 1), group(match, 2), group(match, 3).toLowerCase(), group(match, 4)];
  const token = group(match, 5);
  const file = fileName(now.marked, token);
  const [, first, firstFile, next] = pattern`^(${QUOTED}) ${TO} ${THE_FILE}(${FILE})[\s,]+(?:and )?(${QUOTED})$`.exec(words) ?? [];
  if (first !== undefined && firstFile !== undefined && next !== undefined) {
    return [...withSource(first, fileName(now.marked, firstFile), now), ...withSource(next, file, now)];
  }
  if (/^(?:file|document|disk)$/i.test(token)) return withSource(words, UNNAMED, now);
  if (REFERS_BACK.test(file)) return now.file === undefined ? undefined : withSource(words, now.file, now);
  const certain = isPath(file) || isQuoted(token) || /\b(?:file|named|called)\b/i.test(label);
  const likely =
    !preposition.startsWith("in") || preposition === "into" ? /^(?:put|save|store|dump)$/i.test(verb) || isQuoted(words) : false;
  return certain || likely ? withSource(words, file, now) : undefined;
}

/** Where "write hello to a file" goes. */
const UNNAMED = "output.txt";

const BASED_ON_IT = /^(?:an?|the|its|your)\s+(?:\w+\s+)?(?:summary|copy|report|findings|analysis|translation)\b/i;

/** "write the content of a.txt to b.txt" reads first. */
function withSource(words: string, file: string, { marked, steps }: Situation): Step[] {
  if (steps.length > 0 && BASED_ON_IT.test(words)) return [{ do: "write", file, content: RESULT }];
  const [, command] = pattern`^(?:the )?(?:outputs?|results?) of (?:running |the command )*(\uE000[cq]\d+\uE001)$`.exec(words) ?? [];
  if (command !== undefined)
    return [
      { do: "run", command: marked.value(command) },
      { do: "write", file, content: RESULT },
    ];
  const source = pattern`
    ^(?:the )?(?:whole )?(?:contents?|text|lines) (?:of|from|in) ${THE_FILE}(${FILE})$|^(${FILE})['’]s (?:contents?|
    text)$
  `.exec(words);
  const name = source === null ? "" : fileName(marked, source[1] ?? source[2] ?? "");
  if (isPath(name))
    return [
      { do: "read", files: [name] },
      { do: "write", file, content: RESULT },
    ];
  return [{ do: "write", file, content: contentOf(marked, words.replace(/[:,]$/, "")) }];
}

function writeNamed(match: RegExpExecArray, now: Situation): Step[] {
  return withSource(group(match, 2), fileName(now.marked, group(match, 1)), now);
}

function create(match: RegExpExecArray, now: Situation): Step[] | undefined {
  const [label, token, how, words] = [
    group(match, 1),
    group(match, 2),
    group(match, 3),
    group(match, 4).replace(/\s+(?:in|inside) it$/i, ""),
  ];
  const file = fileName(now.marked, token);
  if (!isPath(file) && !(/\b(?:file|named|called)\b/i.test(label) && !/^(?:with|that|which|containing|to|in|and|saying|for)$/i.test(file)))
    return undefined;
  const [, first, next] = pattern`^(${QUOTED})[\s,]+(?:and )?(${FILE} ${WITH}.+)$`.exec(words) ?? [];
  const others = next === undefined ? undefined : createAgain(next, now);
  const content = words === "" ? "" : contentOf(now.marked, others === undefined ? words : (first ?? ""));
  return [{ do: "write", file, content: /prints?|outputs?/i.test(how) ? program(file, content) : content }, ...(others ?? [])];
}

/** "create a.txt with 'one' and b.txt with 'two'". */
function createAgain(words: string, now: Situation): Step[] | undefined {
  const match = CREATE.exec(`create ${words}`);
  return match === null ? undefined : create(match, now);
}

/** "hello.py that prints hello" is a program, as far as one line goes. */
function program(file: string, content: Content): Content {
  if (typeof content !== "string" || /[()]/.test(content)) return content;
  const ending = /\.(\w+)$/.exec(file)?.[1] ?? "";
  if (ending === "py") return `print(${JSON.stringify(content)})\n`;
  if (/^(?:[cm]?[jt]s)$/.test(ending)) return `console.log(${JSON.stringify(content)});\n`;
  if (/^(?:sh|bash)$/.test(ending)) return `echo ${quoteForShell(content)}\n`;
  return content;
}

function createEmpty(match: RegExpExecArray, { marked }: Situation): Step[] | undefined {
  const file = fileName(marked, group(match, 2));
  const announced = /\b(?:file|named|called)\b/i.test(group(match, 1)) && !/^(?:file|named|called|list)$/i.test(file);
  return isPath(file) || announced ? [{ do: "write", file, content: "" }] : undefined;
}

/** Any order in which one quotation and one file can be told apart. */
function writeLoosely(match: RegExpExecArray, { marked }: Situation): Step[] | undefined {
  const words = group(match, 1);
  const quoted = words.match(new RegExp(QUOTED, "gu")) ?? [];
  const files = filesIn(marked, words).filter(isPath);
  const content = quoted.find((mark) => !files.includes(marked.value(mark)));
  const [file] = files;
  if (file === undefined || content === undefined || files.length > 1) return undefined;
  return [{ do: "write", file, content: marked.value(content) }];
}

function createSeveral(match: RegExpExecArray, { marked }: Situation): Step[] | undefined {
  const names = itemsOf(marked, group(match, 2));
  if (names.some((name) => /\s/.test(name)) || (match[1] !== undefined && names.length !== numberOf(match[1]))) return undefined;
  return names.map((file) => ({ do: "write", file, content: "" }));
}

function writeLines(match: RegExpExecArray, { marked }: Situation): Step[] | undefined {
  const items = itemsOf(marked, group(match, 3));
  if (items.length !== numberOf(group(match, 1))) return undefined;
  return [{ do: "write", file: fileName(marked, group(match, 2)), content: items.map((item) => `${item}\n`).join("") }];
}

/** Only when nothing but files is named: "delete line 2 of a.txt" must not cost the file. */
function remove(words: string, { marked }: Situation): Step[] | undefined {
  const files = filesIn(marked, words);
  const others = words.split(/[\s,;]+/).filter((word) => word !== "" && !files.includes(fileName(marked, word)) && !isQuoted(word));
  return ONLY_FILES.test(others.join(" ")) ? shell("rm --", files) : undefined;
}

const ONLY_FILES = pattern`
  ^(?:(?:the|a|my|this|that|both|all|old|text|files?|named|called|and|also|again|completely|from disk|
  if (?:it|they) exists?)\b\s*)*[.!?]*$
`;

function append(file: string | undefined, text: string | undefined, { marked, file: last }: Situation): Step[] | undefined {
  const named = fileName(marked, file ?? "");
  const name = REFERS_BACK.test(named) ? (last ?? "") : named;
  if (!isPath(name) && !isQuoted((file ?? "").trim())) return undefined;
  const [, command] = OUTPUT_OF.exec((text ?? "").trim()) ?? [];
  if (command !== undefined) return [{ do: "run", command: `${grouped(marked.value(command))} >> ${quoteForShell(name)}` }];
  return [{ do: "append", file: name, content: contentOf(marked, (text ?? "").replace(/^(?:a |the )?(?:new )?lines?\s+(?=\S)/i, "")) }];
}

const OUTPUT_OF = pattern`^(?:the )?(?:outputs?|results?) of (?:running |the command )*(\uE000[cq]\d+\uE001)$`;

function grouped(command: string): string {
  return /[;&|\n]/.test(command) ? `(${command})` : command;
}

/** Text is cut out of a file; lines by number and texts that are only described are not understood. */
function cutOut(match: RegExpExecArray, { marked, file: last }: Situation): Step[] | undefined {
  const [words, token] = [group(match, 1), group(match, 2)];
  const named = fileName(marked, token);
  const file = REFERS_BACK.test(named) ? last : isPath(named) || isQuoted(token) ? named : undefined;
  if (file === undefined) return undefined;
  const all = ALL.test(words);
  const text = words.replace(ALL, "").replace(CUT_NOUN, "");
  const isDescribed = !isQuoted(text) && (DESCRIBED.test(text) || filesIn(marked, text).length > 0);
  if (isDescribed || named.endsWith("/")) return [{ do: "unknown", text: marked.raw(match.input) }];
  return [{ do: "edit", file, from: marked.value(text), to: "", ...(all && { all: true }) }];
}

const CUT_NOUN = pattern`^(?:the )?(?:(?:word|text|string|line|name|value|phrase|typo|sentence|character)s? )?(?=\S)`;
const DESCRIBED = pattern`
  ^(?:(?:lines?|words?|row|paragraphs?) )?\d+\b|^(?:\w+ )?(?:contents?|everything|anything|lines?|words?|it|that|this|them)$|
  \b(?:first|last|second|third|lines?|comments?|words?|containing|with|which|that|rest|duplicates?|empty|trailing|all|contents?)\b
`;

const ALL = /^(?:all|every|each)\s+(?:(?:the|of|occurrences?|instances?)\s+)*|\s+everywhere$/i;
const NOUN = /^(?:the\s+)?(?:(?:word|text|string|line|name|value|phrase|typo)\s+)?(?:\w+\s+from\s+(?=\S+\s+to\s))?/i;

function replaceIn(order: string, { marked, file: last }: Situation): Step[] | undefined {
  const all = ALL.test(order) || /\s(?:everywhere|all of them)\s/i.test(order);
  const words = order.replace(ALL, "").replace(ALL, "").replace(NOUN, "");
  const whole = pattern`
    ^(.+?) (?:with|to|by|into|for|should be|=>|->|→) (?:the (?:word|text) )?(.+?)(?: everywhere)?(?: (?:in|inside|within|of)
    \s+${THE_FILE}(${FILE}))?$
  `.exec(words);
  if (whole === null) return undefined;
  const named = fileName(marked, group(whole, 3));
  const known = isPath(named) || isQuoted(group(whole, 3));
  const file = known ? named : last;
  if (file === undefined || (!known && named !== "" && !REFERS_BACK.test(named))) return undefined;
  return [{ do: "edit", file, from: marked.value(group(whole, 1)), to: marked.value(group(whole, 2)), ...(all && { all: true }) }];
}

function shell(command: string, names: readonly string[]): Step[] | undefined {
  if (names.length === 0) return undefined;
  return [{ do: "run", command: [command, ...names.map(quoteForShell)].join(" ") }];
}

export function quoteForShell(word: string): string {
  return /^[\w./@%+=:-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
