/** The environment of an agent: a small base, the profile's variables, and the protocol's. */
import { firstFew } from "../../core/text/truncate-list.js";
import { ENV_NAMES } from "../protocol.js";
import type { Profile } from "../profile/profile.js";
import { expandValue, type Placeholders } from "../profile/expand.js";

/** An environment: variables by name. */
export type Env = Readonly<Record<string, string | undefined>>;

/** Variables that programs need to run; none is a secret. */
const INFRA: ReadonlySet<string> = new Set(
  (
    "PATH HOME USER LOGNAME SHELL LANG LC_ALL LC_CTYPE LC_MESSAGES TERM TMPDIR TZ PWD SYSTEMROOT WINDIR COMSPEC PATHEXT TEMP TMP " +
    "USERPROFILE APPDATA LOCALAPPDATA PROGRAMDATA PROGRAMFILES HOMEDRIVE HOMEPATH"
  ).split(" "),
);

/** Only the protocol sets these variables, on every wire. */
const PROTOCOL: ReadonlySet<string> = new Set(ENV_NAMES);

export interface ChildEnvironment {
  env: Record<string, string>;
  warnings: string[];
}

/** `env` is the bridge's own environment. */
export function childEnvironment(profile: Profile, env: Env, values: Placeholders, cwd: string): ChildEnvironment {
  const withheld = new Set<string>();
  const allowed = profile.envAllowlist === undefined ? undefined : new Set(profile.envAllowlist);
  const variable = (name: string): string => {
    if (allowed === undefined || allowed.has(name)) return env[name] ?? "";
    withheld.add(name);
    return "";
  };
  const own = Object.entries(profile.env).map(([name, template]) => [name, expandValue(template, values, variable)] as const);
  const made = Object.fromEntries([...base(profile, env, cwd), ...own].filter(([name]) => !PROTOCOL.has(name)));
  const warnings = firstFew(
    [...withheld],
    (name) => `\${${name}} is empty for the agent: env_allowlist does not name it`,
    (count) => `${count} more variables are empty for the agent: env_allowlist does not name them`,
  );
  return { env: made, warnings };
}

function base(profile: Profile, env: Env, cwd: string): [string, string][] {
  return Object.entries(env).flatMap(([name, value]): [string, string][] => {
    if (value === undefined || (profile.envInherit === "minimal" && !INFRA.has(name.toUpperCase()))) return [];
    return [[name, name === "PWD" ? cwd : value]];
  });
}
