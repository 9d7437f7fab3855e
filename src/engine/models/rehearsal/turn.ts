/** Reads a conversation the way the rehearsal model sees it: which order stands, what its calls brought, what was denied. */
import { plainText, type Part } from "../../../core/content.js";
import type { CallResult, Message } from "../model.js";
import { orders, understood } from "./orders.js";
import type { Step } from "./step.js";

export type UserMessage = Extract<Message, { role: "user" }>;

export interface Turn {
  steps: Step[];
  /** The results of this turn's responses that made calls, one entry a response. */
  batches: CallResult[][];
  /** Text that was steered in and is not answered yet. */
  noted: string | undefined;
  /** The messages before the order. */
  earlier: readonly Message[];
  order: UserMessage | undefined;
}

export function readTurn(messages: readonly Message[]): Turn {
  const last = messages.findLastIndex((message) => message.role === "user");
  const text = orderText(messages[last]);
  const steered = isStillOpen(messages[last - 1]);
  const noted = steered && !messages.slice(last).some((message) => message.role === "assistant") ? text : undefined;
  const steps = orders(text);
  if (!steered || understood(steps)) return turnAt(messages, last, steps, noted);
  const before = messages.slice(0, last).findLastIndex((message) => message.role === "user");
  return turnAt(messages, before, orders(orderText(messages[before])), noted);
}

/** Whether results wait for an answer: their turn goes on, unless it was interrupted there. */
function isStillOpen(message: Message | undefined): boolean {
  if (message?.role !== "tool") return false;
  return !message.results.some((result) => /^(Interrupted by the user|The process ended)/.test(plainText(result.parts)));
}

function turnAt(messages: readonly Message[], index: number, steps: Step[], noted: string | undefined): Turn {
  const order = messages[index];
  return {
    steps,
    batches: batchesOf(messages.slice(index + 1)),
    noted,
    earlier: messages.slice(0, Math.max(index, 0)),
    order: order?.role === "user" ? order : undefined,
  };
}

function batchesOf(messages: readonly Message[]): CallResult[][] {
  const results = new Map(
    messages.flatMap((message) => (message.role === "tool" ? message.results : [])).map((result) => [result.call, result]),
  );
  return messages
    .map((message) => (message.role === "assistant" ? message.blocks.flatMap((block) => (block.type === "call" ? [block.call] : [])) : []))
    .filter((calls) => calls.length > 0)
    .map((calls) => calls.map((call) => results.get(call.id) ?? { call: call.id, name: call.name, parts: [], failed: true }));
}

/** Context that a host or the engine puts beside the prompt, in tags: it is known, but it is no order. */
export const CONTEXT =
  /<((?:[\w-]*[_-])?(?:context|seed|reminder|environment|history|background|instructions))\b[^>]*>\s*([\s\S]*?)\s*<\/\1>/gi;

/** The words of a message that are an order: of several texts the last that can be understood, else all of them. */
export function orderText(message: Message | undefined): string {
  if (message?.role !== "user") return "";
  const texts = message.parts
    .flatMap((part) => (part.type === "text" ? [part.text.replace(CONTEXT, "").trim()] : []))
    .filter((text) => text !== "");
  if (texts.length < 2) return texts[0] ?? "";
  return texts.findLast((text) => understood(orders(text))) ?? texts.join("\n");
}

export function attachments(message: UserMessage | undefined): Exclude<Part, { type: "text" }>[] {
  return (message?.parts ?? []).flatMap((part) => (part.type === "text" ? [] : [part]));
}

/** The text of a result without its tool's line numbers, exit codes and headings; of a failed one as it is. */
export function resultText(result: CallResult): string {
  const text = plainText(result.parts.filter((part) => part.type !== "diff"));
  if (result.failed) return text;
  switch (result.name) {
    case "Read":
      return withoutNumbers(text);
    case "Bash":
      return text
        .replace(/^Exit code: 0\n?/, "")
        .replace(/^STDOUT:\n|^STDERR:\n/, "")
        .replace("\nSTDERR:\n", "\n");
    case "Spawn":
      return (text.match(/^## /gm) ?? []).length === 1 ? text.replace(/^## .*\n/, "") : text;
    default:
      return text;
  }
}

/** Lines without a number are Read's own remarks. */
function withoutNumbers(text: string): string {
  const numbered = text.match(/^ *\d+\t.*$/gm);
  if (numbered === null) return /^\(.* is empty\)$/.test(text) ? "" : text;
  return numbered.map((line) => line.replace(/^ *\d+\t/, "")).join("\n");
}

const DENIED =
  /^(?:(?:the |this )?(?:tool )?(?:call |request |user |host |it )?(?:was |is |has been |has )?(?:denied|rejected|declined|not approved|not allowed)\b|permission to use \S+ (?:was |has been )?denied\b|approval timed out)/i;

/** Why it was denied, or undefined when it was not. */
export function denial(result: CallResult): string | undefined {
  if (!result.failed) return undefined;
  const text = plainText(result.parts).trim();
  const match = DENIED.exec(text);
  if (match === null) return undefined;
  if (/^approval/i.test(match[0])) return text.replace(/\.$/, "");
  const reason = text.slice(match[0].length).replace(/^\s*(?:(?:this|the) (?:tool )?call|by the (?:user|host|policy))?\s*[:.,;-]?\s*/i, "");
  return reason.replace(/\.$/, "");
}
