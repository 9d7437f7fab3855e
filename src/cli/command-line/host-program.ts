/** Other programs' command lines: finds the program that ours is written for, and translates its words into ours. */
import { basename } from "node:path";
import { programs } from "../../dialects/index.js";
import type { ForeignFlag } from "../../dialects/kit/program.js";
import { beforeDashes } from "./flags.js";

/** A program's name and command line; `dialect` is the wire that this command line asks for. */
export interface HostProgram {
  name: string;
  dialect: string;
  shortFlags: ReadonlyMap<string, string>;
  /** Flags that only the original has. */
  flags: readonly ForeignFlag[];
  /** The original's own commands, each in our words. */
  words: ReadonlyMap<string, readonly string[]>;
  /** The original's own commands that are not served. */
  lacks: readonly string[];
  /** Variables that stand for flags which are not given. */
  variables: readonly (readonly [variable: string, flag: string])[];
  /** Words of ours for flags of the original that are absent. */
  absent: readonly (readonly [flag: string, words: readonly string[]])[];
  /** The answer to `--version`, where it is not the name and the version of the protocol. */
  version?: string;
  /** Exit codes of the original, by the code of the fault or by its setting. */
  exits: Readonly<Record<string, number>>;
  /** Only the wire is asked for: a flag that we have keeps its meaning. */
  keepsOurFlags?: true;
}

export const programNames: readonly string[] = [
  ...new Set(programs.flatMap(({ program: { name } }) => (name === undefined ? [] : [name]))),
];

/** The program of a name: programs of one name share a command line. */
function hostProgram(name: string, dialect: string): HostProgram {
  const own = programs.flatMap(({ program }) => (program.name === name ? [program] : []));
  const version = own.find((program) => program.version !== undefined)?.version;
  return {
    name,
    dialect,
    shortFlags: new Map(own.flatMap(({ shortFlags = {} }) => Object.entries(shortFlags))),
    flags: own.flatMap(({ flags = [] }) => flags),
    words: new Map(own.flatMap(({ words = {} }) => Object.entries(words))),
    lacks: own.flatMap(({ lacks = [] }) => lacks),
    variables: own.flatMap(({ variables = [] }) => variables),
    absent: own.flatMap(({ absent = [] }) => absent),
    exits: Object.assign({}, ...own.map(({ exits }) => exits)),
    ...(version !== undefined && { version }),
  };
}

/** Finds the program by the name of the started program. The dialect is the first of that name in the registry. */
export function hostProgramNamed(program: string | undefined): HostProgram | undefined {
  const name = basename(program ?? "").replace(/\.(exe|cmd|m?js)$/, "");
  const first = programs.find((one) => one.program.name === name);
  return first === undefined ? undefined : hostProgram(name, first.dialect);
}

/** The program of a dialect's hosts; undefined where they start no program but ours. */
export function hostProgramOf(id: string): HostProgram | undefined {
  const dialect = id.replace(/@.*/, "");
  const name = programs.find((one) => one.dialect === dialect)?.program.name;
  return name === undefined ? undefined : hostProgram(name, dialect);
}

/** The program that a command line is written for: the started program, or under our own name the program whose words it has. */
export function hostProgramAsked(
  argv: readonly string[],
  named: HostProgram | undefined,
  isCommand: (word: string) => boolean,
): HostProgram | undefined {
  const ours = beforeDashes(argv);
  if (named === undefined && isCommand(ours[0] ?? "")) return undefined;
  const asked = dialectAsked(ours, named?.name);
  if (asked === undefined) return named;
  const { dialect, name, isWire } = asked;
  if (named !== undefined) return { ...named, dialect };
  return { ...hostProgram(name, dialect), variables: [], absent: [], ...(isWire && { keepsOurFlags: true as const }) };
}

/** Whether this process was started with a command line of ours, whatever wire it asks for. */
export function isOwnCommandLine(): boolean {
  const [, started, ...argv] = process.argv;
  const asked = hostProgramAsked(argv, hostProgramNamed(started), () => false);
  return asked === undefined || asked.keepsOurFlags === true;
}

interface Asked {
  dialect: string;
  name: string;
  /** The command line asks for the wire, and not for the program. */
  isWire: boolean;
}

/** An entry that names its dialect wins; else the last of the registry that matches; a wire that is wanted comes last. */
function dialectAsked(argv: readonly string[], among: string | undefined): Asked | undefined {
  const own = programs.flatMap(({ dialect, program: { name, asks = [], wants = [] } }) =>
    name === undefined || (among !== undefined && name !== among) ? [] : [{ dialect, name, asks, wants }],
  );
  const matching = own.flatMap(({ dialect, name, asks }) => {
    const said = asks.filter((words) => words.every((word) => isSaid(argv, word)));
    return said.length === 0 ? [] : [{ dialect, name, isWire: false, isNamed: said.flat().includes(`--dialect=${dialect}`) }];
  });
  const wanted = own.find(({ wants }) => wants.some((word) => isSaid(argv, word)));
  return matching.find(({ isNamed }) => isNamed) ?? matching.at(-1) ?? (wanted && { ...wanted, isWire: true });
}

/** `--flag` matches the flag with any value or none; `--flag=value` also matches two words. */
function isSaid(argv: readonly string[], asked: string): boolean {
  const [flag = "", value] = asked.split("=");
  if (value === undefined) return argv.some((word) => word === flag || word.startsWith(`${flag}=`));
  return argv.some((word, at) => word === asked || (word === flag && argv[at + 1] === value));
}

/** Translates a command line into our words, and passes flags that change nothing here to `unused`. */
export function inOurWords(
  argv: readonly string[],
  { name, dialect, shortFlags, flags: theirs, words: commands, lacks, variables, absent, keepsOurFlags }: HostProgram,
  env: Record<string, string | undefined>,
  isCommand: (word: string) => boolean,
  unused: (flag: string) => void,
  isOurFlag: (name: string) => boolean = () => false,
): string[] {
  const words: string[] = [];
  /** The flag of a command of the original that waits for its value: the next plain word, or a flag that stands for one. */
  let waiting: string | undefined;
  const add = (more: readonly string[]): void => {
    const [word = "-", ...rest] = more;
    if (waiting === undefined || word.startsWith("-")) words.push(...more);
    else words.push(`${waiting}${word}`, ...rest);
    if (!word.startsWith("-")) waiting = undefined;
  };
  const flags = keepsOurFlags === true ? theirs.filter(({ name }) => !isOurFlag(name)) : theirs;
  const ours = beforeDashes(argv);
  /** The original's own commands that were read, one below the other. */
  const read: string[] = [];
  const [first = ""] = ours;
  if (lacks.includes(first) && !isCommand(first)) return ["--refused", `'${name} ${first}' is not served here`];
  for (let at = 0; at < ours.length; at++) {
    const given = ours[at] ?? "";
    const word = shortFlags.get(given) ?? given;
    const foreign = foreignFlag(word, flags);
    const meaning = commands.get([...read, word].join(" "));
    if (meaning !== undefined) {
      read.push(word);
      words.push(...meaning.filter((each) => !each.endsWith("=")));
      waiting = meaning.find((each) => each.endsWith("=")) ?? waiting;
    } else if (foreign === undefined) add([word]);
    else add(inOurFlags(word, foreign, foreign.value === undefined || word.includes("=") ? "" : (ours[++at] ?? ""), unused));
  }
  if (waiting !== undefined) words.push(waiting);
  // A command of ours has flags of its own.
  if (isCommand(words[0] ?? "")) return [...words, ...argv.slice(ours.length)];
  const added = speaks(words) ? [["--dialect", dialect] as const] : [];
  const given = variables.flatMap(([variable, flag]) => flagPairs(flag, env[variable] ?? "", flags));
  const unsaid = [...added, ...given].filter(([flag]) => !isSaid(words, flag)).flat();
  const missing = absent.flatMap(([flag, meant]) => (isSaid(ours, `--${flag}`) ? [] : meant));
  return [...unsaid, ...missing, ...words, ...argv.slice(ours.length)];
}

/** A variable's flag and value; a flag of the original's own is put into our words. */
function flagPairs(flag: string, value: string, flags: readonly ForeignFlag[]): (readonly [flag: string, value: string])[] {
  if (value === "") return [];
  const meant = foreignFlag(flag, flags)?.means?.(value) ?? [flag, value];
  return meant.flatMap((word, at) => (at % 2 === 0 ? [[word, meant[at + 1] ?? ""] as const] : []));
}

export function foreignFlag(word: string, flags: readonly ForeignFlag[]): ForeignFlag | undefined {
  const [name = ""] = word.startsWith("--") ? word.slice(2).split("=") : [];
  return flags.find((flag) => name !== "" && flag.name === name);
}

/** `next` is the flag's value, where the word itself has none. */
export function inOurFlags(
  word: string,
  { name, means, quiet }: ForeignFlag,
  next: string,
  unused: (flag: string) => void,
): readonly string[] {
  const [, inline] = word.split(/=(.*)/s);
  const meant = means?.(inline ?? next) ?? [];
  if (meant.length === 0 && quiet !== true) unused(`--${name}`);
  return meant;
}

/** Whether a command line asks for a protocol. Text is for people. */
function speaks(words: readonly string[]): boolean {
  return words.some((word, at) => {
    if (/^(--json-stream|(--include-partial-messages|--json-schema)(=.*)?)$/s.test(word)) return true;
    const [, inline] = /^(?:--input-format|--output-format|-o)(?:=(.*))?$/s.exec(word) ?? [undefined, "text"];
    return (inline ?? words[at + 1]) !== "text";
  });
}
