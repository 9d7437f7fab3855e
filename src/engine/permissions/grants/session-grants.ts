/** The calls that may run unasked because the host said yes to more than one: for the session, and those that are kept for the workspace. */
import { messageOf } from "../../../core/errors.js";
import type { Category } from "../../../core/event.js";
import type { Answer } from "../../../core/op.js";
import type { KeptGrants } from "./kept-grants.js";
import type { PrefixGrant } from "./prefix-grants.js";
import type { RuledCall } from "../ruled-call.js";

/** A grant as people read and name it. */
export interface ListedGrant {
  rule: string;
  /** It holds in later sessions of the workspace, too. */
  isKept: boolean;
}

type GrantedCall = Pick<RuledCall, "tool" | "category"> & { grants: readonly string[] };

export class SessionGrants {
  readonly tools = new Set<string>();
  readonly categories = new Set<Category>();
  /** Rules of skills that the host has allowed for more than one call. */
  readonly ofSkills = new Set<string>();
  #prefixes: readonly PrefixGrant[] = [];
  #kept: readonly PrefixGrant[];
  readonly #keeper: KeptGrants | undefined;
  readonly #workspace: string;

  /** `kept` holds from an earlier session; without a keeper nothing is kept. */
  constructor(workspace = "", kept: readonly PrefixGrant[] = [], keeper?: KeptGrants) {
    this.#workspace = workspace;
    this.#kept = kept;
    this.#keeper = keeper;
  }

  /**
   * `prefix`: the cover that the question named for a yes of that kind. Returns why a yes cannot be kept for later sessions, where it was
   * meant to be; it holds for this session all the same.
   */
  async add(answer: Answer, call: GrantedCall, prefix?: PrefixGrant): Promise<string | undefined> {
    const { grant, keep } = answer;
    if (grant === "tool") this.tools.add(call.tool);
    if (grant === "category") this.categories.add(call.category);
    if (grant === "prefix" && prefix !== undefined) this.#prefixes = [...this.#prefixes, prefix];
    if (grant === "tool" || (grant === "prefix" && prefix !== undefined)) for (const rule of call.grants) this.ofSkills.add(rule);
    if (keep === undefined) return undefined;
    try {
      await this.#keep(grant === "prefix" ? prefix : undefined);
      return undefined;
    } catch (error) {
      return `This permission is not kept for later sessions: ${messageOf(error)}`;
    }
  }

  async #keep(prefix: PrefixGrant | undefined): Promise<void> {
    if (prefix === undefined) throw new Error("only what a question says that a yes covers can be kept");
    if (this.#keeper === undefined) throw new Error("this engine keeps none");
    await this.#keeper.add(this.#workspace, prefix);
    this.#prefixes = this.#prefixes.filter((each) => each !== prefix);
    this.#kept = [...this.#kept, prefix];
  }

  async cover(call: RuledCall): Promise<boolean> {
    const all = [...this.#kept, ...this.#prefixes];
    return all.length > 0 && (await (await import("./prefix-grants.js")).isCovered(call, all));
  }

  async list(): Promise<ListedGrant[]> {
    const { ruleOf } = await import("./grant-rule.js");
    const rules = (grants: readonly PrefixGrant[]): string[] => [...new Set(grants.map(({ covers }) => ruleOf(covers)))];
    const kept = rules(this.#kept);
    const ofSession = [...rules(this.#prefixes), ...this.tools, ...this.categories, ...this.ofSkills];
    return [
      ...kept.map((rule) => ({ rule, isKept: true })),
      ...[...new Set(ofSession)].filter((rule) => !kept.includes(rule)).map((rule) => ({ rule, isKept: false })),
    ];
  }

  /** Takes a grant back at once, in this session and for later ones. False when there is none of that text. */
  async takeBack(rule: string): Promise<boolean> {
    const listed = (await this.list()).find((grant) => grant.rule === rule);
    if (listed === undefined) return false;
    const { ruleOf } = await import("./grant-rule.js");
    const others = (grants: readonly PrefixGrant[]): PrefixGrant[] => grants.filter(({ covers }) => ruleOf(covers) !== rule);
    this.#kept = others(this.#kept);
    this.#prefixes = others(this.#prefixes);
    this.tools.delete(rule);
    this.ofSkills.delete(rule);
    for (const category of this.categories) if (category === rule) this.categories.delete(category);
    if (listed.isKept) await this.#keeper?.remove(rule, this.#workspace);
    return true;
  }
}
