/** Refuses configs with meaningless bounds, and with requests that this engine cannot fulfil. */
import type { SessionConfig } from "../../core/config.js";
import { ParleyError } from "../../core/errors.js";

/** The most levels of sub-agents; each level multiplies the work that one prompt can start. */
const MOST_LEVELS = 100;

/** Throws a `config` fault that names the setting. */
export function checkLimits({ maxToolCalls, maxSeconds, maxCost, nesting }: SessionConfig): void {
  if (maxToolCalls !== undefined && !isWhole(maxToolCalls)) throw wrong("maxToolCalls", maxToolCalls, "a whole number from 0");
  if (maxSeconds !== undefined && !(maxSeconds > 0)) throw wrong("maxSeconds", maxSeconds, "a number of seconds above 0");
  if (maxCost !== undefined && !(maxCost > 0)) throw wrong("maxCost", maxCost, "an amount of US dollars above 0");
  if (nesting !== undefined && !(isWhole(nesting) && nesting <= MOST_LEVELS))
    throw wrong("nesting", nesting, `a whole number from 0 to ${MOST_LEVELS}`);
}

function isWhole(value: number): boolean {
  return Number.isInteger(value) && value >= 0;
}

function wrong(param: string, value: number, wanted: string): ParleyError {
  return new ParleyError({ code: "config", message: `${param} is ${value}; it must be ${wanted}`, retryable: false, param });
}

/** Throws if the host sets keys that only a hub, or only extensions, can serve. */
export function refuseUnsupported(config: SessionConfig, has: { hub: boolean; extensions: boolean }): void {
  const chosen = (["agent", "labels"] as const).find((key) => config[key] !== undefined);
  if (chosen !== undefined && !has.hub) {
    const message = `Only a hub chooses by ${chosen}: open the session there (parley hub)`;
    throw new ParleyError({ code: "unsupported", message, retryable: false, param: chosen });
  }
  if (has.extensions) return;
  const brought = (["mcpServers", "hostHooks", "subagents"] as const).find((key) => Object.keys(config[key] ?? {}).length > 0);
  if (brought === undefined) return;
  throw new ParleyError({
    code: "unsupported",
    message: `This engine was made without extensions, so it cannot use ${brought}; createEngine({ extensions }) brings them`,
    retryable: false,
    param: brought,
  });
}
