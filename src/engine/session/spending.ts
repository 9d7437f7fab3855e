/** The tokens that a session used since it was opened, of its own agent and of sub-agents, and their cost. */
import type { EventOf, Usage } from "../../core/event.js";
import { addUsage } from "../../core/usage.js";

export class Spending {
  usage: Usage | undefined;
  /** US dollars, of the calls with a known price. */
  cost = 0;
  /** Model calls, and those with a known price. */
  calls = 0;
  priced = 0;

  add({ usage, cost }: EventOf<"usage">): void {
    this.usage = addUsage(this.usage, usage);
    this.calls++;
    if (cost === undefined) return;
    this.cost += cost;
    this.priced++;
  }
}
