/**
 * Reads the commands that a shell command would run, before it runs: every simple command anywhere in it, and every file that its redirections write.
 * It only reads; command-pattern.ts judges.
 *
 * It fails closed: uncertain parts (a syntax error, a command name in a variable, text that is evaluated twice) give
 * `parsed: false` with the reason. Code of another language (`python -c`, `awk`) is `unseen`; script files are not read.
 */
import type { Assignment, Command, ParameterOperation, Redirect, SyntaxNode } from "unbash";
import { messageOf } from "../../../core/errors.js";
import { LimitReached, MAX_COMMANDS, MAX_DEPTH, MAX_DOUBTS, parsingSteps, Work } from "./limits.js";
import { refuseLiveText } from "./live-text.js";
import type { Risk } from "./risk.js";
import { risksOf } from "./risks.js";
import { guesses } from "./runners.js";
import { unwrap } from "./unwrap.js";
import { runningValues, unknownValue, type RunValue } from "./variables.js";
import { quoted, readWord, Unreadable, type ShellWord } from "./words.js";

export interface ShellCommand {
  /** The name and the arguments, dequoted, joined by one space. */
  text: string;
  /** Empty for words that only change how other commands run: an assignment, arithmetic on variables. */
  name: string;
  args: string[];
  /** For each argument: whether it is literal, one word known only at the run, or several such words. */
  kinds: readonly ("literal" | "one" | "several")[];
  /** The command sets variables, or changes the effect of later commands in another way. */
  assignments: boolean;
  /** Some argument is known only at the run. */
  dynamic: boolean;
  /** The number of first arguments that are literal. */
  fixed: number;
  /** The command may run or not: only deny and ask rules count. */
  guessed?: true;
  /** The reason for which an allow rule must name more than the program. */
  risks?: readonly Risk[];
}

export type ShellAnalysis = {
  /** The commands of a line that could not be parsed are those found so far: a deny rule holds for them, too. */
  commands: ShellCommand[];
  words: ReadonlySet<string>;
  /** The work that the analysis took; see limits.ts. */
  steps: number;
} & (
  | {
      parsed: true;
      /** Targets of redirections that write. */
      writes: string[];
      /** The reason for which it may run more than is listed. */
      unseen?: string;
      /** The same, if the reason is not a risk of one of the commands. */
      unproven?: string;
    }
  | { parsed: false; why: string }
);

const MAX_LENGTH = 65_536;

/** Never throws. */
export async function analyseShell(command: string): Promise<ShellAnalysis> {
  const found: Found = { commands: [], words: new Set(), work: new Work() };
  try {
    if (command.includes("\0")) throw new Unreadable("it contains a NUL byte");
    if (Buffer.byteLength(command) > MAX_LENGTH) throw new Unreadable("it is longer than 64 KiB");
    return read(command, found, await import("unbash"));
  } catch (thrown) {
    const why = thrown instanceof Unreadable ? thrown.message : `the shell parser gave up (${messageOf(thrown)})`;
    return { parsed: false, why, commands: found.commands, words: found.words, steps: found.work.steps };
  }
}

/**
 * All words of a command line, dequoted, wherever they are: in commands, in the commands that these run, in assignments, lists of loops and
 * redirections. Words known only at the run are as written. A line that could not be parsed may have more.
 */
export function shellWords({ words }: ShellAnalysis): readonly string[] {
  return [...words];
}

interface Found {
  readonly commands: ShellCommand[];
  readonly words: Set<string>;
  readonly work: Work;
}

function read(command: string, found: Found, { parse, forEachChild }: typeof import("unbash")): ShellAnalysis {
  const { commands, work } = found;
  const writes: string[] = [];
  const doubts: string[] = [];
  let unseen: string | undefined;
  let unproven: string | undefined;
  /** Text that the shell evaluates again, together with quoted text that would then run: each alone is harmless. */
  let evaluates = false;
  let liveText = false;
  /** The text being read may be no command at all. */
  let guessing = false;

  attempt(() => script(command, 0));
  if (evaluates && liveText) doubts.push("it evaluates variables, and quotes text that would run a command when evaluated");
  const [why] = doubts;
  const { steps } = work;
  const known = { commands, words: found.words, steps };
  if (why !== undefined) return { parsed: false, why, ...known };
  return { parsed: true, ...known, writes, ...(unseen !== undefined && { unseen }), ...(unproven !== undefined && { unproven }) };

  /** An unreadable place makes the whole line unparsed, but its other commands are still listed. */
  function attempt(step: () => void): void {
    try {
      step();
    } catch (thrown) {
      if (!(thrown instanceof Unreadable) || work.exhausted || doubts.length >= MAX_DOUBTS) throw thrown;
      if (!guessing || thrown instanceof LimitReached) doubts.push(thrown.message);
    }
  }

  function script(text: string, depth: number): void {
    if (depth > MAX_DEPTH) throw new LimitReached("commands are nested too deeply");
    work.spend(parsingSteps(text));
    visit(parse(text), text, depth);
  }

  function visit(node: SyntaxNode, source: string, depth: number): void {
    work.spend(1);
    const own = node.type === "Script" ? (node.source ?? source) : source;
    attempt(() => look(node, own, depth));
    forEachChild(node, (child) => visit(child, own, depth));
  }

  function look(node: SyntaxNode, source: string, depth: number): void {
    switch (node.type) {
      case "Script":
        return refuseErrors(node.errors);
      case "Command":
        return onCommand(node, depth);
      case "For":
      case "Select":
        node.wordlist?.forEach((word) => refuseLiveText(word));
        if (isPlainVariable(node.name.value)) return;
        note(`${node.name.value}=`);
        return runValues(unknownValue(node.name.value), depth);
      case "TestCommand":
        return add(
          [
            { value: "[[", kind: "literal" },
            { value: testText(source, node), kind: "expansion" },
          ],
          false,
          depth,
        );
      case "TestBinary":
        return /^-(?:eq|ne|lt|le|gt|ge)$/.test(node.operator) && !(isNumber(node.left.value) && isNumber(node.right.value))
          ? evaluation(source, node)
          : undefined;
      case "TestUnary":
        return node.operator === "-v" || node.operator === "-R" ? evaluation(source, node) : undefined;
      case "Redirect":
        return onRedirect(node);
      case "HereDoc":
        if (node.closing === undefined) throw new Unreadable("a here-document has no end");
        return;
      case "HereDocBody":
        return node.parts === undefined ? onLiteral(node.text) : undefined;
      case "Word":
        found.words.add(node.value);
        return node.parts === undefined ? onLiteral(node.value) : undefined;
      case "Literal":
      case "SingleQuoted":
      case "AnsiCQuoted":
        return onLiteral(node.value);
      case "Assignment":
        if (node.index !== undefined && !isNumber(node.index.value)) evaluation(source, node);
        return (node.value.type === "Word" ? [node.value] : node.value.elements).forEach((word) => refuseLiveText(word));
      case "CommandExpansion":
      case "ProcessSubstitution":
      case "ArithmeticCommandExpansion":
        if (node.script === undefined) throw new Unreadable("a substitution could not be read");
        return;
      case "ArithmeticExpansion":
      case "ArithmeticCommand":
        if (node.expression === undefined) throw new Unreadable("an arithmetic expression could not be read");
        return;
      case "ArithmeticWord":
        return isNumber(node.value) ? undefined : evaluation(source, node);
      case "ParameterExpansion":
        if (node.prefix === "!" || (node.index !== undefined && !/^(?:\d+|[@*])$/.test(node.index.value))) evaluation(source, node);
        return node.operation === undefined ? undefined : onOperation(node.operation, node.parameter, source, depth);
      case "ExtendedGlob":
        throw new Unreadable("it uses extended globs, which bash reads differently when they are off");
      default:
        return;
    }
  }

  function onCommand(node: Command, depth: number): void {
    const set = node.prefix.filter((child): child is Assignment => child.type === "Assignment");
    for (const assignment of set) note(readWord(assignment).value);
    for (const assignment of set) runValues(runningValues([readWord(assignment)]), depth);
    if (node.name === undefined) return;
    const words = [node.name, ...node.args].map((word) => readWord(word));
    add(words, set.length > 0, depth);
    // See "!" in wrappers.ts: the words may become the test that they look like.
    if (node.name.value === "[[") throw new Unreadable("'[[' stands behind a redirection");
  }

  function add(words: readonly ShellWord[], assignments: boolean, depth: number): void {
    if (depth > MAX_DEPTH) throw new LimitReached("commands are nested too deeply");
    if (commands.length >= MAX_COMMANDS) throw new LimitReached(`it has more than ${MAX_COMMANDS} commands`);
    const [name, ...args] = words;
    if (name === undefined) return;
    work.spend(words.reduce((sum, { value }) => sum + value.length + 1, 1));
    if (name.kind !== "literal" || /^~[^/]*$/.test(name.value)) {
      throw new Unreadable(`the command name ${quoted(name.value)} is only known when it runs`);
    }
    const risks = risksOf(words, guessing);
    const unsure = args.findIndex(({ kind }) => kind !== "literal");
    const shown = args.filter(({ value, kind }) => value !== "" || kind === "literal");
    commands.push({
      text: [name.value, ...shown.map(({ value }) => value)].join(" "),
      name: name.value,
      args: shown.map(({ value }) => value),
      kinds: shown.map(({ kind, whole }) => (kind === "literal" ? kind : whole === true ? "one" : "several")),
      assignments: assignments || changesShell(name.value, args),
      dynamic: unsure >= 0,
      fixed: unsure < 0 ? args.length : unsure,
      ...(guessing && { guessed: true }),
      ...(risks.length > 0 && { risks }),
    });
    unseen ??= risks.find(({ does, behind }) => does === "runs" && behind === undefined)?.why;
    if (changesShell(name.value, args)) evaluates = true;
    runValues(runningValues(words), depth);
    if (READING.has(name.value) && changesShell(name.value, args)) {
      runValues(
        args.flatMap(({ value }) => unknownValue(value.replace(/^-v/, ""))),
        depth,
      );
    }
    for (const { script: text, behind } of risks) if (text !== undefined && behind === undefined) guess(() => script(text, depth + 1));
    for (const inner of guesses(words)) {
      guess(() => ("script" in inner ? script(inner.script, depth + 1) : add(inner.words, false, depth + 1)));
    }
    for (const inner of unwrap(words)) {
      attempt(() => {
        if ("unknown" in inner) throw new Unreadable(inner.unknown);
        if ("unseen" in inner) {
          unseen ??= inner.unseen;
          unproven ??= inner.unseen;
        } else if ("script" in inner) script(inner.script, depth + 1);
        else add(inner.words, assignments || inner.assignments === true, depth + 1);
      });
    }
  }

  /** Reads the commands that a variable makes a program run. */
  function runValues(values: readonly RunValue[], depth: number): void {
    for (const { name, value, kind, settings } of values) {
      if (settings === true) unseen ??= `the variable ${name} decides what is run`;
      else if (kind === "literal") attempt(() => script(value, depth + 1));
      else unseen ??= `the variable ${name}, which is run, has the value ${quoted(value)}`;
    }
  }

  /** Keeps only commands that a rule may forbid. */
  function guess(step: () => void): void {
    const before = { guessing, unseen, unproven, evaluates, liveText, written: writes.length };
    guessing = true;
    attempt(step);
    ({ guessing, unseen, unproven, evaluates, liveText } = before);
    writes.length = before.written;
  }

  /** A pseudo-command: an allow rule never covers it, a deny rule may name it. */
  function note(text: string): void {
    if (commands.length >= MAX_COMMANDS) throw new LimitReached(`it has more than ${MAX_COMMANDS} commands`);
    work.spend(text.length);
    commands.push({ text, name: "", args: [], kinds: [], assignments: true, dynamic: false, fixed: 0 });
  }

  /** A variable's value is evaluated as an expression here; `a[$(cmd)]` in it would run `cmd`. */
  function evaluation(source: string, node: { pos: number; end: number }): void {
    evaluates = true;
    note(source.slice(node.pos, node.end));
  }

  function onLiteral(text: string): void {
    if (/\$\(|`|\$\{[\s|]/.test(text)) liveText = true;
  }

  function onRedirect({ operator, target }: Redirect): void {
    if (target === undefined) throw new Unreadable("a redirection has no target");
    const network = /^\/dev\/(?:tcp|udp)\//.test(target.value);
    if (!network && (operator === "<" || operator === "<&")) return;
    if (operator === ">&" && /^(?:\d+-?|-)$/.test(target.value)) return;
    writes.push(target.value);
  }

  function onOperation(operation: ParameterOperation, parameter: string, source: string, depth: number): void {
    if (operation.type === "Unknown") throw new Unreadable("a parameter expansion could not be read");
    if (operation.type === "Transform" && operation.operand.value.includes("P")) {
      throw new Unreadable("'@P' runs the commands in a variable's value");
    }
    if (operation.type === "Default" && operation.operator.endsWith("=")) {
      refuseLiveText(operation.operand);
      note(`${parameter}=${operation.operand.value}`);
      const { value, kind } = readWord(operation.operand);
      runValues(runningValues([{ value: `${parameter}=${value}`, kind }]), depth);
    }
    if (operation.type === "Slice" && ![operation.offset, operation.length].every((word) => word === undefined || isNumber(word.value))) {
      evaluation(source, operation);
    }
  }
}

/** Builtins that set variables, evaluate an argument as one, or change what later names mean. */
function changesShell(name: string, args: readonly ShellWord[]): boolean {
  if (name === "test" || name === "[") return args.some(({ value }) => value === "-v" || value === "-R");
  if (name === "printf") return args[0] !== undefined && (args[0].kind !== "literal" || args[0].value.startsWith("-v"));
  return CHANGING.has(name);
}

const CHANGING = new Set(
  "alias declare enable export getopts hash let local mapfile read readarray readonly set shopt typeset unalias unset wait".split(" "),
);

/** Builtins that give variables values which are not in the builtin's words. */
const READING = new Set("getopts mapfile printf read readarray".split(" "));

function refuseErrors(errors: readonly { message: string }[] | undefined): void {
  const first = errors?.[0];
  if (first !== undefined) throw new Unreadable(`it has a syntax error (${first.message})`);
}

/** Names that no program reads from its environment, unlike PATH or http_proxy. */
function isPlainVariable(name: string): boolean {
  return /^[a-z][a-z0-9]*$/.test(name);
}

function isNumber(text: string): boolean {
  return /^\s*[-+]?(?:\d+|0x[\da-f]+)\s*$/i.test(text);
}

function testText(source: string, node: { pos: number; end: number }): string {
  return source.slice(node.pos + 2, node.end).trim();
}
