/** The approval question at a terminal. */
import type { Interface } from "node:readline/promises";
import type { EventOf } from "../core/event.js";
import type { Answer } from "../core/op.js";
import type { Screen } from "./screen.js";

/** Asks for each call of a request. An empty answer is no. */
export async function askForApproval(event: EventOf<"approval.requested">, terminal: Interface, screen: Screen): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (const call of event.calls) {
    const { args = {} } = call;
    screen.line(`${call.title ?? call.name} needs your approval.`);
    if (call.name === "Edit" && typeof args["old_string"] === "string" && typeof args["new_string"] === "string") {
      screen.diff(`${prefixed("-", args["old_string"])}\n${prefixed("+", args["new_string"])}`);
    } else if (typeof args["command"] === "string") {
      screen.line(`  $ ${args["command"]}`);
    }
    answers.push(read(call.id, await terminal.question("Allow? [y]es, [a]lways, [n]o, or a reason why not: ")));
  }
  return answers;
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
