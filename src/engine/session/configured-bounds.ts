/**
 * The deny and ask rules of a user's config hold in every session: a host can add rules, and never remove these. The config's allow rules
 * are only a default: a host's rules replace them.
 */
import type { Rule, SessionConfig } from "../../core/config.js";

export type Bounds = Pick<SessionConfig, "rules" | "disallowedTools">;

/** The host's rules together with the config's deny and ask rules; undefined if the host gives none. */
export function boundedBy(configured: Bounds, given: Bounds): Bounds {
  const { rules, disallowedTools } = given;
  return {
    ...(rules !== undefined && { rules: distinct([...forbidding(configured.rules), ...rules]) }),
    ...(disallowedTools !== undefined && { disallowedTools: distinct([...(configured.disallowedTools ?? []), ...disallowedTools]) }),
  };
}

/** The bounds of a resumed session: its stored deny and ask rules and the present ones. Stored allow rules are dropped: they may be withdrawn. */
export function boundsGoingOn(configured: Bounds, before: Bounds): Bounds {
  const rules = distinct([...(configured.rules ?? []), ...forbidding(before.rules)]);
  const disallowedTools = distinct([...(configured.disallowedTools ?? []), ...(before.disallowedTools ?? [])]);
  return { ...(rules.length > 0 && { rules }), ...(disallowedTools.length > 0 && { disallowedTools }) };
}

function forbidding(rules: readonly Rule[] = []): Rule[] {
  return rules.filter((rule) => !("allow" in rule));
}

function distinct<T>(items: readonly T[]): T[] {
  return [...new Map(items.map((item) => [JSON.stringify(item), item])).values()];
}
