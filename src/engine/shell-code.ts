/**
 * Which commands run code that we cannot read: `python -c`, `perl -e`, awk's `system`, sed's `e`, an editor's `-c '!…'`.
 * A script file is not meant: what it does is never seen, be it for bash or for python.
 */
import { baseName, quoted, type ShellWord } from "./shell-words.js";

type Words = readonly ShellWord[];

/** What of the command may run something unseen; undefined when nothing does. */
export function unseenCode([name, ...args]: Words): string | undefined {
  const program = baseName(name?.value ?? "");
  const marker = lookUp(MARKERS, program);
  if (marker !== undefined) return because(args.find(({ value }) => marker.test(value)) ?? programInVariable(program, args));
  if (program === "git") return because(gitCode(args));
  if (FROM_INPUT.has(program)) return `${program} runs what its input says`;
  const option = lookUp(INTERPRETERS, program) ?? lookUp(INTERPRETERS, program.replace(/[\d.]+$/, ""));
  return option === undefined ? undefined : interpreted(program, args, option);

  function because(found: ShellWord | undefined): string | undefined {
    return found === undefined ? undefined : `${program} may run what ${quoted(found.value)} says`;
  }
}

/** Whatever their arguments. */
const FROM_INPUT = new Set("batch ed red dc ftp lftp telnet".split(" "));

/** The options after which an interpreter takes code. */
const INTERPRETERS: Record<string, RegExp> = {
  bun: /^-[a-zA-Z]*[ep]|^--(?:eval|print)|^exec$/,
  deno: /^eval$/,
  elixir: /^-e$|^--(?:eval|rpc-eval)/,
  expect: /^-[a-zA-Z]*c/,
  groovy: /^-[a-zA-Z]*e/,
  guile: /^-c/,
  julia: /^-[a-zA-Z]*[eE]|^--(?:eval|print)/,
  lua: /^-[a-zA-Z]*e/,
  m4: /syscmd/,
  luajit: /^-[a-zA-Z]*[ej]/,
  node: /^-[a-zA-Z]*[ep]|^--(?:eval|print|import|require|loader|experimental-loader)/,
  nodejs: /^-[a-zA-Z]*[ep]|^--(?:eval|print|import|require|loader|experimental-loader)/,
  osascript: /^-e/,
  perl: /^-[a-zA-Z0-9]*[eEM]/,
  php: /^-[a-zA-Z]*[rRBEF]|^--(?:run|process-)/,
  powershell: /^-(?:c|e|en)/i,
  pwsh: /^-(?:c|e|en)/i,
  pypy: /^-[a-zA-Z]*c/,
  python: /^-[a-zA-Z]*c/,
  R: /^-e|^--(?:file|args)/,
  Rscript: /^-e/,
  ruby: /^-[a-zA-Z0-9]*e/,
  tclsh: /^$/,
};

/** Words that make a program run something, wherever they stand. */
const MARKERS: Record<string, RegExp> = {
  ...named("awk gawk mawk nawk original-awk", /system|getline|\||@/),
  ...named("vi vim nvim view vimdiff ex gvim", /^\+|^-[a-zA-Z]*[cSsue]|^--(?:cmd|eval|remote)/),
  ...named("emacs emacsclient", /^-[a-zA-Z-]*(?:eval|e|f|l|load|funcall|script|batch)$|^--(?:eval|execute|load|funcall|script)/),
  ...named("sed gsed", /(?:^|[\s;{\d$/!])e(?:\s|$)|s([^\w\s])(?:\\.|(?!\1).)*\1(?:\\.|(?!\1).)*\1[a-zA-Z\d]*e/s),
  ...named("tar gtar bsdtar", /^--(?:to-c|checkpoint-a|use-c|rsh|info|new-v)|^-[a-zA-Z]*[IF]/),
  ...named("make gmake", /^--eval|^SHELL=|^-$|^-f-$|^\/(?:dev|proc)\//),
  ...named("nc ncat netcat", /^-[a-zA-Z]*[ec]|^--(?:exec|sh-exec|lua-exec)/),
  ...named("ssh scp sftp", /(?:Proxy|Local|KnownHosts|AuthorizedKeys)Command|^-[a-zA-Z0-9]*S/i),
  ...named("psql mysql mariadb", /\\!|\bsystem\b/),
  at: /^[^-]/,
  crontab: /^-$|^[^-]|^-[a-z]*e/,
  gdb: /^--?(?:ex|iex|eval-command|init-eval-command|x|command)|^-$/,
  coreutils: /^--coreutils-prog/,
  man: /^-[a-zA-Z]*[PH]|^--(?:pager|html)/,
  rpm: /%\(|^--(?:eval|pipe|define)/,
  rsync: /^-[a-zA-Z]*e|^--(?:rsh|rsync-path)/,
  socat: /EXEC|SYSTEM|SHELL/i,
  sort: /^--compress-p/,
  split: /^--filter/,
  sqlite3: /\.(?:shell|system)|^-cmd|^-init/,
  zip: /^-[a-zA-Z]*TT|^--unzip-command/,
};

function named(names: string, marker: RegExp): Record<string, RegExp> {
  return Object.fromEntries(names.split(" ").map((name) => [name, marker]));
}

/** `awk "$x"`: the program, which is the first operand, is only known when it runs. */
function programInVariable(program: string, args: Words): ShellWord | undefined {
  if (!/awk$|sed$/.test(program)) return undefined;
  const first = args.find(({ value }, at) => !value.startsWith("-") && !/^-[vF]$/.test(args[at - 1]?.value ?? ""));
  return first?.kind === "expansion" && /^"?[$`]/.test(first.value) ? first : undefined;
}

function lookUp(table: Record<string, RegExp>, name: string): RegExp | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

/** Code stands in an option, or comes from the input. Options end at a script's name; a word after an option may be that option's value. */
function interpreted(program: string, args: Words, option: RegExp): string | undefined {
  let afterOption = false;
  let asksOnly = false;
  for (const { value, kind } of args) {
    if (kind !== "literal") return `what ${program} runs depends on ${quoted(value)}`;
    if (value === "-m" && program.startsWith("py")) return undefined;
    if (option.test(value)) return `${program} runs code that is given as text`;
    if (value === "-" || /^\/(?:dev|proc)\//.test(value)) return `${program} reads its code from its input`;
    if (/^(?:-[vVh]|--(?:version|help|test|check|run|watch)\b.*)$/.test(value)) asksOnly = true;
    if (!value.startsWith("-") && !afterOption) return undefined;
    if (!value.startsWith("-")) asksOnly = true;
    afterOption = value.startsWith("-");
  }
  return asksOnly ? undefined : `${program} reads its code from its input`;
}

/** `git -c alias.x='!rm y' x`, `git rebase -x 'rm y'`, `git bisect run rm y`. */
function gitCode(args: Words): ShellWord | undefined {
  const configured = args.find(({ value }, at) => /^(?:-c|--config(?:-env)?)$/.test(args[at - 1]?.value ?? "") && RUNNING_KEY.test(value));
  if (configured !== undefined) return configured;
  const verbs = new Set(args.map(({ value }) => value));
  if (verbs.has("rebase") || verbs.has("difftool")) return args.find(({ value }) => /^-x|^--(?:exec|extcmd)/.test(value));
  if (verbs.has("config")) return args.find(({ value }) => RUNNING_KEY.test(value));
  return args.find(({ value }, at) => RUNNING_WORD.test(value) || RUNNING_VERBS.has(`${args[at - 1]?.value ?? ""} ${value}`));
}

const RUNNING_KEY =
  /^alias\.|pager|editor|command|hook|proxy|fsmonitor|askpass|helper|driver|textconv|\.(?:clean|smudge|process|cmd|program)\b/i;
const RUNNING_WORD = /^filter-branch$|^--(?:exec-path|upload-pack|receive-pack)=/;
const RUNNING_VERBS = new Set(["bisect run", "submodule foreach"]);
