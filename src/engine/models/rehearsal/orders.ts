/** Plain orders: turns the words of a person into an ordered list of steps. Pure; the same words always give the same steps. */
import { clausesOf } from "./clauses.js";
import { readSlots, type Situation } from "./slots.js";
import { markQuotes } from "./spans.js";
import type { Step } from "./step.js";
import { ORDERS } from "./order-table.js";

/** Unquoted words beyond this are a pasted document, not an order. */
const LONGEST = 20_000;

export function orders(text: string): Step[] {
  const marked = markQuotes(text.trim());
  marked.text = marked.text.slice(0, LONGEST);
  const steps: Step[] = [];
  let file: string | undefined;
  for (const clause of clausesOf(marked)) {
    const found = stepsOf(clause, { marked, steps, file }) ?? [{ do: "unknown", text: marked.raw(clause) }];
    steps.push(...found);
    file = found.flatMap(filesOf).at(-1) ?? file;
  }
  const asked = steps.filter((step) => step.do !== "greet");
  if (asked.length > 0) return asked;
  return steps.length > 0 ? steps : [{ do: "unknown", text }];
}

function stepsOf(clause: string, now: Situation): Step[] | undefined {
  for (const order of ORDERS) {
    const groups = order.form.exec(clause);
    const slots = groups === null ? undefined : readSlots(groups.groups ?? {}, now);
    const steps = slots === undefined ? undefined : order.steps(slots, now, clause);
    if (steps !== undefined) return [steps].flat();
  }
  return undefined;
}

function filesOf(step: Step): readonly string[] {
  if (step.do === "read") return step.files;
  return "file" in step ? [step.file] : [];
}

/** Whether at least one step was understood. */
export function understood(steps: readonly Step[]): boolean {
  return steps.some((step) => step.do !== "unknown");
}

export function describeOrders(): string {
  return (
    "I can read, write, append to, edit, copy, move and delete files; run commands; search for text and find files; keep a todo list; " +
    "fetch a URL; ask sub-agents; call any tool with JSON; think, say something, stream N pieces, count, wait; remember what you " +
    "tell me; and fail like a provider (rate limit, overloaded, a cut stream). " +
    "Put file names, contents and commands in quotes, and join orders with “then”."
  );
}
