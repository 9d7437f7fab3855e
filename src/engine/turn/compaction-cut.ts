/** Measures a conversation and cuts it, never between a call and its result. Pure; the messages that stay are the same objects. */
import { plainText, type Part } from "../../core/content.js";
import type { CallResult, Message } from "../models/model.js";

/** Tool messages that keep their results. */
const KEPT_RESULTS = 3;
/** A result that is shorter than this is not worth clearing. */
const CLEARED_FROM = 200;
const CHARS_PER_TOKEN = 4;
/** About the tokens that vendors count for a large image; its bytes say nothing. */
const IMAGE_TOKENS = 1500;

const RESULT_CLEARED = "[Tool result cleared to make room]";
const IMAGE_CLEARED = "[Image cleared to make room]";

/** Tokens, roughly. */
export function estimate(messages: readonly Message[]): number {
  return messages.reduce((sum, message) => sum + weigh(message), 0);
}

export function tokensOf(text: string): number {
  return Math.ceil(text.length / CHARS_PER_TOKEN);
}

/** The same conversation without the results and images of long ago. Cleared results stay cleared, and a todo list stays. */
export function trimmed(messages: readonly Message[]): Message[] {
  const kept = messages.flatMap(({ role }, at) => (role === "tool" ? [at] : [])).at(-KEPT_RESULTS) ?? 0;
  return messages.map((message, at) => {
    if (at >= kept || message.role === "assistant") return message;
    return message.role === "tool" ? clearedResults(message) : clearedImages(message);
  });
}

/** The beginning of the newest part that weighs no more than `tokens`. The last message is always in it, with the calls that it answers. */
export function tailStart(messages: readonly Message[], tokens: number): number {
  let start = messages.length;
  let sum = 0;
  for (let at = messages.length - 1; at >= 0; at--) {
    const message = messages[at];
    if (message === undefined) break;
    sum += weigh(message);
    if (sum > tokens && start < messages.length) break;
    if (message.role !== "tool") start = at;
  }
  return start;
}

function weigh(message: Message): number {
  switch (message.role) {
    case "user":
      return weighParts(message.parts);
    case "tool":
      return message.results.reduce((sum, { parts }) => sum + weighParts(parts), 0);
    case "assistant":
      return message.blocks.reduce((sum, block) => {
        return sum + tokensOf(block.type === "call" ? (block.call.raw ?? JSON.stringify(block.call.args)) : block.text);
      }, 0);
    default:
      return message satisfies never;
  }
}

/** A diff is for people; the model does not get it. */
function weighParts(parts: readonly Part[]): number {
  const images = parts.filter((part) => part.type === "image").length;
  return images * IMAGE_TOKENS + tokensOf(plainText(parts.filter((part) => part.type !== "diff")));
}

function clearedResults(message: Extract<Message, { role: "tool" }>): Message {
  const results = message.results.map((result) => (isWorthClearing(result) ? cleared(result) : result));
  return results.every((result, at) => result === message.results[at]) ? message : { ...message, results };
}

function isWorthClearing({ parts }: CallResult): boolean {
  if (parts.some(({ type }) => type === "todo")) return false;
  return parts.some(({ type }) => type === "image") || plainText(parts).length >= CLEARED_FROM;
}

function cleared(result: CallResult): CallResult {
  return { ...result, parts: [{ type: "text", text: RESULT_CLEARED }] };
}

function clearedImages(message: Extract<Message, { role: "user" }>): Message {
  if (!message.parts.some(({ type }) => type === "image")) return message;
  return { ...message, parts: message.parts.map((part) => (part.type === "image" ? { type: "text", text: IMAGE_CLEARED } : part)) };
}
