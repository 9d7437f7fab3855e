/** Flags as data: parsed, explained and suggested from the same table. */
import { parseArgs } from "node:util";
import { ParleyError } from "../../core/errors.js";
import type { Flags } from "../../settings/flags.js";
import { optionsOf, ROWS, SWITCH_ROWS } from "../../settings/table.js";
import { nearest } from "../../core/text/nearest-word.js";

export interface Flag {
  /** The name without the dashes. */
  name: string;
  short?: string;
  alias?: string;
  /** The placeholder of the value in the help; a flag without it is a switch. */
  value?: string;
  /** The value of a flag that stands alone. */
  bare?: string;
  help: string;
  /** The heading that the help lists it under, where that is not "Flags". */
  group?: string;
  /** The help leaves it out: other programs' flags become it, or it exists to be refused with a better sentence. */
  hidden?: true;
}

/** The flags that every command with an agent has: the settings that a flag may say, and the switches of one run. */
export const SHARED_FLAGS: readonly Flag[] = [
  ...ROWS.flatMap(([, row]): Flag[] => {
    if (row.flag === undefined) return [];
    const { name, short, alias, value } = row.flag;
    return [{ name, value, help: helpOf(row), ...(short !== undefined && { short }), ...(alias !== undefined && { alias }) }];
  }),
  ...SWITCH_ROWS.map(([, { name, short, alias, value, doc }]) => ({
    name,
    help: doc,
    ...(short !== undefined && { short }),
    ...(alias !== undefined && { alias }),
    ...(value !== undefined && { value }),
  })),
].map((flag) => ({ ...flag, group: "Flags of the agent" }));

function helpOf({ doc, schema, preset }: (typeof ROWS)[number][1]): string {
  const options = optionsOf(schema);
  return `${doc}${options.length === 0 ? "" : `: ${options.join(", ")}`}${preset === undefined ? "" : ` (default: ${String(preset)})`}`;
}

/** The shared flags of these names, for a command that has no others of them. */
export function sharedFlags(...names: readonly string[]): Flag[] {
  return SHARED_FLAGS.filter(({ name }) => names.includes(name)).map(({ group: _, ...flag }) => flag);
}

/** `audit` is its older name. */
export const TAPE: Flag = {
  name: "tape",
  alias: "audit",
  value: "FILE",
  help: "append every message of both directions to FILE, redacted (docs/observability.md)",
};

export const COMMON_FLAGS: readonly Flag[] = [
  { name: "help", short: "h", help: "this text" },
  { name: "version", short: "V", help: "the version" },
];

/** Gives a flag that stands alone its value. */
export function withBareValues(argv: readonly string[], table: readonly Flag[]): string[] {
  const ours = beforeDashes(argv).length;
  return argv.map((arg, index) => {
    const next = argv[index + 1];
    const isAlone = index < ours && (next === undefined || (next.startsWith("-") && next !== "-"));
    const flag = isAlone ? table.find(({ name, short }) => arg === `--${name}` || arg === `-${short ?? ""}`) : undefined;
    return flag?.bare === undefined ? arg : `--${flag.name}=${flag.bare}`;
  });
}

export interface Parsed {
  /** The values of each flag, by name; a flag may be given more than once. */
  values: ReadonlyMap<string, readonly (string | true)[]>;
  positionals: string[];
  /** The number of positionals before `--`, where that is there. */
  dashes?: number;
}

interface Leniency {
  /** A word like -1 is no flag. */
  counts?: boolean | undefined;
  /** Flags that nobody knows are passed over. */
  ignoresOthers?: boolean | undefined;
}

export function parseFlags(
  argv: readonly string[],
  table: readonly Flag[],
  { counts = false, ignoresOthers = false }: Leniency = {},
): Parsed {
  const options = Object.fromEntries(
    table.flatMap(({ name, short, alias, value }) => {
      const option = { type: value === undefined ? ("boolean" as const) : ("string" as const), multiple: true as const };
      const named: [string, typeof option & { short?: string }][] = [[name, { ...option, ...(short !== undefined && { short }) }]];
      return alias === undefined ? named : [...named, [alias, option] as const];
    }),
  );
  const { tokens } = parseArgs({ args: [...argv], options, strict: false, allowPositionals: true, tokens: true });
  const values = new Map<string, (string | true)[]>();
  // By their place, because a word like -12 is several tokens.
  const positionals = new Map<number, string>();
  let dashes: number | undefined;
  for (const token of tokens) {
    const word = argv[token.index] ?? "";
    if (token.kind === "option-terminator") dashes = positionals.size;
    if (token.kind === "positional" || (counts && /^-\d+$/.test(word))) positionals.set(token.index, word);
    if (token.kind !== "option" || positionals.has(token.index)) continue;
    const flag = table.find(({ name, alias }) => name === token.name || alias === token.name);
    if (flag === undefined && ignoresOthers) continue;
    if (flag === undefined) throw unknownFlag(token.rawName, table);
    if (flag.value === undefined && token.value !== undefined) throw usage(`${token.rawName} takes no value, but got '${token.value}'`);
    if (flag.value !== undefined && token.value === undefined)
      throw usage(`${token.rawName} needs a value: ${token.rawName} ${flag.value}`);
    values.set(flag.name, [...(values.get(flag.name) ?? []), token.value ?? true]);
  }
  return { values, positionals: [...positionals.values()], ...(dashes !== undefined && { dashes }) };
}

export function text(parsed: Parsed, name: string): string | undefined {
  const last = parsed.values.get(name)?.at(-1);
  return typeof last === "string" ? last : undefined;
}

/** The values of a flag that may be repeated. */
export function texts(parsed: Parsed, name: string): string[] {
  return (parsed.values.get(name) ?? []).filter((value) => value !== true);
}

export function given(parsed: Parsed, name: string): boolean {
  return parsed.values.has(name);
}

/** The shared flags as settings. */
export function settingsFlags(parsed: Parsed): Flags {
  const read = { text, choice: text, count, list };
  const entries = ROWS.flatMap(([key, { flag }]) => {
    if (flag === undefined) return [];
    const value = read[flag.as](parsed, flag.name) ?? (flag.else === undefined ? undefined : text(parsed, flag.else));
    return value === undefined ? [] : [[key, value] as const];
  });
  const switches = SWITCH_ROWS.flatMap(([key, { name, value }]) => {
    const said = value === undefined ? given(parsed, name) || undefined : text(parsed, name);
    return said === undefined ? [] : [[key, said] as const];
  });
  return Object.fromEntries([...entries, ...switches]);
}

/** Throws where the value is no whole number; the settings check its range. */
export function count(parsed: Parsed, name: string): number | undefined {
  const value = text(parsed, name);
  if (value === undefined) return undefined;
  if (!/^\d+$/.test(value)) throw usage(`--${name} must be a whole number, not '${value}'`);
  return Number(value);
}

/** Throws where the value is no number above 0. */
export function amount(parsed: Parsed, name: string): number | undefined {
  const value = text(parsed, name);
  if (value === undefined) return undefined;
  const number = Number(value);
  if (value.trim() === "" || !(number > 0 && Number.isFinite(number))) throw usage(`--${name} must be a number above 0, not '${value}'`);
  return number;
}

/** Splits at commas outside parentheses, which belong to a pattern, and joins repeated flags. */
export function list(parsed: Parsed, name: string): string[] | undefined {
  const values = parsed.values.get(name)?.filter((value) => value !== true);
  return values
    ?.flatMap((value) => value.split(/,(?![^(]*\))/))
    .map((item) => item.trim())
    .filter((item) => item !== "");
}

/** The prompt on the command line: the value of `-p`, or the word beside the flags. `-` stands for stdin. */
export function promptWords(parsed: Parsed): string | undefined {
  const [printed, [word]] = [text(parsed, "print"), parsed.positionals];
  if (printed === undefined || word === undefined) return printed ?? word;
  if (printed !== "-") throw usage(`Unexpected argument '${word}': -p has the prompt already`);
  return word;
}

/** Words behind `--` are not ours to read. */
export function beforeDashes(argv: readonly string[]): readonly string[] {
  const end = argv.indexOf("--");
  return end === -1 ? argv : argv.slice(0, end);
}

function unknownFlag(rawName: string, table: readonly Flag[]): ParleyError {
  const known = table.flatMap(({ name, alias }) => (alias === undefined ? [`--${name}`] : [`--${name}`, `--${alias}`]));
  const meant = nearest(rawName, known);
  return usage(`Unknown flag '${rawName}'${meant === undefined ? "" : `; did you mean '${meant}'?`} (see --help)`);
}

export function usage(message: string): ParleyError {
  return new ParleyError({ code: "usage", message, retryable: false });
}
