/** One answer of the model: what stands in its way is mended, where that is possible, and the model is asked again. */
import { ParleyError } from "../../core/errors.js";
import { isOverflow, makeRoom, shrinkAfterOverflow, stillTooLong } from "./compaction/compaction.js";
import { refuseUnpriced } from "./cost-limit.js";
import { Exchange } from "./exchange.js";
import { dropImages, isImageRefusal } from "./attachments/refused-images.js";
import type { Response } from "./response.js";
import type { Turn } from "./turn.js";

export async function askModel(turn: Turn): Promise<Response> {
  turn.budget.ask();
  refuseUnpriced(turn);
  await makeRoom(turn);
  const trouble = new Trouble(turn);
  while (true) {
    const exchange = new Exchange(turn);
    try {
      await exchange.receive();
    } catch (error) {
      await exchange.end(error);
      if (turn.signal.aborted || !(await mended(trouble, exchange, error))) {
        exchange.keep();
        throw error;
      }
      await exchange.drop();
      // Another model may answer now.
      refuseUnpriced(turn);
      continue;
    }
    await exchange.end();
    return exchange.response;
  }
}

async function mended(trouble: Trouble, exchange: Exchange, error: unknown): Promise<boolean> {
  try {
    return await trouble.mend(error);
  } catch (failure) {
    exchange.keep();
    throw failure;
  }
}

/** Repairs a request that failed for good: shrinks a conversation that is too long, drops a refused image, changes to another model. */
class Trouble {
  readonly #turn: Turn;
  #shrunk = false;

  constructor(turn: Turn) {
    this.#turn = turn;
  }

  /** True when it makes sense to ask again. */
  async mend(error: unknown): Promise<boolean> {
    if (isOverflow(error)) {
      if (this.#shrunk) throw stillTooLong(error);
      this.#shrunk = await shrinkAfterOverflow(this.#turn);
      return this.#shrunk;
    }
    if (isImageRefusal(error)) return dropImages(this.#turn, error);
    return fallBack(this.#turn, error);
  }
}

/** The turn goes on with its next model, where there is one and another server may not fail in the same way. */
async function fallBack(turn: Turn, error: unknown): Promise<boolean> {
  if (!(error instanceof ParleyError) || error.fault.retryable !== true) return false;
  const { fault } = error;
  const index = turn.fallenBack;
  const next = turn.fallbacks[index];
  if (next === undefined) return false;
  const from = turn.model.id;
  turn.fallenBack++;
  turn.model = next;
  await turn.emit({
    type: "notice",
    level: "warning",
    kind: "model_fallback",
    text: `${from} cannot answer now (${fault.message}); ${next.id} answers in its place for the rest of the turn`,
    data: { from, to: next.id, index, ...(fault.status !== undefined && { status: fault.status }) },
  });
  return true;
}
