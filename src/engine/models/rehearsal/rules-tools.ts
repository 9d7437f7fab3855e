/** Orders that name a tool or need one beyond files: run a command, fetch, todo list, sub-agents, any tool with JSON. */
import { group, pattern, type Rule, type Situation } from "./rule.js";
import { JSON_MARK, MARK, QUOTED } from "./spans.js";
import { RESULT, type Step } from "./step.js";
import { waitMs } from "./rules-talk.js";
import { fileName, filesIn, isMark, isPath, itemsOf, NUMBER, numberOf } from "./words.js";

const AGENTS = "(?:sub-?\\s?agents?|agents?|helpers?|child(?:ren)?|assistants?|workers?)";

export const CALL_RULES: readonly Rule[] = [
  {
    when: pattern`
      ^(?:call|use|invoke|run|execute|try) (?:the )?(?:tool )?(${QUOTED}|[\w.-]+)(?: tool)?(?: with)?(?: (?:the )?
      (?:args|arguments|input|parameters|json))?\s*:?\s*(${JSON_MARK})$
    `,
    steps: (match, { marked }) => [{ do: "call", tool: marked.value(group(match, 1)), args: marked.value(group(match, 2)) }],
  },
  {
    when: pattern`
      ^(?:call|use|invoke) (?:the )?tool (${QUOTED}|[\w.-]+)(?: with(?: (?:the )?(?:args|arguments|input|parameters|
      json))?\s*:?\s*(.+))?$
    `,
    steps: (match, { marked }) => [
      { do: "call", tool: marked.value(group(match, 1)), args: match[2] === undefined ? {} : marked.value(match[2]) },
    ],
  },
  {
    when: pattern`^(?:call|invoke|use) (?:the )?([\w.-]+) tool$`,
    steps: (match) => [{ do: "call", tool: group(match, 1), args: {} }],
  },
];

/** "use the Read tool on a.txt". */
export const TOOL_RULES: readonly Rule[] = [
  {
    when: pattern`
      ^(?:call|use|invoke) (?:the )?(Read|Bash|Grep|Glob)(?: tool)? (?:with|on|for) (?:the )?(?:(?:command|file|
      path|pattern) )?(.+)$
    `,
    steps: (match, now) => byTool(group(match, 1).toLowerCase(), group(match, 2), now),
  },
];

function byTool(tool: string, words: string, now: Situation): Step[] | undefined {
  const value = now.marked.value(words);
  if (tool === "read") return [{ do: "read", files: [fileName(now.marked, words)] }];
  if (tool === "bash") return run(words, now);
  return tool === "grep" ? [{ do: "grep", pattern: value }] : [{ do: "glob", pattern: value }];
}

export const TODO_RULES: readonly Rule[] = [
  {
    when: pattern`
      ^(?:.{0,40}?\b)?(?:to-?do\s?list|to-?dos?|task list|list of (?:tasks|todos|steps)|checklist)\b\s*(?:(?:with|
      for|of|containing|from|the|following|items?|steps?|tasks?|these)\b\s*)*(:?)\s*(.*)$
    `,
    steps: (match, now) => (isListOrder(match) ? todo(group(match, 2), now) : undefined),
  },
  {
    when: pattern`^(?:plan|track) (?:out )?(?:the |these |following )*(?:steps|tasks|work|items)\s*:?\s*(.+)$`,
    steps: (match, now) => todo(group(match, 1), now),
  },
  {
    when: pattern`^(?:make|create|write|draw up) (?:me )?(?:an? |the )?plan\b[^:]*:\s*(.+)$`,
    steps: (match, now) => todo(group(match, 1), now),
  },
  { when: pattern`^plan\s*:\s*(.+)$`, steps: (match, now) => todo(group(match, 1), now) },
];

/** "list all TODOs in src" is about the code: only an order to write a list, or a colon with its items, is about the todo list. */
function isListOrder(match: RegExpExecArray): boolean {
  if (/^(?:read|search|grep|find|look|remove|delete|list|show|count|where|which|what|how)\b/i.test(match.input)) return false;
  if (group(match, 1) === ":") return true;
  return WRITES_LIST.test(match.input) && !/^(?:to|in|into)\b/i.test(group(match, 2));
}

const WRITES_LIST = pattern`^(?:make|create|write|update|draw up|set up|start|prepare)\b.*\b(?:list|checklist|to-?dos)\b`;

function todo(words: string, { marked }: Situation): Step[] | undefined {
  const items = itemsOf(marked, words);
  return items.length === 0 ? undefined : [{ do: "todo", items }];
}

export const SPAWN_RULES: readonly Rule[] = [
  {
    when: pattern`^delegate (.+?) to (?:an?|the|another) ${AGENTS}$`,
    steps: (match, { marked }) => agents([marked.value(group(match, 1))], 1),
  },
  {
    when: pattern`
      ^(?:ask|have|let|tell|get|spawn|start|launch|create|use|run|send|make|delegate to|with|in) (?:the )?(?:(
      ${NUMBER}) )?(?:\w+ )?${AGENTS}\b(?: (?:named|called) ([\w-]+))?\s*(?:,|:|to\b|that\b|which\b|who\b|and
      \s+(?:ask|have|let|tell) (?:it|them|each)(?: to)?|with the (?:task|prompt|order)s?:?)?\s*:?\s*(.+)$
    `,
    steps: spawn,
  },
];

function spawn(match: RegExpExecArray, { marked }: Situation): Step[] | undefined {
  const number = group(match, 1) === "" ? 1 : numberOf(group(match, 1));
  const words = marked.value(group(match, 3).replace(/^(?:each )?to\s+(?=\S)/i, ""));
  const parts = number === 1 ? words.split(ANOTHER) : tasksOf(words, number);
  return agents(parts, Math.max(number, parts.length), match[2]);
}

/** "ask one to read a.txt and another to run date". */
const ANOTHER = /[\s,]+and\s+(?:another|a second|one)(?:\s+(?:one|agent|sub-?agent))?\s+to\s+/i;

/** "one to read a.txt and one to read b.txt", "read a.txt; read b.txt", or the same task for each. */
function tasksOf(words: string, number: number): string[] {
  const separators = [
    /\n+/,
    /\s*;\s*/,
    /[\s,]+(?:and\s+)?(?:the\s+)?(?:one|another|other|second|third|next|last)(?:\s+one)?(?:\s+to)?\s+(?=\w)/i,
    /\s*,\s*(?:and\s+)?|\s+and\s+/,
  ];
  const split = separators.map((separator) => words.split(separator)).find((parts) => parts.length === number);
  const [verb = ""] = /^\w+/.exec(words) ?? [];
  return (split ?? Array.from({ length: number }, () => words)).map((part, index) =>
    (index > 0 && !/\s/.test(part.trim()) ? `${verb} ${part}` : part)
      .trim()
      .replace(/^(?:\d+[.)]|[-*•])\s*/, "")
      .replace(/^(?:the\s+)?(?:one|first|other|another)(?:\s+one)?\s+(?:should |must |will |to )?/i, "")
      .replace(THIRD_PERSON, "$1")
      .replace(/[.;,]+$/, ""),
  );
}

/** "one reads a.txt": a sub-agent is told to read it. */
const THIRD_PERSON = /^(read|write|run|search|list|count|say|fetch|find|append|edit|replace|delete|create|wait|execute|grep)e?s\b/i;

function agents(prompts: readonly string[], number: number, name?: string): Step[] | undefined {
  const given = prompts.filter((prompt) => prompt !== "").slice(0, Math.max(number, 1));
  if (given.length === 0) return undefined;
  return [
    {
      do: "spawn",
      tasks: given.map((prompt, index) => ({ name: name !== undefined && given.length === 1 ? name : `agent-${index + 1}`, prompt })),
    },
  ];
}

const URL = "https?:\\/\\/[^\\s\\uE000]+|www\\.[^\\s\\uE000]+";

export const FETCH_RULES: readonly Rule[] = [
  {
    when: pattern`
      ^(?:fetch|download|get|open|visit|browse|read|load|look|go|check|curl|show|see|summari[sz]e|what(?:'s| is)?|
      tell)\b(.*?)(${URL}|${MARK})(.*)$
    `,
    steps: fetch,
  },
];

function fetch(match: RegExpExecArray, { marked }: Situation): Step[] | undefined {
  const address = marked.value(group(match, 2)).replace(/[.,;:!?)>]+$/, "");
  if (!/^(?:https?:|www\.)/i.test(address)) return undefined;
  const url = address.startsWith("www.") ? `https://${address}` : address;
  const target = /\b(?:to|into|as|in)\s+(.+)$/i.exec(group(match, 3));
  const file = target?.[1] === undefined ? undefined : filesIn(marked, target[1])[0];
  return [{ do: "fetch", url }, ...(file === undefined ? [] : [{ do: "write", file, content: RESULT } as const])];
}

const COMMAND = "(?:(?:the|this|following|a|shell|bash|terminal|my)\\s+)*(?:command|commands|script|program|shell)?\\s*:?\\s*";

export const RUN_RULES: readonly Rule[] = [
  { when: pattern`^(echo\s.*(?:>|\||\$|&&).*)$`, steps: (match, now) => run(group(match, 1), now) },
  { when: pattern`^\$ (.+)$`, steps: (match, now) => run(group(match, 1), now) },
  { when: pattern`^(\uE000c\d+\uE001)$`, steps: (match, now) => run(group(match, 1), now) },
  {
    when: pattern`^run (?:all )?(?:the |my )?(?:unit )?tests?(?: suite)?[.!]?$`,
    steps: () => [{ do: "run", command: "npm test" }],
  },
  {
    when: pattern`^(?:run|execute|exec|perform|launch|start|try)\b\s*:?\s*${COMMAND}(.+)$`,
    steps: (match, now) => run(group(match, 1), now),
  },
  {
    when: pattern`^what (?:does|do|will|would) ${COMMAND}(.+?) (?:print|output|return|give|show|do|produce|say)s?\??$`,
    steps: runQuestion,
  },
  {
    when: pattern`^(?:what(?:'s| is)|show(?: me)?|tell me|give me|get) the (?:output|result) of (?:running )?${COMMAND}(.+?)\??$`,
    steps: runQuestion,
  },
];

/** Bare commands that nobody would mean as English. */
export const BARE_COMMAND_RULES: readonly Rule[] = [
  {
    when: pattern`
      ^(?:ls|pwd|git|npm|npx|pnpm|yarn|node|deno|bun|python3?|pip3?|date|whoami|uname|mkdir|rm|cp|mv|curl|cargo|tsc|
      wc|sed|awk|docker|ps|df|du|chmod|tree)(?:\s.*)?$
    `,
    steps: (match, now) => run(match[0], now),
  },
];

function runQuestion(match: RegExpExecArray, now: Situation): Step[] | undefined {
  const words = group(match, 1);
  if (!isMark(words) && (isPath(fileName(now.marked, words)) || /^(?:it|this|that|the|you|i|we)\b/i.test(words))) return undefined;
  return run(words, now);
}

const ONLY_CODE = /^(?:\uE000[cf]\d+\uE001[\s,;]*(?:(?:and|then|after that)[\s,]+)*)+$/i;

/** A quoted command wins; one in bare words loses only the full stop of its sentence. */
function run(words: string, { marked, file }: Situation): Step[] | undefined {
  const limit = TIMEOUT.exec(words);
  const timeoutMs = limit === null ? "forever" : waitMs(limit[1] ?? limit[2] ?? "");
  const plain = words.replace(TIMEOUT, "");
  const background = /\s+in\s+(?:the\s+)?background$/i.test(plain);
  const rest = plain.replace(/\s+in\s+(?:the\s+|a\s+)?(?:background|shell|terminal|bash|console)$/i, "");
  const code = rest.match(/\uE000[cf]\d+\uE001/g) ?? [];
  if (code.length > 1 && ONLY_CODE.test(rest)) return code.map((mark) => ({ do: "run", command: marked.value(mark) }));
  const [first] = rest.match(new RegExp(`^${QUOTED}`, "u")) ?? code;
  const command =
    code.length === 1 || first === rest ? marked.value(first ?? rest) : marked.raw(rest).replace(/(?<=[\p{L}\p{N}"'])[.!]$/u, "");
  if (command === "") return undefined;
  const isScript = /^[^\s./\\][^\s/\\]*\.\w+$/.test(command);
  const named = /^(?:it|that|this|the (?:file|script|program))$/i.test(command)
    ? interpreted(file)
    : isScript
      ? interpreted(command)
      : command;
  if (named === undefined) return undefined;
  return [{ do: "run", command: named, ...(background && { background }), ...(timeoutMs !== "forever" && { timeoutMs }) }];
}

const TIMEOUT = pattern`[\s,]+(?:with|and|using) (?:an? )?(?:timeout (?:of )?(${NUMBER}\s*\w+)|(${NUMBER}[\s-]*\w+) timeout)[.!]?$`;

/** "run it" after a file was written. */
function interpreted(file: string | undefined): string | undefined {
  if (file === undefined) return undefined;
  const ending = /\.(\w+)$/.exec(file)?.[1] ?? "";
  const program = { py: "python3", js: "node", mjs: "node", cjs: "node", ts: "node", sh: "sh", rb: "ruby" }[ending];
  return program === undefined ? file : `${program} ${file}`;
}
