/**
 * Permission rules: the user's deny, ask and allow for one tool call. Deny beats ask beats allow, in any order.
 *
 * A rule is `Tool` or `Tool(pattern)`; `Tool(*)` is the same as `Tool`. A tool name may hold `*` (`mcp__files__*`); `info`, `edit`, `exec`
 * and `mcp` in small letters mean the category. Names are case-sensitive, and `Edit(…)` says nothing about Write: `edit(…)` covers both.
 * Another agent's name for a tool (`run_shell_command`) means ours.
 *
 * A patch is judged as the edits, writes and removals that would do the same, and no deny of `Edit(…)` or `Write(…)` lets it pass.
 *
 * The meaning of a pattern depends on the rule's tool:
 * - Bash, exec: the command (command-pattern.ts). A command that cannot be parsed is asked about as soon as one deny or ask pattern exists.
 * - Read, Write, Edit, Glob, Grep, info, edit: the call's paths (path-pattern.ts). Deny and ask want any path, allow wants all.
 * - WebFetch: the address (url-pattern.ts).
 * - any other (MCP and host tools): deny and ask match when any text among the arguments does, `*` being any text. An allow rule cannot
 *   have a pattern there, because we do not know which argument matters.
 *
 * Rules on paths do not see what a Bash command reads or writes: `Read(.env)` does not keep `cat .env` from running.
 */
import type { Rule } from "../../core/config.js";
import type { Category } from "../../core/event.js";
import { canonicalTool } from "../../core/names.js";
import { commandSubject, compileCommandPattern, type CommandPattern } from "./command-pattern.js";
import { compilePathPattern, pathSubject, type CallPath, type PathPattern } from "./path-pattern.js";
import { neededCalls, type EquivalentCall, type RuledCall } from "./ruled-call.js";
import type { Hit, Subject } from "./rule-subject.js";
import { malformed, parseRule } from "../../core/text/rule-text.js";
import { compileTextPattern, textSubject, type TextPattern } from "./text-pattern.js";
import { compileUrlPattern, urlSubject, type UrlPattern } from "./url-pattern.js";
import { wildcard } from "./wildcard.js";

/** `none`: no rule matches. `rule` is the text of the rules that decided, joined by ", ". */
export interface Verdict {
  decision: "deny" | "ask" | "allow" | "none";
  rule?: string;
  why?: string;
}

export interface Rules {
  /** Never throws. */
  judge(call: RuledCall): Promise<Verdict>;
  /** Tells which files a search must not show because of deny and ask rules of these tools; undefined if there are none. */
  hiding(tools: readonly string[]): Hiding | undefined;
}

export type Hiding = (file: CallPath) => boolean;

/** Throws a `config` fault for malformed rules, naming the text. */
export async function compileRules(rules: readonly Rule[]): Promise<Rules> {
  const compiled = await Promise.all(rules.map((rule) => compileRule(rule)));
  return { judge: (call) => judge(call, compiled), hiding: (tools) => hiding(tools, compiled) };
}

type Pattern = CommandPattern | PathPattern | UrlPattern | TextPattern;

interface CompiledRule {
  effect: "deny" | "ask" | "allow";
  text: string;
  concerns(call: EquivalentCall): boolean;
  pattern?: Pattern;
}

async function judge(call: RuledCall, rules: readonly CompiledRule[]): Promise<Verdict> {
  const whole = await judgeOne(call, rules);
  if (call.equivalents === undefined || whole.decision === "deny") return whole;
  const forbidding = await Promise.all(call.equivalents.map((each) => judgeOne(each, rules)));
  const [denied, asked] = ["deny", "ask"].map((decision) => [whole, ...forbidding].find((verdict) => verdict.decision === decision));
  if (denied !== undefined || asked !== undefined || whole.decision === "allow") return denied ?? asked ?? whole;
  const needed = await Promise.all(neededCalls(call).map((each) => judgeOne(each, rules)));
  const missing = needed.find(({ decision }) => decision !== "allow");
  return missing ?? { decision: "allow", rule: [...new Set(needed.map(({ rule = "" }) => rule))].join(", ") };
}

async function judgeOne(call: EquivalentCall, rules: readonly CompiledRule[]): Promise<Verdict> {
  const own = rules.filter((rule) => rule.concerns(call));
  const subjects = await subjectsOf(call, own);
  const forbidding = [...own.filter(({ effect }) => effect === "deny"), ...own.filter(({ effect }) => effect === "ask")];
  const found = forbidding.map((rule) => ({ rule, ...hitBy(rule, subjects) }));

  const sure = found.find(({ hit }) => hit === "yes");
  if (sure?.rule.effect === "deny") return { decision: "deny", rule: sure.rule.text };
  const possible = sure ?? found.find(({ hit }) => hit === "maybe");
  if (possible !== undefined)
    return { decision: "ask", rule: possible.rule.text, ...(possible.why !== undefined && { why: possible.why }) };
  return allowed(
    own.filter(({ effect }) => effect === "allow"),
    subjects,
  );
}

/** Rules of reading tools. A rule without a pattern is about the tool itself, and not about files. */
function hiding(tools: readonly string[], rules: readonly CompiledRule[]): Hiding | undefined {
  const calls = tools.map((tool): RuledCall => ({ tool, category: "info", args: {}, paths: [] }));
  const forbidding = rules.filter((rule) => rule.effect !== "allow" && calls.some((call) => rule.concerns(call)));
  const patterns = forbidding.flatMap(({ pattern }) => (pattern?.kind === "path" ? [pattern] : []));
  return patterns.length === 0 ? undefined : (file) => patterns.some((pattern) => pattern.hits(file));
}

function allowed(rules: readonly CompiledRule[], subjects: Subjects): Verdict {
  const bare = rules.find(({ pattern }) => pattern === undefined);
  if (bare !== undefined) return { decision: "allow", rule: bare.text };
  let why: string | undefined;
  for (const kind of ["command", "path", "url"] as const) {
    const having = rules.filter(({ pattern }) => pattern?.kind === kind);
    if (having.length === 0) continue;
    const covered = coverBy(having, subjects, kind);
    if ("by" in covered) return { decision: "allow", rule: covered.by.map((at) => having[at]?.text).join(", ") };
    why ??= covered.why;
  }
  return { decision: "none", ...(why !== undefined && { why }) };
}

// The subject of a call for each kind of pattern; absent where the kind does not apply to the call

interface Subjects {
  command?: Subject<CommandPattern>;
  path?: Subject<PathPattern>;
  url?: Subject<UrlPattern>;
  text?: Subject<TextPattern>;
}

async function subjectsOf(call: EquivalentCall, rules: readonly CompiledRule[]): Promise<Subjects> {
  const kinds = new Set(rules.map(({ pattern }) => pattern?.kind));
  const { command, url } = call.args;
  const line = typeof command === "string" ? command : call.tool === "Bash" ? "" : undefined;
  return {
    ...(kinds.has("command") && line !== undefined && { command: await shellSubject(line) }),
    ...(kinds.has("path") && { path: pathSubject(call.paths) }),
    ...(kinds.has("url") && { url: urlSubject(url) }),
    ...(kinds.has("text") && { text: textSubject(call.args) }),
  };
}

/** The shell parser is loaded with the first command that a rule with a pattern is about. */
async function shellSubject(line: string): Promise<Subject<CommandPattern>> {
  const { analyseShell } = await import("./shell/shell.js");
  return commandSubject(line, await analyseShell(line));
}

function hitBy({ pattern }: CompiledRule, subjects: Subjects): { hit: Hit; why?: string } {
  const nothing = { hit: "no" } as const;
  switch (pattern?.kind) {
    case undefined:
      return { hit: "yes" };
    case "command":
      return subjects.command?.hit(pattern) ?? nothing;
    case "path":
      return subjects.path?.hit(pattern) ?? nothing;
    case "url":
      return subjects.url?.hit(pattern) ?? nothing;
    case "text":
      return subjects.text?.hit(pattern) ?? nothing;
  }
}

function coverBy(rules: readonly CompiledRule[], subjects: Subjects, kind: "command" | "path" | "url"): { by: number[] } | { why: string } {
  const patterns = rules.flatMap(({ pattern }) => pattern ?? []);
  const nothing = { why: "the rules' patterns do not speak of such calls" };
  switch (kind) {
    case "command":
      return subjects.command?.cover(patterns.filter((each) => each.kind === kind)) ?? nothing;
    case "path":
      return subjects.path?.cover(patterns.filter((each) => each.kind === kind)) ?? nothing;
    case "url":
      return subjects.url?.cover(patterns.filter((each) => each.kind === kind)) ?? nothing;
  }
}

// Compiling

const CATEGORIES: readonly string[] = ["info", "edit", "exec", "mcp"] satisfies Category[];

const KINDS: Record<string, Pattern["kind"]> = {
  Bash: "command",
  exec: "command",
  Read: "path",
  Write: "path",
  Edit: "path",
  Glob: "path",
  Grep: "path",
  info: "path",
  edit: "path",
  WebFetch: "url",
};

/** Whether an allow rule for this tool may have a pattern. */
export function takesPattern(tool: string): boolean {
  return Object.hasOwn(KINDS, tool);
}

async function compileRule(rule: Rule): Promise<CompiledRule> {
  const { effect, text } =
    "deny" in rule ? effectOf("deny", rule.deny) : "ask" in rule ? effectOf("ask", rule.ask) : effectOf("allow", rule.allow);
  const { tool: written, pattern } = parseRule(text);
  // `edit` is also another agent's name for our Edit; in a rule it is the category, Write included.
  const tool = CATEGORIES.includes(written) ? written : canonicalTool(written);
  const name = wildcard(tool);
  const concerns = (call: EquivalentCall): boolean => {
    if (CATEGORIES.includes(tool)) return call.category === tool;
    if (name.matches(call.tool)) return true;
    const others = [...(call.wholeName === undefined ? [] : [call.wholeName]), ...(call.forbiddenAs ?? [])];
    return effect !== "allow" && others.some((other) => name.matches(other));
  };
  if (pattern === undefined) return { effect, text, concerns };
  const kind = takesPattern(tool) ? KINDS[tool] : "text";
  if (kind === "text" && effect === "allow") {
    throw malformed(text, `allows '${tool}' by a pattern, which is only understood for Bash, Read, Write, Edit, Glob, Grep and WebFetch`);
  }
  const compiled = await compilePattern(kind, pattern);
  if ("problem" in compiled) throw malformed(text, compiled.problem);
  return { effect, text, concerns, pattern: compiled };
}

function effectOf(effect: CompiledRule["effect"], text: string): Pick<CompiledRule, "effect" | "text"> {
  return { effect, text };
}

async function compilePattern(kind: Pattern["kind"] | undefined, pattern: string): Promise<Pattern | { problem: string }> {
  switch (kind) {
    case "command":
      return compileCommandPattern(pattern);
    case "path":
      return compilePathPattern(pattern);
    case "url":
      return compileUrlPattern(pattern);
    case "text":
    case undefined:
      return compileTextPattern(pattern);
    default:
      return kind satisfies never;
  }
}
