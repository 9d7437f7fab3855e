/** The model calls and tool calls that one agent may make in a turn. Sub-agents have shares of their parent's. */

/** The part of the calls left that stays for the parent when it spawns. */
const KEPT = 1 / 5;

export class Budget {
  readonly modelCalls: number;
  readonly toolCalls: number;
  /** It is a sub-agent's share. */
  readonly isShare: boolean;
  #asked = 0;
  #called = 0;
  /** Calls that each Spawn call of the latest answer may give away. */
  #round: { modelCalls: number; toolCalls: number } | undefined;

  constructor(modelCalls: number, toolCalls = Infinity, isShare = false) {
    this.modelCalls = modelCalls;
    this.toolCalls = toolCalls;
    this.isShare = isShare;
  }

  ask(): void {
    this.#asked++;
  }

  get mayAsk(): boolean {
    return this.#asked < this.modelCalls && !this.overdrawn;
  }

  /** Counts calls, and tells how many of them may run: the others are beyond the limit, and the turn ends behind them. */
  call(count: number): number {
    const left = Math.max(0, this.toolCalls - this.#called);
    this.#called += count;
    return Math.min(left, count);
  }

  /** More calls were asked for than may run. */
  get overdrawn(): boolean {
    return this.#called > this.toolCalls;
  }

  /** Divides the calls left, but for the fifth that is kept, among the Spawn calls of one answer. */
  beginRound(spawns: number): void {
    this.#round = {
      modelCalls: portion(this.modelCalls - this.#asked, spawns),
      toolCalls: portion(this.toolCalls - this.#called, spawns),
    };
  }

  /** Sets shares aside for the sub-agents of one Spawn call. */
  lend(count: number): Budget[] {
    if (this.#round === undefined) this.beginRound(1);
    const { modelCalls = 0, toolCalls = 0 } = this.#round ?? {};
    const shares = Array.from(
      { length: count },
      (_, nth) => new Budget(shareOf(modelCalls, count, nth), shareOf(toolCalls, count, nth), true),
    );
    for (const share of shares) {
      this.#asked += share.modelCalls;
      if (this.toolCalls !== Infinity) this.#called += share.toolCalls;
    }
    return shares;
  }

  /** Takes back the calls that sub-agents did not make. */
  takeBack(shares: readonly Budget[]): void {
    for (const share of shares) {
      this.#asked -= share.modelCalls - share.#asked;
      if (this.toolCalls !== Infinity) this.#called -= Math.max(0, share.toolCalls - share.#called);
    }
  }
}

function portion(left: number, parts: number): number {
  if (left === Infinity) return Infinity;
  const given = Math.max(0, left - Math.ceil(left * KEPT));
  return Math.floor(given / Math.max(1, parts));
}

/** The first shares are larger by one where the calls cannot be divided evenly. */
function shareOf(calls: number, count: number, nth: number): number {
  return calls === Infinity ? Infinity : Math.floor(calls / count) + (nth < calls % count ? 1 : 0);
}
