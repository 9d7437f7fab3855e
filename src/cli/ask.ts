/** The approval question at a terminal. */
import type { Interface } from "node:readline/promises";
import type { Call, EventOf } from "../core/event.js";
import type { Answer } from "../core/op.js";
import type { Screen } from "./screen.js";

/** Lines of a call's content that the question shows. */
const SHOWN_LINES = 20;

/** Asks for each call of a request. An empty answer is no. */
export async function askForApproval(event: EventOf<"approval.requested">, terminal: Interface, screen: Screen): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (const call of event.calls) {
    screen.line(`${screen.foreign(call.title ?? call.name)} needs your approval.`);
    showCall(call, screen);
    const question = `Allow? [y]es, [a]lways ${screen.foreign(call.name)} in this session, [n]o, or a reason why not: `;
    answers.push(read(call.id, await terminal.question(question)));
  }
  return answers;
}

/** What would be done, so that nobody has to say yes to a title. */
function showCall({ name, args = {} }: Call, screen: Screen): void {
  const { old_string: before, new_string: after, content, command } = args;
  if (name === "Edit" && typeof before === "string" && typeof after === "string")
    screen.diff(`${prefixed("-", before)}\n${prefixed("+", after)}`);
  else if (name === "Write" && typeof content === "string") screen.diff(prefixed("+", cut(content)));
  else if (typeof command === "string") screen.line(screen.foreign(prefixed("  $ ", command)));
  else screen.line(screen.foreign(prefixed("  ", cut(JSON.stringify(args, null, 2)))));
}

function cut(text: string): string {
  const lines = text.split("\n");
  if (lines.length <= SHOWN_LINES) return text;
  return [...lines.slice(0, SHOWN_LINES), `… ${lines.length - SHOWN_LINES} more lines`].join("\n");
}

function read(call: string, reply: string): Answer {
  const word = reply.trim();
  if (/^(y|yes)$/i.test(word)) return { call, decision: "allow" };
  if (/^(a|always)$/i.test(word)) return { call, decision: "allow", grant: "tool" };
  return { call, decision: "deny", reason: /^(n|no)?$/i.test(word) ? "the user said no" : word };
}

function prefixed(mark: string, text: string): string {
  return text
    .split("\n")
    .map((line) => `${mark}${line}`)
    .join("\n");
}
