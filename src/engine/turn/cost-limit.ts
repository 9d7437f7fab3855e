/** The limit of a session's costs: it is held by the prices of the models, so a model without a known price is not asked under it. */
import { ParleyError } from "../../core/errors.js";
import { pricesOf } from "../models/prices.js";
import type { Turn } from "./turn.js";

/** Whether the session has cost as much as it may. */
export function isSpent({ config, session }: Turn): boolean {
  return config.maxCost !== undefined && session.events.spending.cost >= config.maxCost;
}

/** Whether the turn has a model call left. */
export function mayAsk(turn: Turn): boolean {
  return turn.budget.mayAsk && !isSpent(turn);
}

/** Throws for a model whose calls would cost an unknown amount under a limit. The rehearsal model costs nothing. */
export function refuseUnpriced({ config, model }: Turn): void {
  if (config.maxCost === undefined || model.provider === "rehearsal") return;
  if ((model.prices ?? pricesOf(model.id)) !== undefined) return;
  throw new ParleyError({
    code: "config",
    message: `maxCost is ${config.maxCost}, and the price of ${model.id} is not known; give its prices in the config (providers: NAME: models:), or leave maxCost out`,
    retryable: false,
    param: "maxCost",
  });
}
