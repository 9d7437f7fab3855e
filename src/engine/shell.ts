/**
 * What a shell command would run, before it runs: every simple command anywhere in it, and every file that its redirections write.
 * This is the reading only; command-pattern.ts judges it.
 *
 * It fails closed: what cannot be told for certain (a syntax error, a command name in a variable, text that is evaluated twice) is
 * `parsed: false` with the reason. Code of another language (`python -c`, `awk`) is `unseen`; what a script file does is not looked at.
 */
import type { Assignment, Command, ParameterOperation, Redirect, SyntaxNode, Word } from "unbash";
import { messageOf } from "../core/errors.js";
import { guesses } from "./shell-runners.js";
import { unwrap } from "./shell-unwrap.js";
import { runningValues } from "./shell-variables.js";
import { quoted, readWord, Unreadable, type ShellWord } from "./shell-words.js";

export interface ShellCommand {
  /** The name and the arguments, dequoted, joined by one space. */
  text: string;
  /** Empty for what is no command but changes how others run: an assignment, arithmetic on variables. */
  name: string;
  args: string[];
  /** It sets variables, or changes in another way what later commands do. */
  assignments: boolean;
  /** Some argument is only known when it runs. */
  dynamic: boolean;
  /** How many of the first arguments are literal. */
  fixed: number;
  /** It may be run or not: only what forbids counts. */
  guessed?: true;
}

export type ShellAnalysis =
  | {
      parsed: true;
      commands: ShellCommand[];
      /** Targets of redirections that write. */
      writes: string[];
      /** Why it may run more than is listed. */
      unseen?: string;
    }
  | { parsed: false; why: string; /** Those that were found all the same: a deny rule still holds for them. */ commands: ShellCommand[] };

const MAX_LENGTH = 65_536;
const MAX_COMMANDS = 1000;
const MAX_DEPTH = 16;
/** Then we stop looking: each costs a walk through a broken tree. */
const MAX_DOUBTS = 50;

/** Never throws. */
export async function analyseShell(command: string): Promise<ShellAnalysis> {
  if (command.includes("\0")) return { parsed: false, why: "it contains a NUL byte", commands: [] };
  if (Buffer.byteLength(command) > MAX_LENGTH) return { parsed: false, why: "it is longer than 64 KiB", commands: [] };
  const commands: ShellCommand[] = [];
  try {
    return read(command, commands, await import("unbash"));
  } catch (thrown) {
    const why = thrown instanceof Unreadable ? thrown.message : `the shell parser gave up (${messageOf(thrown)})`;
    return { parsed: false, why, commands };
  }
}

function read(command: string, commands: ShellCommand[], { parse, forEachChild }: typeof import("unbash")): ShellAnalysis {
  const writes: string[] = [];
  const doubts: string[] = [];
  let unseen: string | undefined;
  /** Text that the shell evaluates again, and quoted text that would then run something: each alone is harmless. */
  let evaluates = false;
  let liveText = false;
  /** What is read now may be no command at all. */
  let guessing = false;

  attempt(() => script(command, 0));
  if (evaluates && liveText) doubts.push("it evaluates variables, and quotes text that would run a command when evaluated");
  const [why] = doubts;
  return why === undefined ? { parsed: true, commands, writes, ...(unseen !== undefined && { unseen }) } : { parsed: false, why, commands };

  /** One unreadable place spoils the whole, but the rest is still worth listing. */
  function attempt(step: () => void): void {
    try {
      step();
    } catch (thrown) {
      if (!(thrown instanceof Unreadable) || doubts.length >= MAX_DOUBTS) throw thrown;
      if (!guessing) doubts.push(thrown.message);
    }
  }

  function script(text: string, depth: number): void {
    if (depth > MAX_DEPTH || commands.length >= MAX_COMMANDS || isTangled(text)) throw new Unreadable("commands are nested too deeply");
    visit(parse(text), text, depth);
  }

  function visit(node: SyntaxNode, source: string, depth: number): void {
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
        return isPlainVariable(node.name.value) ? undefined : note(`${node.name.value}=`);
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
        return node.operation === undefined ? undefined : onOperation(node.operation, node.parameter, source);
      case "ExtendedGlob":
        throw new Unreadable("it uses extended globs, which bash reads differently when they are off");
      default:
        return;
    }
  }

  function onCommand(node: Command, depth: number): void {
    const set = node.prefix.filter((child): child is Assignment => child.type === "Assignment");
    for (const assignment of set) note(readWord(assignment).value);
    for (const assignment of set) runValues([readWord(assignment)], depth);
    if (node.name === undefined) return;
    const words = [node.name, ...node.args].map((word) => readWord(word));
    add(words, set.length > 0, depth);
    // See "!" in shell-wrappers.ts: it may become the test that it looks like.
    if (node.name.value === "[[") throw new Unreadable("'[[' stands behind a redirection");
  }

  function add(words: readonly ShellWord[], assignments: boolean, depth: number): void {
    if (depth > MAX_DEPTH) throw new Unreadable("commands are nested too deeply");
    if (commands.length >= MAX_COMMANDS) throw new Unreadable(`it has more than ${MAX_COMMANDS} commands`);
    const [name, ...args] = words;
    if (name === undefined) return;
    if (name.kind !== "literal") throw new Unreadable(`the command name ${quoted(name.value)} is only known when it runs`);
    const unsure = args.findIndex(({ kind }) => kind !== "literal");
    const shown = args.filter(({ value, kind }) => value !== "" || kind === "literal").map(({ value }) => value);
    commands.push({
      text: [name.value, ...shown].join(" "),
      name: name.value,
      args: shown,
      assignments: assignments || changesShell(name.value, args),
      dynamic: unsure >= 0,
      fixed: unsure < 0 ? args.length : unsure,
      ...(guessing && { guessed: true }),
    });
    if (changesShell(name.value, args)) evaluates = true;
    runValues(words, depth);
    for (const found of guesses(words))
      guess(() => ("script" in found ? script(found.script, depth + 1) : add(found.words, false, depth + 1)));
    for (const found of unwrap(words)) {
      attempt(() => {
        if ("unknown" in found) throw new Unreadable(found.unknown);
        if ("unseen" in found) unseen ??= found.unseen;
        else if ("script" in found) script(found.script, depth + 1);
        else add(found.words, assignments || found.assignments === true, depth + 1);
      });
    }
  }

  /** What a program is told to run by way of a variable. */
  function runValues(words: readonly ShellWord[], depth: number): void {
    for (const { value, kind } of runningValues(words)) {
      if (kind === "literal") attempt(() => script(value, depth + 1));
      else unseen ??= `a variable that is run has the value ${quoted(value)}`;
    }
  }

  /** Leaves behind nothing but commands that may be forbidden. */
  function guess(step: () => void): void {
    const before = { guessing, unseen, evaluates, liveText, written: writes.length };
    guessing = true;
    attempt(step);
    ({ guessing, unseen, evaluates, liveText } = before);
    writes.length = before.written;
  }

  /** A pseudo-command: an allow rule never covers it, a deny rule may name it. */
  function note(text: string): void {
    commands.push({ text, name: "", args: [], assignments: true, dynamic: false, fixed: 0 });
  }

  /** A variable's value is evaluated as an expression here, and `a[$(cmd)]` in it would run `cmd`. */
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

  function onOperation(operation: ParameterOperation, parameter: string, source: string): void {
    if (operation.type === "Unknown") throw new Unreadable("a parameter expansion could not be read");
    if (operation.type === "Transform" && operation.operand.value.includes("P")) {
      throw new Unreadable("'@P' runs the commands in a variable's value");
    }
    if (operation.type === "Default" && operation.operator.endsWith("=")) {
      refuseLiveText(operation.operand);
      note(`${parameter}=${operation.operand.value}`);
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

/** The parser takes quadratic time over long runs of these two openers. */
function isTangled(text: string): boolean {
  return text.split("{").length > 4096 || text.split("$[").length > 512;
}

function refuseErrors(errors: readonly { message: string }[] | undefined): void {
  const first = errors?.[0];
  if (first !== undefined) throw new Unreadable(`it has a syntax error (${first.message})`);
}

/** Quoted text with a dollar or a backtick in a variable can run later, by way of PS4, PROMPT_COMMAND or arithmetic. */
function refuseLiveText(word: Word): void {
  if (isLive(word)) throw new Unreadable("a variable is given quoted text that may run a command later");
}

function isLive({ value, parts }: Word): boolean {
  return parts === undefined ? /[$`]/.test(value) : parts.some((part) => isLivePart(part));
}

function isLivePart(part: NonNullable<Word["parts"]>[number]): boolean {
  switch (part.type) {
    case "Literal":
    case "SingleQuoted":
    case "AnsiCQuoted":
      return /[$`]/.test(part.value);
    case "DoubleQuoted":
    case "LocaleString":
      return part.parts.some((inner) => isLivePart(inner));
    case "ParameterExpansion":
      return operands(part.operation).some((word) => isLive(word));
    case "Glob":
    case "ExtendedGlob":
    case "BraceExpansion":
      return /[$`]/.test(part.text);
    case "SimpleExpansion":
    case "CommandExpansion":
    case "ArithmeticExpansion":
    case "ProcessSubstitution":
      return false;
  }
}

function operands(operation: ParameterOperation | undefined): Word[] {
  if (operation?.type === "Default") return [operation.operand];
  return operation?.type === "Replace" ? [operation.replacement] : [];
}

/** No program takes such a name from its environment; PATH or http_proxy it does. */
function isPlainVariable(name: string): boolean {
  return /^[a-z][a-z0-9]*$/.test(name);
}

function isNumber(text: string): boolean {
  return /^\s*[-+]?(?:\d+|0x[\da-f]+)\s*$/i.test(text);
}

function testText(source: string, node: { pos: number; end: number }): string {
  return source.slice(node.pos + 2, node.end).trim();
}
