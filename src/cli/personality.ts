/** Other programs' names: started under one of them we take that program's command line, and are what its hosts look for. */
import { basename } from "node:path";
import {
  AIONRS_FLAGS,
  FLAG_VARIABLES,
  SHORT_FLAGS,
  WAYLAND_FLAGS,
  WAYLAND_SHORT_FLAGS,
  type ForeignFlag,
} from "../dialects/aionrs/command-line.js";

export interface Personality {
  name: string;
  dialect: string;
  shortFlags: ReadonlyMap<string, string>;
  /** Flags that only the original has. */
  flags: readonly ForeignFlag[];
  /** Variables that stand for flags which are not given. */
  variables: readonly (readonly [variable: string, flag: string])[];
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

export const PERSONALITIES: readonly Personality[] = [AIONRS, WAYLAND, ANTE];

/** By the name of the program that was started. */
export function personalityNamed(program: string | undefined): Personality | undefined {
  const name = basename(program ?? "").replace(/\.(exe|cmd|m?js)$/, "");
  return PERSONALITIES.find((one) => one.name === name);
}

/** What a command line that asks for `--json-stream` is written for, under whatever name. */
export function personalityAsked(argv: readonly string[], named: Personality | undefined): Personality | undefined {
  const ours = own(argv);
  if (named !== undefined || !ours.includes("--json-stream")) return named;
  const isWayland = ours.some((word, at) => word === "--dialect=wayland" || (word === "wayland" && ours[at - 1] === "--dialect"));
  return { ...(isWayland ? WAYLAND : AIONRS), variables: [] };
}

/** The same in our own words. Flags that change nothing here are told through `unused`. */
export function inOurWords(
  argv: readonly string[],
  { dialect, shortFlags, flags, variables }: Personality,
  env: Record<string, string | undefined>,
  unused: (flag: string) => void,
): string[] {
  const words: string[] = [];
  const ours = own(argv);
  for (let at = 0; at < ours.length; at++) {
    const given = ours[at] ?? "";
    const word = shortFlags.get(given) ?? given;
    const [name = "", inline] = word.startsWith("--") ? word.slice(2).split(/=(.*)/s) : [];
    const foreign = flags.find((flag) => name !== "" && flag.name === name);
    if (foreign === undefined) words.push(word);
    else if (foreign.means !== undefined) words.push(...foreign.means);
    else unused(`--${name}`);
    if (foreign?.value !== undefined && inline === undefined) at++;
  }
  // A command of ours has flags of its own.
  if (words[0] !== undefined && !words[0].startsWith("-")) return [...words, ...argv.slice(ours.length)];
  const added = words.includes("--json-stream") ? [["--dialect", dialect] as const] : [];
  const given = variables.flatMap(([variable, flag]) => (env[variable] ? [[flag, env[variable]] as const] : []));
  const isSaid = (flag: string): boolean => words.some((word) => word === flag || word.startsWith(`${flag}=`));
  const unsaid = [...added, ...given].filter(([flag]) => !isSaid(flag)).flat();
  return [...unsaid, ...words, ...argv.slice(ours.length)];
}

/** What stands behind `--` is meant for somebody else. */
function own(argv: readonly string[]): readonly string[] {
  const end = argv.indexOf("--");
  return end === -1 ? argv : argv.slice(0, end);
}
