/**
 * The keys of a session's config, and the loss if a wire cannot say one. A restricting key is never dropped in silence: without it
 * the agent may do more than the host asked for.
 */
import type { SessionConfig } from "./config.js";

/**
 * - `wish`: the agent works differently, but does no more than asked; its host is told.
 * - `bound`: the session may run longer or reach further; the link refuses to open it.
 * - `restriction`: the agent may do more than asked; the session is refused. `word` is the coverage's word for it, if it
 * differs from the key.
 * - `kept`: nothing is lost; the link does the work itself.
 */
type Loss = "wish" | "bound" | "kept" | { restriction: string; word?: string };

type Values = Required<SessionConfig>;
type LossByValue = { readonly [K in keyof Values]: (value: Values[K]) => Loss };

const wish = (): Loss => "wish";
const bound = (): Loss => "bound";
const kept = (): Loss => "kept";

/** Restrictions are named to the host in this order. */
const KEYS: LossByValue = {
  rules: (rules) => (rules.some((rule) => !("allow" in rule)) ? { restriction: "deny and ask rules" } : "wish"),
  workspace: (workspace) => (Object.values(workspace).includes("host") ? { restriction: "a workspace of the host" } : "kept"),
  mode: (mode) => (mode === "plan" ? { restriction: "plan mode", word: "plan" } : mode === "default" ? "kept" : "wish"),
  allowedTools: () => ({ restriction: "allowedTools" }),
  disallowedTools: () => ({ restriction: "disallowedTools" }),
  directories: bound,
  maxTurns: bound,
  maxToolCalls: bound,
  maxSeconds: bound,
  maxCost: bound,
  nesting: bound,
  // The link keeps the deadlines of approvals; deltas come whether the host asks for them or not.
  answerSeconds: kept,
  streaming: kept,
  // A different agent than the requested one may do anything.
  agent: bound,
  labels: bound,
  provider: wish,
  model: wish,
  fallbackModels: wish,
  thinking: wish,
  thinkingBudget: wish,
  effort: wish,
  maxTokens: wish,
  temperature: wish,
  topP: wish,
  topK: wish,
  stop: wish,
  cwd: wish,
  policy: wish,
  system: wish,
  appendSystem: wish,
  approveTools: wish,
  hostTools: wish,
  mcpServers: wish,
  subagents: wish,
  hostHooks: wish,
  contextLimit: wish,
  outputCompaction: wish,
  images: wish,
};

export interface UnsaidKeys {
  restrictions: string[];
  bounds: string[];
  wishes: string[];
}

/** Sorts the keys that a wire cannot say by their loss. */
export function unsaidKeys(config: SessionConfig, isSaid: (word: string) => boolean): UnsaidKeys {
  const unsaid: UnsaidKeys = { restrictions: [], bounds: [], wishes: [] };
  for (const key of Object.keys(KEYS).filter(isKey)) {
    const loss = lossOf(key, config);
    if (loss === undefined || loss === "kept" || loss === "wish") continue;
    if (loss === "bound") {
      if (!isSaid(key)) unsaid.bounds.push(key);
    } else if (!isSaid(loss.word ?? key)) unsaid.restrictions.push(loss.restriction);
  }
  // Wishes keep the order of the host's config. An unknown key of a later vocabulary is a wish.
  for (const [key, value] of Object.entries(config)) {
    if (value === undefined || isSaid(key)) continue;
    if (!isKey(key) || lossOf(key, config) === "wish") unsaid.wishes.push(key);
  }
  return unsaid;
}

function isKey(key: string): key is keyof Values {
  return Object.hasOwn(KEYS, key);
}

function lossOf<K extends keyof Values>(key: K, config: { readonly [P in K]?: Values[P] }): Loss | undefined {
  const value: Values[K] | undefined = config[key];
  return value === undefined ? undefined : KEYS[key](value);
}
