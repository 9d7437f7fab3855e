/**
 * Finds words of a command that make it run something, load something that decides what runs, or write a file, though its name does not tell: by the data
 * of risk-table.ts, code for interpreters (code.ts) and sed's scripts. No allow rule covers such a command unless it has these
 * words in its own text; unread code also makes deny and ask rules ask.
 */
import { codeRisk, gitCommand } from "./code.js";
import { guesses } from "./runners.js";
import { RISKS, type RiskRow } from "./risk-table.js";
import { textUpTo, type Risk } from "./risk.js";
import { sedRisks } from "./sed.js";
import { baseName, quoted, type ShellWord } from "./words.js";

type Words = readonly ShellWord[];

/** No rule's text has more risks than these, and copying their commands would take too long. */
const MOST_NAMED = 16;

/** `isGuessed`: no allow rule judges the command, so risks behind a runner do not matter. */
export function risksOf(words: Words, isGuessed: boolean): Risk[] {
  return isGuessed ? ownRisks(words) : [...ownRisks(words), ...innerRisks(words)];
}

/** No rule names a program that is farther behind. */
const FARTHEST = 12;

/** Risks of the program that a runner starts: `npx eslint --fix`, `python3 -m pytest -p x`. */
function innerRisks(words: Words): Risk[] {
  const found: Risk[] = [];
  for (const inner of guesses(words)) {
    if (!("words" in inner)) continue;
    const at = words.length - inner.words.length;
    if (at > FARTHEST || found.length > MOST_NAMED) break;
    if (at < 1) continue;
    const behind = textUpTo(words, at);
    const name = inner.words[0]?.value ?? "";
    for (const { named, script: _, ...risk } of ownRisks(passedOn(words, inner.words))) {
      found.push({ ...risk, behind, ...(named !== undefined && { named: behind + named.slice(name.length) }) });
    }
  }
  return found;
}

/** `npm exec eslint -- --fix`: npm removes the dashes, so the following words are options again. */
function passedOn([runner]: Words, inner: Words): Words {
  if (!/^(?:npm|npx|pnpm|yarn|bun)$/.test(baseName(runner?.value ?? ""))) return inner;
  return inner.map((word) => (word.value === "--" ? { value: word.value, kind: "glob", operand: true } : word));
}

function ownRisks(words: Words): Risk[] {
  const program = baseName(words[0]?.value ?? "");
  const code = codeRisk(words);
  const git = program === "git" ? gitCommand(words) : undefined;
  // `/usr/lib/git-core/git-grep` is `git grep`.
  const row = RISKS.get(git === undefined ? program.replace(/^git-/, "git ") : `git ${words[git]?.value ?? ""}`);
  return [
    ...(code === undefined ? [] : [code]),
    ...(row === undefined ? [] : rowRisks(words, row, git ?? 0)),
    ...(/^g?sed$/.test(program) ? sedScripts(words) : []),
    ...programInVariable(program, words),
  ];
}

/** Files where writing has no effect. */
const HARMLESS: ReadonlySet<string> = new Set(["/dev/null", "/dev/stdout", "/dev/stderr", "-"]);

type Kind = "runs" | "loads" | "writes";
const KINDS: readonly Kind[] = ["runs", "loads", "writes"];

/** `from`: the word behind which the row's options and operands begin. */
function rowRisks(words: Words, row: RiskRow, from: number): Risk[] {
  const name = words[from]?.value ?? "";
  const specs = KINDS.flatMap((does) => (row[does] ?? "").split(" ").flatMap((spec) => (spec === "" ? [] : [{ does, spec }])));
  const options = specs.filter(({ spec }) => spec.startsWith("-")).map(({ does, spec }) => optionSpec(does, spec, row.single === true));
  const found: Risk[] = [];
  let operands = 0;
  let ended = false;
  for (const [at, { value }] of words.entries()) {
    if (at <= from) continue;
    for (const does of KINDS) if (textOf(row, does)?.test(value) === true) found.push(risk(does, at, undefined, valueIn(value)));
  }
  for (let at = from + 1; at < words.length; at++) {
    const word = words[at];
    if (word === undefined) break;
    if (word.value === "--" && word.kind === "literal") {
      ended = true;
      continue;
    }
    const letters = !word.value.startsWith("-") && at === from + 1 && name.endsWith("tar");
    if (word.kind !== "literal" && word.operand !== true && !ended) found.push(possible(words, at));
    else if (!ended && letters) found.push(...oldStyle(word.value, at));
    else if (!ended && /^-./.test(word.value)) at += option(word.value, at);
    else {
      operands += 1;
      found.push(...operand(word.value, at));
      if (row.early === true) ended = true;
    }
  }
  return found;

  /** The number of further words that the option takes. */
  function option(value: string, at: number): number {
    const [shown, attached] = splitOnce(value, "=");
    const next = words[at + 1]?.value;
    const long = value.startsWith("--") || row.single === true;
    const hit = options.find((each) => each.long && matches(each, shown));
    if (hit !== undefined) {
      const target = hit.valued ? (attached ?? next) : undefined;
      report(hit.does, at, attached === undefined ? undefined : `${shown}=`, target);
      return hit.valued && attached === undefined ? width(at) : 0;
    }
    if (long) return value.length === 2 && (row.valued ?? "").includes(value.charAt(1)) ? width(at) : 0;
    for (let letter = 1; letter < value.length; letter++) {
      const short = options.find((each) => !each.long && each.name === `-${value.charAt(letter)}`);
      const takes = short?.valued === true || (row.valued ?? "").includes(value.charAt(letter));
      const rest = value.slice(letter + 1);
      if (short !== undefined) report(short.does, at, undefined, takes ? rest || next : undefined);
      if (takes) return rest === "" ? width(at) : 0;
    }
    return 0;
  }

  /** A value that may become several words is checked like any other. */
  function width(at: number): number {
    return words[at + 1]?.kind === "literal" || words[at + 1]?.whole === true ? 1 : 0;
  }

  function matches({ name: option, does }: OptionSpec, shown: string): boolean {
    if (row.single === true) return option.replace(/^--/, "-") === shown.replace(/^--/, "-");
    if (option === shown) return true;
    return row.exact !== true && does !== undefined && shown.length > 2 && shown.startsWith("--") && option.startsWith(shown);
  }

  /** `tar xfI a 'rm x'`: the values follow in later words. */
  function oldStyle(value: string, at: number): Risk[] {
    return options.flatMap(({ name: option, long, does }) => (!long && value.includes(option.slice(1)) ? [risk(does, at)] : []));
  }

  function operand(value: string, at: number): Risk[] {
    return specs.flatMap(({ does, spec }) => {
      if (spec === "+*") return value.startsWith("+") ? [risk(does, at, undefined, value.slice(1))] : [];
      if (spec.startsWith("@")) return operands >= Number(spec.slice(1)) && !HARMLESS.has(value) ? [risk(does, at)] : [];
      if (spec.startsWith("-") || !value.startsWith(spec) || HARMLESS.has(value.slice(spec.length))) return [];
      return [risk(does, at, spec)];
    });
  }

  function report(does: Kind, at: number, part: string | undefined, target: string | undefined): void {
    if (does === "writes" && target !== undefined && HARMLESS.has(target)) return;
    found.push(risk(does, at, part, target));
  }

  /** `part`: the part of the word that a rule must have. */
  function risk(does: Kind, at: number, part?: string, script?: string): Risk {
    const value = words[at]?.value ?? "";
    return {
      does,
      why: `${name} ${VERBS[does]} ${quoted(value)} says`,
      ...(found.length < MOST_NAMED && { named: textUpTo(words, at, part) }),
      ...(does === "runs" && script !== undefined && words[at]?.kind === "literal" && { script }),
    };
  }
}

const VERBS: Record<Kind, string> = { runs: "may run what", loads: "may run what the file or setting in", writes: "may write where" };

interface OptionSpec {
  does: Kind;
  name: string;
  long: boolean;
  valued: boolean;
}

function optionSpec(does: Kind, spec: string, single: boolean): OptionSpec {
  const valued = spec.endsWith("=");
  const name = valued ? spec.slice(0, -1) : spec;
  return { does, name, valued, long: single || name.length > 2 };
}

function textOf(row: RiskRow, does: Kind): RegExp | undefined {
  return does === "runs" ? row.runsText : does === "loads" ? row.loadsText : row.writesText;
}

/** A command in `-oProxyCommand=rm x` or `+!rm x`. */
function valueIn(text: string): string {
  return text.replace(/^[^=!]*[=!]/, "");
}

function splitOnce(text: string, by: string): [string, string?] {
  const at = text.indexOf(by);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}

function possible(words: Words, at: number): Risk {
  return { does: "possible", why: `${quoted(words[at]?.value ?? "")} may become an option that runs or writes something` };
}

/** `awk "$x"`: the program, which is the first operand, is known only at the run. */
function programInVariable(program: string, words: Words): Risk[] {
  if (!/awk$|sed$/.test(program)) return [];
  const first = words.find(({ value }, at) => at > 0 && !value.startsWith("-") && !/^-[vF]$/.test(words[at - 1]?.value ?? ""));
  if (first?.kind !== "expansion" || !/^"?[$`]/.test(first.value)) return [];
  return [{ does: "runs", why: `${program} may run what ${quoted(first.value)} says` }];
}

/** The scripts of `-e`, or else the first operand. */
function sedScripts(words: Words): Risk[] {
  const scripts: number[] = [];
  const operands: number[] = [];
  let given = false;
  let inPlace = false;
  for (let at = 1; at < words.length; at++) {
    const value = words[at]?.value ?? "";
    if (/^-[nrsuzEb]*e$|^--e[a-z]*$/.test(value)) scripts.push(++at);
    else if (/^-[nrsuzEb]*e|^--e[a-z]*=/.test(value)) scripts.push(at);
    else if (/^-[nrsuzEb]*f|^--fi/.test(value)) given = true;
    else if (/^-[nrsuzEb]*l$|^--l[a-z-]*$/.test(value)) at += /^\d+$/.test(words[at + 1]?.value ?? "") ? 1 : 0;
    else if (/^-[a-zA-Z]*[iI]/.test(value)) inPlace = true;
    else if (!/^-./.test(value)) operands.push(at);
  }
  // Some versions take the word behind -i for a suffix: `sed -i '' s/a/b/`.
  const suffix = inPlace && /^(?:\.[\w.]*|~)?$/.test(words[operands[0] ?? 0]?.value ?? "");
  if (scripts.length === 0 && !given) scripts.push(...operands.slice(0, suffix ? 2 : 1));
  return scripts.flatMap((at, index): Risk[] => {
    const word = words[at];
    if (word === undefined) return [];
    if (word.kind !== "literal") return [possible(words, at)];
    const found = sedRisks(word.value.replace(/^-[nrsuzEb]*e|^--e[a-z]*=/, ""));
    if (!found.runs && !found.writes) return [];
    const does = found.runs ? "runs" : "writes";
    return [{ does, why: `sed ${VERBS[does]} ${quoted(word.value)} says`, ...(index < MOST_NAMED && { named: textUpTo(words, at) }) }];
  });
}
