/** Environment variables that bring a turn to an agent, in dialects whose process is one turn. */
import { programs } from "../../dialects/index.js";
import type { Env } from "../../settings/settings.js";

const NAMES: readonly string[] = [...new Set(programs.flatMap(({ program }) => program.turn?.variables ?? []))];

export function turnVariables(env: Env): Record<string, string> {
  return Object.fromEntries(NAMES.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])));
}

/** The environment of an agent that gets another turn than we did. */
export function withoutTurn(env: Env): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined || NAMES.includes(name) ? [] : [[name, value]])),
  );
}
