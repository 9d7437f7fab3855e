/**
 * The deny and ask rules of a user's config hold in every session: a host adds to them, and never takes from them. The config's allow rules
 * are another matter: a host that gives rules has its own in their place.
 */
import type { Rule, SessionConfig } from "../../core/config.js";

export type Bounds = Pick<SessionConfig, "rules" | "disallowedTools">;

/** The host's rules with the config's deny and ask rules beside them; nothing where the host gave nothing. */
export function boundedBy(configured: Bounds, given: Bounds): Bounds {
  const { rules, disallowedTools } = given;
  return {
    ...(rules !== undefined && { rules: distinct([...forbidding(configured.rules), ...rules]) }),
    ...(disallowedTools !== undefined && { disallowedTools: distinct([...(configured.disallowedTools ?? []), ...disallowedTools]) }),
  };
}

/** The bounds of a resumed session: the deny and ask rules of now and of then. Allow rules of then may have been taken back since. */
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
