/**
 * The words of `parley relay`. A host starts the relay as it would start its agent: the words behind `--drive B` are the command line of the
 * program that the host believes to start, and are put into our own words. The relay's own flags stand before them; behind `--drive B`
 * stand only those that the host's program does not know.
 */
import { programOf } from "../../dialects/index.js";
import type { ForeignFlag } from "../../dialects/kit/program.js";
import { beforeDashes, type Flag } from "../command-line/flags.js";
import { foreignFlag, inOurFlags, hostProgramOf, type HostProgram } from "../command-line/host-program.js";
import { OF_THE_AGENT, RELAY_FLAGS } from "./flags.js";

export function relayWords(argv: readonly string[], unused: (flag: string) => void): string[] {
  const ours = beforeDashes(argv);
  const drive = ours.findIndex((word) => /^--drive(=|$)/.test(word));
  const as = dialectOfHost(ours);
  if (drive === -1 || as === undefined) return [...argv];
  const start = drive + (ours[drive] === "--drive" ? 2 : 1);
  const isCommandElsewhere = ours.length < argv.length || ours.some((word) => /^--url(=|$)/.test(word));
  const driven = ours[drive] === "--drive" ? ours[drive + 1] : ours[drive]?.slice("--drive=".length);
  const hasDefault = programOf(driven ?? "")?.drive?.command !== undefined;
  const told = hostWords(ours.slice(start), as, { isCommandElsewhere, hasDefault }, unused);
  return [...ours.slice(0, start), ...told, ...argv.slice(ours.length)];
}

/** The program whose version the command line asks for. */
export function relayedProgram(argv: readonly string[]): HostProgram | undefined {
  const ours = beforeDashes(argv);
  const as = dialectOfHost(ours);
  return as === undefined || !ours.some((word) => /^--drive(=|$)/.test(word)) ? undefined : hostProgramOf(as);
}

function dialectOfHost(words: readonly string[]): string | undefined {
  return words.flatMap((word, at) => (word === "--as" ? [words[at + 1] ?? ""] : word.startsWith("--as=") ? [word.slice(5)] : [])).at(-1);
}

/** The number of words read from the host's command line, and our words for them. */
interface Read {
  taken: number;
  means: readonly string[];
}

/** Tells where COMMAND stands: behind dashes, at an address, or nowhere because the dialect has a default. */
interface CommandPlace {
  isCommandElsewhere: boolean;
  hasDefault: boolean;
}

function hostWords(
  words: readonly string[],
  as: string,
  { isCommandElsewhere, hasDefault }: CommandPlace,
  unused: (flag: string) => void,
): string[] {
  const hostProgram = hostProgramOf(as);
  const program = programOf(as);
  const { switches = [], ignoresWords, command = program?.command?.word } = program?.hostWords ?? {};
  const told: string[] = [];
  let isFirst = true;
  for (let at = 0; at < words.length;) {
    const [given = "", next] = words.slice(at, at + 2);
    const word = hostProgram?.shortFlags.get(given) ?? given;
    const isFlag = word.startsWith("-") && word !== "-";
    const { taken, means } = isFlag ? readFlag(word, next, as, switches, hostProgram?.flags, unused) : readPlain(word);
    told.push(...means);
    at += taken;
    isFirst &&= isFlag;
  }
  return told;

  function readPlain(word: string): Read {
    const isHostCommand = isFirst && word === command;
    // Without another place for COMMAND, this word belongs to it.
    if (!isCommandElsewhere && !(isHostCommand && hasDefault)) return { taken: 1, means: [word] };
    if (ignoresWords === true || isHostCommand) return { taken: 1, means: [] };
    return { taken: 1, means: ["--refused", `Unexpected argument '${word}': prompts come over the protocol`] };
  }
}

function readFlag(
  word: string,
  next: string | undefined,
  as: string,
  switches: readonly string[],
  flags: readonly ForeignFlag[] | undefined,
  unused: (flag: string) => void,
): Read {
  const foreign = foreignFlag(word, flags ?? []);
  if (foreign !== undefined) {
    const means = inOurFlags(word, foreign, next ?? "", unused);
    const isAgents = flagNamed(means[0] ?? "", OF_THE_AGENT) !== undefined;
    if (isAgents) unused(`--${foreign.name}`);
    return { taken: takesNext(word, foreign) ? 2 : 1, means: isAgents ? [] : means };
  }
  if (switches.includes(word) || word === `--dialect=${as}`) return { taken: 1, means: [] };
  if (word === "--dialect" && next === as) return { taken: 2, means: [] };
  // Keys and addresses belong to COMMAND: a host with a known program is told so. An unknown program may have such flags of its own.
  const agents = flags === undefined ? undefined : flagNamed(word, OF_THE_AGENT);
  const own = agents ?? flagNamed(word, RELAY_FLAGS);
  const takes = own !== undefined && takesNext(word, own) && (own.name !== "report" || next === "json");
  const taken = takes ? 2 : 1;
  if (agents === undefined) return { taken, means: takes && next !== undefined ? [word, next] : [word] };
  unused(`--${agents.name}`);
  return { taken, means: [] };
}

function takesNext(word: string, { value }: Pick<Flag, "value">): boolean {
  return value !== undefined && !word.includes("=");
}

function flagNamed(word: string, table: readonly Flag[]): Flag | undefined {
  const [name = ""] = word.replace(/^--?/, "").split("=");
  return table.find((flag) => (word.startsWith("--") ? flag.name === name || flag.alias === name : flag.short === name));
}
