/** Judges calls: a call runs, is denied, or is asked about. Deny beats ask beats allow, in every mode. */
import type { Mode } from "../../core/config.js";
import { isForbidden, isUnbounded, runsConfined, runsUnasked } from "../../core/modes.js";
import type { PrefixGrant } from "./grants/prefix-grants.js";
import { SessionGrants } from "./grants/session-grants.js";
import type { CallPath } from "./path-pattern.js";
import type { Protected } from "./protection.js";
import { neededCalls, type RuledCall } from "./ruled-call.js";
import type { Hiding, Rules } from "./rules.js";
import { namesTool } from "./tool-lists.js";

/** The judgement of one call. `ask` carries the question. */
export type Verdict =
  | { decision: "allow" }
  | { decision: "deny"; reason: string }
  /** `grant`: the widest reach of a yes for more than this call. */
  | { decision: "ask"; message: string; grant?: PrefixGrant };

export interface JudgedCall extends RuledCall {
  title: string;
  /** The first path of the call that lies outside the workspace. */
  outside: string | undefined;
  /** The host runs the tool itself, and can refuse the call there. */
  hosted: boolean;
  /** Rules for the calls that run unasked once this call has run. */
  grants: readonly string[];
  /** The call runs in a sandbox. */
  confined?: boolean;
  /** The call needs this beyond the sandbox: it is asked about in every mode. */
  needs?: string | undefined;
  /** Only the host's own yes to this call lets it run. */
  asksAlways: boolean;
  /** The folder in which a command begins: absolute and real. */
  folder?: string;
}

/** The tools that run unasked by default. */
export const UNASKED: readonly string[] = ["Read", "Glob", "Grep", "BashOutput", "TodoWrite", "Skill"];

/** Whether a command, started in that folder, only reads files of the workspace. */
export type ReadsOnly = (command: string, folder: string | undefined, hides: Hiding | undefined) => Promise<boolean>;

/** Finds the protected files that a call touches (protection.ts). */
export interface FileGuard {
  /** A path of the call that is asked about in every mode. */
  always(call: RuledCall & { folder?: string }): Promise<Protected | undefined>;
  /** A path of an edit that is asked about in modes where edits run unasked. */
  edited(call: RuledCall): Promise<Protected | undefined>;
}

/** The session's standing permissions. */
export class Permissions {
  mode: Mode;
  approveTools: readonly string[];
  rules: Rules;
  /** Rules of skills: calls that run unasked until the turn ends. */
  forTurn: Rules[] = [];
  /** Limits of the turn's own list of tools. */
  turnLimits: Rules | undefined;
  readonly grants: SessionGrants;
  readonly #protection: FileGuard;
  readonly #readsOnly: ReadsOnly | undefined;

  /** Without `readsOnly`, commands that only read need an approval like others. */
  constructor(
    mode: Mode,
    approveTools: readonly string[],
    rules: Rules,
    protection: FileGuard,
    readsOnly?: ReadsOnly,
    grants = new SessionGrants(),
  ) {
    this.grants = grants;
    this.#protection = protection;
    this.#readsOnly = readsOnly;
    this.mode = mode;
    this.approveTools = approveTools;
    this.rules = rules;
  }

  async judge(call: JudgedCall): Promise<Verdict> {
    if ([call, ...neededCalls(call)].some(({ category }) => isForbidden(this.mode, category))) {
      return { decision: "deny", reason: `${this.mode} mode: ${call.tool} may change things, only read-only tools run` };
    }
    const limited = await this.turnLimits?.judge(call);
    const verdict = limited?.decision === "deny" ? limited : await this.rules.judge(call);
    if (verdict.decision === "deny") return { decision: "deny", reason: `denied by the rule ${verdict.rule ?? "of the config"}` };
    if (call.asksAlways) return ask(call);
    if (call.needs !== undefined) return ask(call, `it needs ${call.needs}`);
    const own = call.hosted ? undefined : await this.#protection.always(call);
    if (own !== undefined) return ask(call, `${reason(own)}; that is asked about in every mode`);
    if (verdict.decision === "ask") return ask(call, verdict.why ?? `the rule ${verdict.rule ?? "of the config"} asks`);
    if (verdict.decision === "allow" || isUnbounded(this.mode) || call.hosted) return { decision: "allow" };
    if (call.outside !== undefined) return ask(call, `${call.outside} lies outside the workspace`);
    const edited = await this.#protection.edited(call);
    if (edited !== undefined) return ask(call, reason(edited));
    const grants = call.grants.filter((rule) => !this.grants.ofSkills.has(rule));
    const lets = grants.length === 0 ? undefined : `lets ${grants.join(", ")} run unasked in this turn`;
    if (lets === undefined && (this.#confined(call) || this.#standing(call) || (await this.#granted(call)) || (await this.#reads(call))))
      return { decision: "allow" };
    const { grantFor } = await import("./grants/prefix-grants.js");
    const grant = await grantFor(call);
    return { ...ask(call, lets), ...(grant !== undefined && { grant }) };
  }

  /** The reason for which a file is not restored when the user undoes a turn; `always`: not even if the user insists. */
  async forbidsRestoring(place: CallPath): Promise<{ why: string; always: boolean } | undefined> {
    const write = { tool: "Write", category: "edit", args: { file_path: place.path }, paths: [place] } as const;
    const call: RuledCall = { ...write, equivalents: [{ ...write, forbiddenAs: ["Edit"] }] };
    const { decision, rule = "of the config" } = await this.rules.judge(call);
    if (decision === "deny") return { why: `denied by the rule ${rule}`, always: true };
    const own = await this.#protection.always(call);
    if (own !== undefined) return { why: reason(own), always: true };
    if (decision === "ask") return { why: `the rule ${rule} asks`, always: false };
    const edited = await this.#protection.edited(call);
    return edited && { why: reason(edited), always: false };
  }

  /** Tells which files a search by these tools must not show; undefined if no rule is about files. */
  hiding(tools: readonly string[]): Hiding | undefined {
    const all = [this.rules, this.turnLimits].flatMap((rules) => rules?.hiding(tools) ?? []);
    return all.length === 0 ? undefined : (file) => all.some((hides) => hides(file));
  }

  /** A skill allows the call in this turn, or the host's yes to another call covers it. */
  async #granted(call: JudgedCall): Promise<boolean> {
    if (await this.grants.cover(call)) return true;
    const verdicts = await Promise.all(this.forTurn.map((rules) => rules.judge(call)));
    return verdicts.some(({ decision }) => decision === "allow");
  }

  #confined({ confined, category }: JudgedCall): boolean {
    return confined === true && runsConfined(this.mode, category);
  }

  /** If the config or the wire names the tools that run unasked, only these do. */
  async #reads({ tool, args, folder }: JudgedCall): Promise<boolean> {
    const { command } = args;
    if (tool !== "Bash" || typeof command !== "string" || this.approveTools !== UNASKED) return false;
    return (await this.#readsOnly?.(command, folder, this.hiding(["Read", "Grep", "Glob"]))) ?? false;
  }

  /** A yes to a tool covers its edits, but not the removal of a file. */
  #standing(call: JudgedCall): boolean {
    const { tools, categories } = this.grants;
    return neededCalls(call).every(
      ({ tool, category }) =>
        runsUnasked(this.mode, category) ||
        this.approveTools.some((entry) => isName(entry) && namesTool(entry, tool)) ||
        tools.has(tool) ||
        (tools.has(call.tool) && category === call.category) ||
        categories.has(category),
    );
  }
}

/** A `Tool(pattern)` is a rule (tool-limits.ts) and does not approve the whole tool; an entry that is no tool name approves nothing. */
function isName(entry: string): boolean {
  return /^[^\s,()]+$/.test(entry);
}

function reason({ path, why }: Protected): string {
  return `${path} ${why}`;
}

function ask(call: JudgedCall, why?: string): Verdict & { decision: "ask" } {
  return { decision: "ask", message: why === undefined ? `Allow ${call.title}?` : `Allow ${call.title}? (${why})` };
}
