/**
 * The pattern language of Bash rules, and what of a command it covers.
 *
 * `*` is any text, spaces too; `git diff:*` is `git diff` alone or followed by a space and anything; otherwise the whole command, with runs
 * of whitespace as one space. A pattern is compared with each simple command of the line, dequoted.
 *
 * Deny and ask read generously: also the raw line, the name without its folder (`/bin/rm`), a trailing ` *` without arguments (`xargs rm`),
 * and short options as a set: `rm -rf *` finds `rm -r -f x`, `rm -fr x` and `rm -rfv x`, but not `rm --recursive`; `-R` is `-r` where both
 * mean the same. A command that would match with the right value of a variable, and code that we do not read, is a "maybe".
 * Allow reads strictly: every command must be covered by some pattern, none may set variables or write files by redirection, and arguments
 * that only the run knows must fall under a pattern's last `*`.
 */
import type { Hit, Subject } from "./rule-subject.js";
import type { ShellAnalysis, ShellCommand } from "./shell.js";
import { baseName } from "./shell-words.js";
import { wildcard, type Wildcard } from "./wildcard.js";

export interface CommandPattern {
  readonly kind: "command";
  hits(command: ShellCommand): Hit;
  hitsRaw(line: string): boolean;
  covers(command: ShellCommand): boolean;
}

export function compileCommandPattern(pattern: string): CommandPattern | { problem: string } {
  const text = squeeze(pattern);
  if (text === ":*") return { problem: "has no command before ':*'" };
  const strict = text.endsWith(":*") ? [text.slice(0, -2), `${text.slice(0, -2)} *`] : [text];
  const generous = text.endsWith(" *") ? [text, text.slice(0, -2)] : strict;
  const allowing = strict.map((each) => wildcard(each));
  const finding = generous.map((each) => wildcard(each));
  const flagged = flagPattern(text.replace(/:\*$/, " *"));

  return {
    kind: "command",
    hits(command) {
      const found = spellings(command).map((words) => foundIn(words, command, finding, flagged));
      return found.includes("yes") ? "yes" : found.includes("maybe") ? "maybe" : "no";
    },
    hitsRaw: (line) => finding.some((each) => each.matches(squeeze(line))),
    covers(command) {
      if (command.name === "" || /\s/.test(command.name)) return false;
      if (!command.dynamic) return allowing.some((each) => each.matches(squeeze(command.text)));
      return allowing.some((each) => each.open && each.matches(fixedText([command.name, ...command.args], command)));
    },
  };
}

/** A Bash call in the eyes of its rules. */
export function commandSubject(line: string, analysis: ShellAnalysis): Subject<CommandPattern> {
  return {
    hit(pattern) {
      if (pattern.hitsRaw(line)) return { hit: "yes" };
      const hits = analysis.commands.map((command) => pattern.hits(command));
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
      const used = new Set<number>();
      for (const command of analysis.commands.filter(({ guessed }) => guessed !== true)) {
        if (command.assignments) return { why: `'${command.text}' sets or evaluates variables` };
        const by = patterns.findIndex((pattern) => pattern.covers(command));
        if (by < 0) return { why: `no rule allows '${command.text}'` };
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

function spellings({ name, args, text }: ShellCommand): string[][] {
  if (name === "") return [[text]];
  return name.includes("/")
    ? [
        [name, ...args],
        [baseName(name), ...args],
      ]
    : [[name, ...args]];
}

function foundIn(words: readonly string[], command: ShellCommand, finding: readonly Wildcard[], flagged: FlagPattern | undefined): Hit {
  const text = squeeze(words.join(" "));
  if (finding.some((each) => each.matches(text)) || flagged?.matches(words) === true) return "yes";
  if (!command.dynamic) return "no";
  const known = fixedText(words, command);
  return finding.some((each) => each.mayMatch(known)) || flagged?.mayMatch(words.slice(0, command.fixed + 1)) === true ? "maybe" : "no";
}

/** What of a command is certain: the words before the first one that only the run knows. */
function fixedText(words: readonly string[], { fixed }: ShellCommand): string {
  return `${squeeze(words.slice(0, fixed + 1).join(" "))} `;
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
      const given = splitFlags(name, words);
      if (command !== name || ![...flags].every((flag) => given.flags.has(flag))) return false;
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
