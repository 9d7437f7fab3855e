/** Measures a conversation and cuts it, never between a call and its result. Pure; the messages that stay are the same objects. */
import { plainText, textPart, type Part } from "../../../core/content.js";
import type { CallResult, Message, UserMessage } from "../../models/model.js";
import { capText } from "../../workspace/output.js";

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

/**
 * Clears results and images of long ago, the oldest first, until the conversation weighs no more than `tokens` or only the newest are left.
 * Cleared results stay cleared, and a todo list stays.
 */
export function trimmed(messages: readonly Message[], tokens: number): Message[] {
  const kept = messages.flatMap(({ role }, at) => (role === "tool" ? [at] : [])).at(-KEPT_RESULTS) ?? 0;
  let excess = estimate(messages) - tokens;
  const clear = <T extends Part | CallResult>(item: T, lean: T, parts: (item: T) => readonly Part[]): T => {
    excess -= weighParts(parts(item)) - weighParts(parts(lean));
    return lean;
  };
  return messages.map((message, at): Message => {
    if (excess <= 0 || at >= kept) return message;
    switch (message.role) {
      case "tool": {
        const results = message.results.map((result) =>
          excess > 0 && isWorthClearing(result) ? clear(result, cleared(result), (one) => one.parts) : result,
        );
        return results.every((result, nth) => result === message.results[nth]) ? message : { ...message, results };
      }
      case "user": {
        if (!message.parts.some(isImage)) return message;
        const note: Part = textPart(IMAGE_CLEARED);
        return {
          ...message,
          parts: message.parts.map((part) => (excess > 0 && isImage(part) ? clear<Part>(part, note, (one) => [one]) : part)),
        };
      }
      case "assistant":
        return message;
      default:
        return message satisfies never;
    }
  });
}

/** A user message with at most this weight: its images go first, then the middle of its text. */
export function fitted(message: UserMessage, tokens: number): UserMessage {
  if (weigh(message) <= tokens) return message;
  const parts = message.parts.map((part) => (isImage(part) ? textPart(IMAGE_CLEARED) : part));
  const worded = { ...message, parts };
  if (weigh(worded) <= tokens) return worded;
  return { ...message, parts: [textPart(capText(plainText(parts), tokens * CHARS_PER_TOKEN))] };
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
  const images = parts.filter(isImage).length;
  return images * IMAGE_TOKENS + tokensOf(plainText(parts.filter((part) => part.type !== "diff")));
}

function isWorthClearing({ parts }: CallResult): boolean {
  if (parts.some(({ type }) => type === "todo")) return false;
  return parts.some(isImage) || plainText(parts).length >= CLEARED_FROM;
}

function cleared(result: CallResult): CallResult {
  return { ...result, parts: [textPart(RESULT_CLEARED)] };
}

function isImage({ type }: Part): boolean {
  return type === "image";
}
