/** Plain orders: turns what a person wrote into an ordered list of steps. Pure; the same words always give the same steps. */
import { clausesOf, bare } from "./clauses.js";
import { EDIT_RULES, FILE_RULES, READ_RULES } from "./rules-files.js";
import { SEARCH_RULES } from "./rules-search.js";
import { FAIL_RULES, MEMORY_RULES, NO_ORDER_RULES, PACE_RULES, SAY_RULES, SMALL_TALK_RULES, THINK_RULES } from "./rules-talk.js";
import { BARE_COMMAND_RULES, CALL_RULES, FETCH_RULES, RUN_RULES, SPAWN_RULES, TODO_RULES, TOOL_RULES } from "./rules-tools.js";
import { pattern, type Rule, type Situation } from "./rule.js";
import { markQuotes } from "./spans.js";
import type { Step } from "./step.js";
import { filesIn, isPath } from "./words.js";

/** The first rule that can make something of a clause wins, so the narrow ones stand first. */
const RULES: readonly Rule[] = [
  ...NO_ORDER_RULES,
  ...CALL_RULES,
  ...TOOL_RULES,
  ...MEMORY_RULES,
  ...FAIL_RULES,
  ...PACE_RULES,
  ...THINK_RULES,
  ...TODO_RULES,
  ...SPAWN_RULES,
  ...FETCH_RULES,
  ...EDIT_RULES,
  ...FILE_RULES,
  ...RUN_RULES,
  ...SAY_RULES,
  ...SEARCH_RULES,
  ...READ_RULES,
  ...BARE_COMMAND_RULES,
  ...SMALL_TALK_RULES,
];

/** Unquoted words beyond this are a pasted document, not an order. */
const LONGEST = 20_000;

export function orders(text: string): Step[] {
  const marked = markQuotes(text.trim());
  marked.text = marked.text.slice(0, LONGEST);
  const whole = match(marked.text, { marked, steps: [], file: undefined }, SMALL_TALK_RULES.slice(0, 2));
  if (whole !== undefined) return whole;

  const steps: Step[] = [];
  let file: string | undefined;
  for (const clause of clausesOf(marked)) {
    const words = clause.replace(TOOL_FIRST, "").replace(GERUND, (_whole, verb: string) => GERUNDS[verb.toLowerCase()] ?? verb);
    const found = match(bare(words), { marked, steps, file }, RULES);
    steps.push(...(found ?? [{ do: "unknown", text: marked.raw(clause) }]));
    file = filesIn(marked, clause).findLast(isPath) ?? file;
  }
  const settled = settle(steps.some((step) => step.do !== "greet") ? steps.filter((step) => step.do !== "greet") : steps);
  return settled.length > 0 ? settled : [{ do: "unknown", text }];
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

/** "use Bash to run ls" is "run ls". */
const TOOL_FIRST = pattern`
  ^(?:use|using|with) (?:the |your )?(?:Read|Write|Edit|Bash|Glob|Grep|TodoWrite|WebFetch|\w+ tool)(?: tool)?\s*(?:to|and|,)\s+
`;

/** What a sub-agent is told when "reading a.txt" was delegated. */
const GERUNDS: Readonly<Record<string, string>> = {
  reading: "read",
  writing: "write",
  running: "run",
  searching: "search",
  listing: "list",
  counting: "count",
};
const GERUND = new RegExp(`^(${Object.keys(GERUNDS).join("|")})\\b`, "i");

function match(clause: string, situation: Situation, rules: readonly Rule[]): Step[] | undefined {
  for (const rule of rules) {
    const found = rule.when.exec(clause);
    const steps = found === null ? undefined : rule.steps(found, situation);
    if (steps !== undefined) return steps;
  }
  return undefined;
}

/** "write a poem and save it to poem.txt": what was to be written is all the content there is. */
function settle(steps: readonly Step[]): Step[] {
  const settled: Step[] = [];
  for (const step of steps) {
    const before = settled.at(-1);
    const refers = (step.do === "write" || step.do === "append") && typeof step.content !== "string";
    if (!refers || before === undefined) {
      settled.push(refers ? { ...step, content: "" } : step);
    } else if (before.do === "unknown") {
      settled[settled.length - 1] = { ...step, content: before.text.replace(/^\w+\s+/, "") };
    } else if (before.do === "say") {
      settled.push({ ...step, content: before.text });
    } else {
      settled.push(step);
    }
  }
  return settled;
}
