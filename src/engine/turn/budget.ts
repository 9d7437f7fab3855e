/** What one turn may use of model calls and tool calls. A sub-agent draws on its parent's. */
export class Budget {
  readonly modelCalls: number;
  readonly toolCalls: number;
  #asked = 0;
  #called = 0;

  constructor(modelCalls: number, toolCalls = Infinity) {
    this.modelCalls = modelCalls;
    this.toolCalls = toolCalls;
  }

  ask(): void {
    this.#asked++;
  }

  get mayAsk(): boolean {
    return this.#asked < this.modelCalls && !this.overdrawn;
  }

  /** How many of so many calls may run; the others are beyond the limit, and the turn ends behind them. */
  call(count: number): number {
    const left = Math.max(0, this.toolCalls - this.#called);
    this.#called += count;
    return Math.min(left, count);
  }

  /** More calls were asked for than may run. */
  get overdrawn(): boolean {
    return this.#called > this.toolCalls;
  }
}
