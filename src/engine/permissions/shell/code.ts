/**
 * Finds commands that run code which we cannot read: `python -c`, `node -e`, ed's input, git's `-c core.pager=…`. Programs that an option
 * makes run others are in risk-table.ts. Script files do not count: their content is never read, neither bash's nor python's.
 */
import { textUpTo, type Risk } from "./risk.js";
import { baseName, isStream, quoted, type ShellWord } from "./words.js";

type Words = readonly ShellWord[];

/** The part of the command that may run unread code; undefined if there is none. */
export function codeRisk(words: Words): Risk | undefined {
  const [name, ...args] = words;
  const program = baseName(name?.value ?? "");
  if (program === "git") return gitRisk(words);
  if (FROM_INPUT.has(program) || (program === "crontab" && args.length === 0))
    return { does: "runs", why: `${program} runs what its input says`, named: textUpTo(words, args.length) };
  const make = /^g?make$/.test(program) ? makeRisk(words) : undefined;
  if (make !== undefined) return make;
  const stream = args.findIndex(({ value }, at) => readsScript(program, args[at - 1]?.value ?? "", value));
  if (stream >= 0) return { does: "runs", why: `${program} reads what it runs from ${quoted(args[stream]?.value ?? "")}` };
  if (WITHOUT_TEXT.has(program) && readsStatements(program, args)) return { does: "runs", why: `${program} runs what its input says` };
  const option = lookUp(INTERPRETERS, program) ?? lookUp(INTERPRETERS, program.replace(/-?[\d.]+$/, ""));
  return option === undefined ? undefined : interpreted(words, program, option);
}

/** Programs that run their input, with any arguments. */
const FROM_INPUT = new Set("batch ed red ex dc ftp lftp telnet sftp".split(" "));

/** Programs whose `-f` names a file of code: `awk -f /dev/stdin`. */
const SCRIPTED: Record<string, RegExp> = {
  ...named("sed gsed make gmake just psql gnuplot", /^-[a-zA-Z]*f$|^--(?:fi|make|justf)[a-z]*$/),
  ...named("awk gawk mawk nawk original-awk", /^-[a-zA-Z]*[fE]$|^--(?:fi|ex)[a-z]*$/),
  ...named("vi vim nvim view ex", /^-[a-zA-Z]*[sSu]$/),
  ...named("gdb lldb", /^--?(?:x|command|source|s)$/),
};

function readsScript(program: string, before: string, value: string): boolean {
  const option = lookUp(SCRIPTED, program);
  if (option === undefined) return false;
  if (option.test(before)) return isStream(value);
  const [, attached] = /^(?:-[a-zA-Z]*?[fEsSuKx]|--?[a-z]+=)(.+)$/s.exec(value) ?? [];
  return attached !== undefined && /[/]|^(?:-|stdin)$/.test(attached) && isStream(attached);
}

/** Programs that read statements, which may run a program, from their input unless they get some as words. */
const WITHOUT_TEXT = new Set("psql mysql mariadb sqlite3 gdb lldb".split(" "));

function readsStatements(program: string, args: Words): boolean {
  if (args.some(({ value }) => /^--?(?:version|help|V|h|\?)$/.test(value))) return false;
  if (program === "sqlite3") return args.filter(({ value }) => !value.startsWith("-")).length < 2;
  if (/^(?:gdb|lldb)$/.test(program)) return !args.some(({ value }) => /^--?(?:batch|b)$/.test(value));
  const given = program === "psql" ? /^-[AaebEHnqSsTtWwXx01]*[cfl]|^--(?:command|file|list)/ : /^-[ABbCfGHiLNnqrsTtvwX]*e|^--execute/;
  return !args.some(({ value }) => given.test(value));
}

/** The options after which an interpreter takes code. */
const INTERPRETERS: Record<string, RegExp> = {
  bb: /^-[eo]|^--(?:eval|stream)/,
  bun: /^-[a-zA-Z]*[ep]|^--(?:eval|print)|^exec$/,
  clisp: /^-x/,
  crystal: /^eval$/,
  deno: /^eval$|^--eval/,
  elixir: /^-e$|^--(?:eval|rpc-eval)/,
  erl: /^-(?:eval|run|s)$/,
  expect: /^-[a-zA-Z]*c/,
  ...named("ghc ghci", /^-e/),
  gjs: /^-c|^--command/,
  gnuplot: /^-e/,
  groovy: /^-[a-zA-Z]*e/,
  guile: /^-c/,
  iex: /^-e$|^--(?:eval|rpc-eval)/,
  jrunscript: /^-[ef]/,
  jshell: /^$/,
  julia: /^-[a-zA-Z]*[eE]|^--(?:eval|print)/,
  lua: /^-[a-zA-Z]*e/,
  m4: /syscmd/,
  luajit: /^-[a-zA-Z]*[ej]/,
  ocaml: /^-e$/,
  octave: /^--eval/,
  osascript: /^-e/,
  perl: /^-[a-zA-Z0-9]*[deEMm]/,
  php: /^-[a-zA-Z]*[rRBEF]|^--(?:run|process-)|auto_(?:ap|pre)pend_file|extension/,
  powershell: /^-(?:c|e|en)/i,
  pwsh: /^-(?:c|e|en)/i,
  racket: /^-[a-zA-Z]*e|^--eval/,
  raku: /^-[a-zA-Z]*[eM]/,
  r: /^-e|^--(?:file|args)/,
  rscript: /^-e/,
  sbcl: /^--(?:eval|load)/,
  scala: /^-e/,
  swipl: /^-[gt]/,
  ...named("tclsh wish scheme chez chezscheme", /^$/),
  ...named("clojure clj janet fennel kotlin kotlinc qjs scala-cli csi gsi", /^-(?:e|script|expression)|^--(?:eval|init)/),
  ...named("irb pry jruby ruby", /^-[a-zA-Z0-9]*e/),
  ...named("mongo mongosh", /^--eval/),
  ...named("node nodejs tsx ts-node", /^-[a-zA-Z]*[ep]|^--(?:eval|print|import|require|loader|experimental-loader)/),
  ...named("python pypy ipython jython bpython micropython", /^-[a-bd-ln-zA-Z]*c/),
};

/** Modules that run the code among their arguments. */
const RUNNING_MODULES = /^(?:timeit|pdb|trace|code|asyncio|profile|cProfile|runpy|IPython|bdb|doctest)(?:\.|$)/;

function named(names: string, marker: RegExp): Record<string, RegExp> {
  return Object.fromEntries(names.split(" ").map((name) => [name, marker]));
}

function lookUp(table: Record<string, RegExp>, name: string): RegExp | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

/**
 * Finds code in an option or from the input. Options end at a script's name; a word after an option may be that option's value. Running code
 * is an interpreter's purpose, so a rule for the whole interpreter (`python3:*`) covers it.
 */
function interpreted(words: Words, program: string, option: RegExp): Risk | undefined {
  const runs = (why: string, at = words.length - 1): Risk => ({ does: "runs", why, named: textUpTo(words, at), expected: true });
  let afterOption = false;
  let asksOnly = false;
  for (const [at, { value, kind }] of words.entries()) {
    if (at === 0) continue;
    if (kind !== "literal") return runs(`what ${program} runs depends on ${quoted(value)}`, at);
    const module = /^(?:i?py|jy)/.test(program) ? /^-[a-bd-ln-zA-Z]*m(.*)$/s.exec(value)?.[1] : undefined;
    if (module !== undefined) {
      const running = RUNNING_MODULES.test(module === "" ? (words[at + 1]?.value ?? "") : module);
      return running ? runs(`${program} runs code that is given to a module`) : undefined;
    }
    if (option.test(value)) return runs(`${program} runs code that is given as text`, at);
    if (isStream(value) && !(afterOption && /^\d+$/.test(value))) return runs(`${program} reads its code from its input`, at);
    if (INTERACTIVE.test(program) && /^-[^-WXQcm]*i|^--interactive$/.test(value))
      return runs(`${program} reads code from its input, too`, at);
    if (at === 1 && value === "run" && /^(?:deno|bun)$/.test(program)) continue;
    if (/^(?:-[vVh]|--(?:version|help|test|check|run|watch)\b.*)$/.test(value)) asksOnly = true;
    if (!value.startsWith("-") && !afterOption) return undefined;
    if (!value.startsWith("-")) asksOnly = true;
    afterOption = value.startsWith("-");
  }
  return asksOnly ? undefined : runs(`${program} reads its code from its input`);
}

/** With these options an interpreter goes on with its input after a script's end. */
const INTERACTIVE = /^(?:python|pypy|node|nodejs|ts-node|lua|luajit|julia)[\d.]*$/;

/** Make runs the commands in a variable's value: `X=$(shell rm y)`, or `CFLAGS='; rm y'` by way of a recipe. */
function makeRisk(words: Words): Risk | undefined {
  const at = words.findIndex(({ value, kind }) => kind === "literal" && /^[\w.-]+\s*[:+?!]*=.*(?:\$[({]|[`;|&])/s.test(value));
  const value = words[at]?.value;
  if (value === undefined) return undefined;
  const script = /\$[({]shell\s+(.*)[)}]/s.exec(value)?.[1] ?? /[;|&]+(.*)$/s.exec(value)?.[1];
  return {
    does: "runs",
    why: `make may run what ${quoted(value)} says`,
    named: textUpTo(words, at),
    ...(script !== undefined && { script }),
  };
}

// Git

/** Git's own options that take a value. */
const GIT_VALUED = new Set("-C -c --config-env --git-dir --work-tree --namespace --super-prefix --attr-source".split(" "));

/** The position of git's subcommand; undefined if it is not certain. */
export function gitCommand(words: Words): number | undefined {
  for (let at = 1; at < words.length; at++) {
    const word = words[at];
    if (word === undefined || word.kind !== "literal") return undefined;
    if (!word.value.startsWith("-")) return at;
    if (!GIT_VALUED.has(word.value)) continue;
    at += 1;
    if (words[at]?.kind !== "literal" && words[at]?.whole !== true) return undefined;
  }
  return undefined;
}

/** `git -c alias.x='!rm y' x`, `git fetch 'ext::sh -c rm'`. */
function gitRisk(words: Words): Risk | undefined {
  const command = gitCommand(words);
  const verb = command === undefined ? undefined : (words[command]?.value ?? "");
  for (const [at, { value, kind }] of words.entries()) {
    const before = words[at - 1]?.value ?? "";
    // For most subcommands -c has another meaning.
    const configures = verb === undefined || verb === "clone" || at < (command ?? 0);
    const attached = /^(?:--config(?:-env)?=|-c(?=[a-z][\w-]*\.))(.*)$/is.exec(value)?.[1];
    const setting = configures && /^(?:-c|--config(?:-env)?)$/.test(before) ? value : configures ? attached : undefined;
    const runs =
      (setting !== undefined && RUNNING_KEY.test(setting)) ||
      (verb === "config" && RUNNING_KEY.test(value)) ||
      value.startsWith("--exec-path=") ||
      (verb !== undefined && REMOTE.has(verb) && /^[a-z][\w+-]*::/.test(value));
    if (runs) return gitRuns(words, at, value.replace(/^[^=]*=!?|^ext::/, ""));
    if ((setting !== undefined && !PLAIN_KEY.test(setting)) || (verb === "config" && setsUnknown(words, at, command ?? 0))) {
      return { does: "loads", why: `git may run what the setting ${quoted(value)} says`, named: textUpTo(words, at) };
    }
    if (kind !== "literal" && verb === undefined) return { does: "possible", why: `what git runs depends on ${quoted(value)}` };
  }
  const config = words.findIndex(({ value }, at) => at < (command ?? 0) && /^--(?:git-dir|work-tree)\b/.test(value));
  if (config < 0) return undefined;
  return {
    does: "loads",
    why: `git may run what the settings in ${quoted(words[config]?.value ?? "")} say`,
    named: textUpTo(words, config),
  };
}

/** `git config some.key value`, and changes of whole sections; a key alone is only read. */
function setsUnknown(words: Words, at: number, command: number): boolean {
  const value = words[at]?.value ?? "";
  if (at <= command) return false;
  if (/^(?:edit|(?:--)?(?:rename|remove)-section)$/.test(value)) return true;
  const reads = words.some(({ value: word }, other) => other > command && /^(?:--get.*|get|list|--list|-l)$/.test(word));
  return !reads && /^[a-z][\w-]*\.\S+$/i.test(value) && !PLAIN_KEY.test(value) && words[at + 1] !== undefined;
}

/** Subcommands that take an address, which with `ext::` names a program. */
const REMOTE = new Set("archive clone fetch fetch-pack ls-remote pull push remote send-pack submodule".split(" "));

function gitRuns(words: Words, at: number, script: string): Risk {
  return { does: "runs", why: `git may run what ${quoted(words[at]?.value ?? "")} says`, named: textUpTo(words, at), script };
}

const RUNNING_KEY =
  /^alias\.|^include|pager|editor|command|cmd\b|hook|proxy|fsmonitor|askpass|helper|driver|textconv|templatedir|smtpserver|httpd|tunnel|vcs|insteadof|uploadpack|receivepack|diff\.external|difffilter|protocol\.|browser|submodule\..*update|attributesfile|\.(?:clean|smudge|process|program|path)\b/i;
const PLAIN_KEY =
  /^(?:user|author|committer|color|column|advice|log|status|init\.defaultBranch|i18n|rerere|push\.default|pull\.rebase|core\.(?:quotepath|abbrev|autocrlf|ignorecase|filemode|precomposeunicode|longpaths|compression|bigfilethreshold)|diff\.(?:renames|renamelimit|algorithm|noprefix|mnemonicprefix|context|wserrorhighlight|colormoved)|merge\.(?:conflictstyle|renames|ff)|fetch\.prune|commit\.(?:gpgsign|verbose|cleanup)|tag\.(?:gpgsign|sort)|gc\.auto|safe\.directory|maintenance\.auto)\b/i;
