/**
 * The pattern language of Bash rules, and the part of a command that a pattern covers.
 *
 * `*` is any text, spaces too; `git diff:*` is `git diff` alone or followed by a space and anything; otherwise the whole command, with runs
 * of whitespace as one space. A pattern is compared with each simple command of the line, dequoted.
 *
 * Deny and ask read generously: also the raw line, the name without its folder (`/bin/rm`), a trailing ` *` without arguments (`xargs rm`),
 * and short options as a set: `rm -rf *` finds `rm -r -f x`, `rm -fr x` and `rm -rfv x`, but not `rm --recursive`; `-R` is `-r` where both
 * mean the same; options in front of a subcommand do not hide it (`git -C . push`). A command that would match with the right value of a
 * variable, and code that we do not read, is a "maybe". Allow reads strictly: every command must be covered by some pattern, none may set
 * variables or write files by redirection, and arguments that only the run knows must fall under a pattern's last `*`. Options that run or
 * write something (shell/risk-table.ts) must stand in the pattern's own text: `sort *` does not cover `sort -o x`, and `sort -o *` does.
 */
import type { Hit, Subject } from "./rule-subject.js";
import type { ShellAnalysis, ShellCommand } from "./shell/shell.js";
import { readings } from "./shell/options.js";
import type { Risk } from "./shell/risk.js";
import { baseName, quoted } from "./shell/words.js";
import { wildcard, type Wildcard } from "./wildcard.js";

export interface CommandPattern {
  readonly kind: "command";
  hits(command: PreparedCommand): Hit;
  /** `line`: with runs of whitespace as one space. */
  hitsRaw(line: string): boolean;
  /** `true`, or the reason for a mismatch that is due to a risk. */
  covers(command: PreparedCommand): boolean | { why: string };
}

/** Prepared once for all patterns. */
interface PreparedCommand {
  command: ShellCommand;
  text: string;
  known: string;
  spellings: readonly Spelling[];
}

/** One way to read a command: literally, or as a rule may mean it. */
interface Spelling {
  words: readonly string[];
  text: string;
  /** The certain part: the words before the first one that is known only at the run. */
  known: string;
  fixed: number;
  dynamic: boolean;
}

export function compileCommandPattern(pattern: string): CommandPattern | { problem: string } {
  const text = squeeze(pattern);
  if (text === ":*") return { problem: "has no command before ':*'" };
  const strict = text.endsWith(":*") ? [text.slice(0, -2), `${text.slice(0, -2)} *`] : [text];
  const generous = text.endsWith(" *") ? [text, text.slice(0, -2)] : strict;
  const allowing = strict.map((each) => wildcard(each));
  const finding = generous.map((each) => wildcard(each));
  const flagged = flagPattern(text.replace(/:\*$/, " *"));
  const subcommand = subcommandOf(text.replace(/:\*$/, " *"));

  return {
    kind: "command",
    hits(prepared) {
      const direct = strongest(prepared.spellings.map((spelling) => foundIn(spelling, finding, flagged)));
      return direct === "yes"
        ? direct
        : strongest([direct, behindOptions(prepared, subcommand, (spelling) => foundIn(spelling, finding, flagged))]);
    },
    hitsRaw: (line) => finding.some((each) => each.matches(line)),
    covers({ command, text: whole, known }) {
      if (command.name === "" || /\s/.test(command.name)) return false;
      const matching = allowing.filter((each) => (command.dynamic ? each.open && each.matches(known) : each.matches(whole)));
      if (matching.length === 0) return false;
      const unnamed = matching.map((each) => command.risks?.find((risk) => !isNamed(risk, each.head, command.name)));
      return unnamed.includes(undefined) || { why: unnamed[0]?.why ?? "" };
    },
  };
}

/** Whether the pattern's own text has the words that a risk demands. */
function isNamed({ named, expected, behind }: Risk, head: string, program: string): boolean {
  if (behind !== undefined && !head.startsWith(squeeze(behind))) return true;
  if (expected === true && head.trimEnd() === program) return true;
  return named !== undefined && head.startsWith(squeeze(named));
}

function strongest(hits: readonly Hit[]): Hit {
  return hits.includes("yes") ? "yes" : hits.includes("maybe") ? "maybe" : "no";
}

/** A Bash call as its rules see it. */
export function commandSubject(line: string, analysis: ShellAnalysis): Subject<CommandPattern> {
  const plain = squeeze(line);
  const commands = analysis.commands.map((command) => prepare(command));
  return {
    hit(pattern) {
      if (pattern.hitsRaw(plain)) return { hit: "yes" };
      const hits = commands.map((command) => pattern.hits(command));
      if (hits.includes("yes")) return { hit: "yes" };
      if (!analysis.parsed) return { hit: "maybe", why: `the command could not be parsed: ${analysis.why}` };
      if (analysis.unseen !== undefined) return { hit: "maybe", why: `what it runs is not seen: ${analysis.unseen}` };
      if (hits.includes("maybe"))
        return { hit: "maybe", why: "whether the rule applies depends on a value that is only known when it runs" };
      return { hit: "no" };
    },
    cover(patterns) {
      if (!analysis.parsed) return { why: `the command could not be parsed: ${analysis.why}` };
      if (analysis.commands.length === 0) return { why: "it runs no command" };
      const written = analysis.writes.find((target) => !HARMLESS.has(target));
      if (written !== undefined) return { why: `it writes to '${written}'` };
      if (analysis.unproven !== undefined) return { why: `what it runs is not seen: ${analysis.unproven}` };
      const used = new Set<number>();
      for (const prepared of commands) {
        const { command } = prepared;
        if (command.guessed === true) continue;
        if (command.assignments) return { why: `'${command.text}' sets or evaluates variables` };
        const covered = patterns.map((pattern) => pattern.covers(prepared));
        const by = covered.indexOf(true);
        if (by < 0) return covered.find((each) => typeof each === "object") ?? { why: `no rule allows ${quoted(command.text)}` };
        used.add(by);
      }
      return { by: [...used] };
    },
  };
}

const HARMLESS = new Set(["/dev/null", "/dev/stdout", "/dev/stderr"]);

function squeeze(text: string): string {
  return text.replace(/[ \t\r\n]+/g, " ").replace(/^ | $/g, "");
}

function prepare(command: ShellCommand): PreparedCommand {
  const { name, args, text, fixed, dynamic } = command;
  const own = name === "" ? spell([text], 0, dynamic) : spell([name, ...args], fixed, dynamic);
  const program = baseName(name);
  const plain = program === name || name === "" ? [] : [spell([program, ...args], fixed, dynamic)];
  return { command, text: squeeze(text), known: own.known, spellings: [own, ...plain] };
}

function spell(words: readonly string[], fixed: number, dynamic: boolean): Spelling {
  return { words, text: squeeze(words.join(" ")), known: `${squeeze(words.slice(0, fixed + 1).join(" "))} `, fixed, dynamic };
}

function foundIn({ words, text, known, fixed, dynamic }: Spelling, finding: readonly Wildcard[], flagged: FlagPattern | undefined): Hit {
  if (finding.some((each) => each.matches(text)) || flagged?.matches(words) === true) return "yes";
  if (!dynamic) return "no";
  return finding.some((each) => each.mayMatch(known)) || flagged?.mayMatch(words.slice(0, fixed + 1)) === true ? "maybe" : "no";
}

/** The words of a pattern that name a program and its subcommand; undefined when options could not hide it. */
function subcommandOf(text: string): { program: string; words: string[]; partial: boolean } | undefined {
  const [program = "", ...rest] = text.split(" ");
  const end = rest.findIndex((word) => word.includes("*") || word.startsWith("-"));
  const words = end < 0 ? rest : rest.slice(0, end);
  const partial = end >= 0 && /^[^-*]/.test(rest[end] ?? "");
  return program.includes("*") || (words.length === 0 && !partial) ? undefined : { program, words, partial };
}

function behindOptions({ command }: PreparedCommand, subcommand: ReturnType<typeof subcommandOf>, judge: (spelling: Spelling) => Hit): Hit {
  if (subcommand === undefined || (command.name !== subcommand.program && baseName(command.name) !== subcommand.program)) return "no";
  const { found, maybe } = readings(subcommand.program, command, subcommand);
  const hits = found.map(({ words, fixed, unsure }): Hit => {
    const hit = judge(spell(words, fixed, fixed < words.length - 1));
    return unsure && hit === "yes" ? "maybe" : hit;
  });
  return strongest(maybe ? [...hits, "maybe"] : hits);
}

interface FlagPattern {
  matches(words: readonly string[]): boolean;
  mayMatch(words: readonly string[]): boolean;
}

/** A pattern with short options, split into these and the rest; undefined when it has none. */
function flagPattern(text: string): FlagPattern | undefined {
  const [name = "", ...args] = text.split(" ");
  const { flags, rest } = splitFlags(name, args);
  if (flags.size === 0 || name.includes("*")) return undefined;
  const spellings = rest.at(-1) === "*" ? [rest, rest.slice(0, -1)] : [rest];
  const wanted = spellings.map((words) => wildcard(words.join(" ")));
  return {
    matches([command, ...words]) {
      if (command !== name) return false;
      const given = splitFlags(name, words);
      if (![...flags].every((flag) => given.flags.has(flag))) return false;
      return wanted.some((each) => each.matches(squeeze(given.rest.join(" "))));
    },
    mayMatch([command, ...words]) {
      if (command !== name) return false;
      const known = squeeze(splitFlags(name, words).rest.join(" "));
      return wanted.some((each) => each.mayMatch(known === "" ? "" : `${known} `));
    },
  };
}

/** Programs with `-R` and `-r` for the same thing, or without another use of `-r` that a rule would mean. */
const RECURSIVE = new Set(["rm", "cp", "chmod", "chown", "chgrp"]);

function splitFlags(name: string, words: readonly string[]): { flags: Set<string>; rest: string[] } {
  const flags = new Set<string>();
  const rest: string[] = [];
  const end = words.indexOf("--");
  for (const [at, word] of words.entries()) {
    const isOption = /^-[A-Za-z0-9]+$/.test(word) && (end < 0 || at < end);
    if (isOption) for (const letter of word.slice(1)) flags.add(letter === "R" && RECURSIVE.has(name) ? "r" : letter);
    else if (at !== end) rest.push(word);
  }
  return { flags, rest };
}
