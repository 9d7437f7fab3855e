/**
 * Programs that only read, with the options that keep them from doing anything else: whatever is not listed here is asked about. No option
 * here runs a program, decompresses, writes a file, follows links or reads a list of files from a file.
 */
import { readOptions, type Grammar } from "./options.js";
import { isSecretName } from "./secret-files.js";

/** The files and folders that a command may read, as they are written. */
export interface Reading {
  paths: readonly string[];
  /** Contents of files that no word names may be shown. */
  descends?: true;
}

interface Program extends Grammar {
  /** The meaning of its operands; the first is none of the paths with `pattern`. */
  operands: "paths" | "words" | "pattern";
  /** Options in place of the first operand. */
  instead?: string;
  descends?: true;
  builtin?: true;
}

const PROGRAMS: ReadonlyMap<string, Program> = new Map<string, Program>([
  ["pwd", { operands: "words", builtin: true }],
  ["echo", { operands: "words", letters: "neE", builtin: true }],
  [
    "ls",
    {
      operands: "paths",
      letters: "1aAlhrtRSFdpisgonGcuUxXCmqQbBkN",
      long: "all almost-all color? human-readable group-directories-first reverse recursive sort= time= time-style= size inode directory",
    },
  ],
  ["cat", { operands: "paths", letters: "nbAeEstTv", long: "number number-nonblank show-all show-ends show-tabs squeeze-blank" }],
  ["head", { operands: "paths", letters: "qv", valued: "nc", long: "lines= bytes= quiet verbose", counts: true }],
  ["tail", { operands: "paths", letters: "qv", valued: "nc", long: "lines= bytes= quiet verbose", counts: true }],
  ["wc", { operands: "paths", letters: "lcmwL", long: "lines bytes chars words max-line-length" }],
  ["cut", { operands: "paths", letters: "s", valued: "bcdf", long: "fields= delimiter= characters=" }],
  ["sort", { operands: "paths", letters: "bdfghiMnrRuV", valued: "kt" }],
  ["tr", { operands: "words", letters: "cCds" }],
  [
    "grep",
    {
      operands: "pattern",
      instead: "-e --regexp",
      letters: "EFGPivwxcLlqsonHhaI",
      valued: "emABC",
      long: "ignore-case invert-match word-regexp line-regexp count files-with-matches only-matching line-number with-filename no-filename color? regexp= max-count= context= after-context= before-context= extended-regexp fixed-strings perl-regexp",
    },
  ],
  [
    "rg",
    {
      operands: "pattern",
      instead: "-e --regexp --files",
      letters: "nNisSwxlcovFHIPUap",
      valued: "egmtTABCMj",
      descends: true,
      long: "regexp= files type= type-not= glob= line-number no-line-number ignore-case smart-case case-sensitive word-regexp line-regexp files-with-matches files-without-match count count-matches max-count= max-depth= max-columns= context= after-context= before-context= only-matching invert-match fixed-strings pcre2 multiline heading no-heading with-filename no-filename column color= colors= sort= sortr= stats json trim no-messages",
    },
  ],
]);

/** Programs of a form of their own. */
const OTHERS: Readonly<Record<string, (args: readonly string[]) => Reading | undefined>> = { find, sed, uniq };

export function isBuiltin(name: string): boolean {
  return PROGRAMS.get(name)?.builtin === true;
}

/** Undefined where the command may do more than read. */
export function readingOf(name: string, args: readonly string[]): Reading | undefined {
  if (Object.hasOwn(OTHERS, name)) return OTHERS[name]?.(args);
  const program = PROGRAMS.get(name);
  if (program?.builtin === true) return { paths: [] };
  const given = program === undefined ? undefined : readOptions(args, program);
  if (program === undefined || given === undefined || !given.options.every(({ name: option, value }) => isPlainGlob(option, value)))
    return undefined;
  const hasPattern = given.options.some((option) => program.instead?.split(" ").includes(option.name));
  const files = program.operands === "words" ? [] : given.operands.slice(program.operands === "pattern" && !hasPattern ? 1 : 0);
  const globs = given.options.filter((option) => GLOB.test(option.name)).map(({ value }) => value);
  return { paths: [...files, ...given.apart.filter((value) => !globs.includes(value))], ...(program.descends && { descends: true }) };
}

const GLOB = /^(?:-g|--glob)$/;

/** A glob of rg that names files brings hidden and ignored ones in, too. */
function isPlainGlob(option: string, value = ""): boolean {
  if (!GLOB.test(option) || value.startsWith("!")) return true;
  const [, endings = ""] = /^(?:[\w/-]|\*)+\.(\w+|\{\w+(?:,\w+)*\})$/.exec(value) ?? [];
  return endings !== "" && endings.split(/[{},]/).every((ending) => ending === "" || (!isSecretName(`x.${ending}`) && ending !== "env"));
}

/** Tests and actions that print at most, by how many words follow them. */
const FIND_ALONE = new Set(
  "-print -print0 -prune -empty -ls -quit -not -o -or -a -and ! ( ) -xdev -mount -daystart -depth -true -false".split(" "),
);
const FIND_VALUED = new Set(
  "-name -iname -path -ipath -wholename -regex -iregex -regextype -type -maxdepth -mindepth -size -mtime -mmin -ctime -cmin -atime -amin -perm -user -group -links -printf".split(
    " ",
  ),
);

function find(args: readonly string[]): Reading | undefined {
  const start = args.findIndex((word) => /^[-(!]/.test(word));
  const paths = start < 0 ? args : args.slice(0, start);
  for (let at = start < 0 ? args.length : start; at < args.length; at++) {
    const word = args[at] ?? "";
    if (FIND_VALUED.has(word)) at++;
    else if (!FIND_ALONE.has(word)) return undefined;
    if (at >= args.length) return undefined;
  }
  return { paths };
}

/** `sed -n 1,20p file`: lines by their numbers, and nothing else. */
function sed([option, script = "", ...paths]: readonly string[]): Reading | undefined {
  const isPlain = option === "-n" && /^(?:\d+(?:,(?:\d+|\$))?p)(?:;\d+(?:,(?:\d+|\$))?p)*$/.test(script);
  return isPlain && !paths.some((path) => path.startsWith("-")) ? { paths } : undefined;
}

/** Its second operand would be written. */
function uniq(args: readonly string[]): Reading | undefined {
  const given = readOptions(args, { letters: "cdDiuz", valued: "fsw" });
  return given === undefined || given.operands.length > 1 ? undefined : { paths: [...given.operands, ...given.apart] };
}
