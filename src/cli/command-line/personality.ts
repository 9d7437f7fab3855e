/** Other programs' names: started under one of them we take that program's command line, and are what its hosts look for. */
import { basename } from "node:path";
import { AIONRS_FLAGS, FLAG_VARIABLES, SHORT_FLAGS, WAYLAND_FLAGS, WAYLAND_SHORT_FLAGS } from "../../dialects/aionrs/command-line.js";
import type { ForeignFlag } from "../../dialects/kit/foreign-flags.js";
import { WIRE_VERSION } from "../../dialects/qwen-shipped/wire/names.js";
import { asksShipped, QWEN_FLAGS, QWEN_SHORT_FLAGS, QWEN_VARIABLES } from "../../dialects/qwen-shipped/launch.js";
import { beforeDashes } from "./flags.js";

export interface Personality {
  name: string;
  dialect: string;
  shortFlags: ReadonlyMap<string, string>;
  /** Flags that only the original has. */
  flags: readonly ForeignFlag[];
  /** Variables that stand for flags which are not given. */
  variables: readonly (readonly [variable: string, flag: string])[];
  /** What it says when it is asked for its version, where that is not its name and the version of its protocol. */
  version?: string;
}

const AIONRS: Personality = { name: "aionrs", dialect: "aionrs", shortFlags: SHORT_FLAGS, flags: AIONRS_FLAGS, variables: FLAG_VARIABLES };
const WAYLAND: Personality = {
  name: "wayland-core",
  dialect: "wayland",
  shortFlags: WAYLAND_SHORT_FLAGS,
  flags: WAYLAND_FLAGS,
  variables: [...FLAG_VARIABLES, ["WAYLAND_MODEL", "--model"]],
};
const ANTE: Personality = { name: "ante", dialect: "ante", shortFlags: new Map([["-r", "--resume"]]), flags: [], variables: [] };
const QWEN: Personality = {
  name: "qwen",
  dialect: "qwen",
  shortFlags: QWEN_SHORT_FLAGS,
  flags: QWEN_FLAGS,
  variables: QWEN_VARIABLES,
  version: WIRE_VERSION,
};

export const PERSONALITIES: readonly Personality[] = [AIONRS, WAYLAND, ANTE, QWEN];

/** By the name of the program that was started. */
export function personalityNamed(program: string | undefined): Personality | undefined {
  const name = basename(program ?? "").replace(/\.(exe|cmd|m?js)$/, "");
  return PERSONALITIES.find((one) => one.name === name);
}

/** Of a dialect's hosts; undefined where they start no program but ours. */
export function personalityOf(dialect: string): Personality | undefined {
  if (dialect === "qwen-shipped") return { ...QWEN, dialect };
  return PERSONALITIES.find((one) => one.dialect === dialect.replace(/@.*/, ""));
}

/** What a command line that asks for `--json-stream`, or for Qwen's formats, is written for, under whatever name. */
export function personalityAsked(
  argv: readonly string[],
  named: Personality | undefined,
  isCommand: (word: string) => boolean,
): Personality | undefined {
  const ours = beforeDashes(argv);
  if (named === QWEN || (named === undefined && asksShipped(ours) && !isCommand(ours[0] ?? ""))) return asQwen(ours, named);
  if (named !== undefined || !ours.includes("--json-stream")) return named;
  const isWayland = ours.some((word, at) => word === "--dialect=wayland" || (word === "wayland" && ours[at - 1] === "--dialect"));
  return { ...(isWayland ? WAYLAND : AIONRS), variables: [] };
}

/** Its wire is the RFC's, unless something asks for the one that shipped. */
function asQwen(ours: readonly string[], named: Personality | undefined): Personality {
  return { ...QWEN, dialect: asksShipped(ours) ? "qwen-shipped" : "qwen", ...(named === undefined && { variables: [] }) };
}

/** The same in our own words. Flags that change nothing here are told through `unused`. */
export function inOurWords(
  argv: readonly string[],
  { dialect, shortFlags, flags, variables }: Personality,
  env: Record<string, string | undefined>,
  isCommand: (word: string) => boolean,
  unused: (flag: string) => void,
): string[] {
  const words: string[] = [];
  const ours = beforeDashes(argv);
  for (let at = 0; at < ours.length; at++) {
    const given = ours[at] ?? "";
    const word = shortFlags.get(given) ?? given;
    const foreign = foreignFlag(word, flags);
    if (foreign === undefined) words.push(word);
    else words.push(...inOurFlags(word, foreign, foreign.value === undefined || word.includes("=") ? "" : (ours[++at] ?? ""), unused));
  }
  // A command of ours has flags of its own.
  if (isCommand(words[0] ?? "")) return [...words, ...argv.slice(ours.length)];
  const added = speaks(words) ? [["--dialect", dialect] as const] : [];
  const given = variables.flatMap(([variable, flag]) => (env[variable] ? [[flag, env[variable]] as const] : []));
  const isSaid = (flag: string): boolean => words.some((word) => word === flag || word.startsWith(`${flag}=`));
  const unsaid = [...added, ...given].filter(([flag]) => !isSaid(flag)).flat();
  return [...unsaid, ...words, ...argv.slice(ours.length)];
}

export function foreignFlag(word: string, flags: readonly ForeignFlag[]): ForeignFlag | undefined {
  const [name = ""] = word.startsWith("--") ? word.slice(2).split("=") : [];
  return flags.find((flag) => name !== "" && flag.name === name);
}

/** `next` is its value, where the word has none itself. */
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

/** Whether a program asks for a protocol. Text is for people. */
function speaks(words: readonly string[]): boolean {
  return words.some((word, at) => {
    if (/^(--json-stream|(--include-partial-messages|--json-schema)(=.*)?)$/s.test(word)) return true;
    const [, inline] = /^(?:--input-format|--output-format|-o)(?:=(.*))?$/s.exec(word) ?? [undefined, "text"];
    return (inline ?? words[at + 1]) !== "text";
  });
}
