/**
 * History repair: makes a conversation acceptable to a vendor, whatever happened to it (a crash, an interrupt, a change of
 * provider). Every call has its result right after it, every result has its call, nothing is empty, and the roles alternate.
 */
import { plainText, textPart, type Part } from "../../../core/content.js";
import type { AssistantBlock, CallResult, Message, ModelCall } from "../model.js";

type ToolMessage = Extract<Message, { role: "tool" }>;

export interface Taste {
  /** Whether a block of thinking may be sent back: vendors refuse each other's. */
  takesThinking(block: Extract<AssistantBlock, { type: "thinking" }>): boolean;
  /** Whether an image may be in a tool result; otherwise it follows in a user message. */
  imagesInResults: boolean;
}

/** Most of a conversation needs no repair, and all of it passes here with every request: that part costs little. */
export function repair(messages: readonly Message[], taste: Taste): readonly Message[] {
  if (isPlainTalk(messages)) return messages;
  const told: Message[] = [];
  for (const message of messages) {
    const kept = isPlain(message) ? message : withoutEmpty(message, taste);
    if (!isEmpty(kept)) told.push(kept);
  }
  const repaired: Message[] = [];
  for (let at = 0; at < told.length; at++) {
    const message = told[at];
    // Tool messages come with the calls that they answer: a result without a call is dropped.
    if (message === undefined || message.role === "tool") continue;
    join(repaired, message);
    if (isPlain(message) || message.role === "user" || !message.blocks.some(isCall)) continue;
    const results = resultsOf(message.blocks, told, at);
    if (taste.imagesInResults) repaired.push(results);
    else repaired.push(...imagesBehind(results));
  }
  return fromFirstToLast(repaired);
}

/** Results without anything to repair. */
const plain = new WeakSet<Message>();

/** The message has text, and nothing to drop or to answer. */
function isPlain(message: Message): boolean {
  if (plain.has(message)) return true;
  if (message.role === "tool" || isEmpty(message)) return false;
  const isSuch =
    message.role === "user"
      ? !message.parts.some(isEmptyPart)
      : message.blocks.every((block) => block.type === "text" && isSaid(block.text));
  if (isSuch) plain.add(message);
  return isSuch;
}

/** Question and answer alternate from the first message to the last. */
function isPlainTalk(messages: readonly Message[]): boolean {
  for (let at = 0; at < messages.length; at++) {
    const message = messages[at];
    if (message === undefined || message.role !== (at % 2 === 0 ? "user" : "assistant") || !isPlain(message)) return false;
  }
  return messages.length % 2 === 1;
}

// --- nothing empty ---

/** An unchanged message stays the same object, so that its conversion can be reused. */
function withoutEmpty(message: Message, { takesThinking }: Taste): Message {
  if (message.role === "tool") return message;
  if (message.role === "user") return { role: "user", parts: message.parts.filter((part) => !isEmptyPart(part)) };
  const isTold = (block: AssistantBlock): boolean => {
    if (block.type === "call") return true;
    return block.type === "text" ? isSaid(block.text) : takesThinking(block);
  };
  if (message.blocks.every(isTold) && message.blocks.at(-1)?.type !== "thinking") return message;
  const blocks = message.blocks.filter(isTold);
  // Thinking at the end of a message, without a text or call after it, is refused.
  const end = blocks.findLastIndex((block) => block.type !== "thinking") + 1;
  return { role: "assistant", blocks: blocks.slice(0, end) };
}

function isEmptyPart(part: Part): boolean {
  return part.type !== "image" && !isSaid(part.type === "text" ? part.text : plainText([part]));
}

function isSaid(text: string): boolean {
  return isVisible(text.charCodeAt(0)) || /\S/.test(text);
}

/** A visible character of ASCII. */
function isVisible(code: number): boolean {
  return code > 0x20 && code < 0x7f;
}

function isEmpty(message: Message): boolean {
  if (message.role === "user") return message.parts.length === 0;
  return message.role === "assistant" ? message.blocks.length === 0 : message.results.length === 0;
}

// --- calls and results ---

function isCall(block: AssistantBlock): boolean {
  return block.type === "call";
}

/** One result for each call of the message at that place. */
function resultsOf(blocks: readonly AssistantBlock[], all: readonly Message[], at: number): ToolMessage {
  const calls = blocks.flatMap((block) => (block.type === "call" ? [block.call] : []));
  const found = resultsBehind(all, at);
  const results = calls.map((call) => found.get(call.id) ?? unfinished(call));
  const next = all[at + 1];
  const isWhole =
    next?.role === "tool" && next.results.length === results.length && next.results.every((result, i) => result === results[i]);
  return isWhole ? next : { role: "tool", results };
}

/** The results before the model's next message. */
function resultsBehind(all: readonly Message[], at: number): Map<string, CallResult> {
  const found = new Map<string, CallResult>();
  for (let next = at + 1; next < all.length; next++) {
    const message = all[next];
    if (message === undefined || message.role === "assistant") break;
    if (message.role === "tool") for (const result of message.results) found.set(result.call, result);
  }
  return found;
}

function unfinished(call: ModelCall): CallResult {
  const text = `The call of ${call.name} was cut off; whether it took effect is unknown`;
  return { call: call.id, name: call.name, parts: [textPart(text)], failed: true };
}

/** For wires with text-only tool results: images follow in a user message. */
function imagesBehind(message: ToolMessage): Message[] {
  const images = message.results.flatMap((result) => {
    const own = result.parts.filter((part) => part.type === "image");
    return own.length === 0 ? [] : [textPart(`What ${result.name} (${result.call}) returned as an image:`), ...own];
  });
  if (images.length === 0) return [message];
  const plain: ToolMessage = { role: "tool", results: message.results.map(withoutImages) };
  return [plain, { role: "user", parts: images }];
}

function withoutImages(result: CallResult): CallResult {
  const rest = result.parts.filter((part) => part.type !== "image");
  if (rest.length === result.parts.length) return result;
  return { ...result, parts: plainText(rest) === "" ? [textPart("The image follows in the next message.")] : rest };
}

// --- whose turn ---

/** Adjacent messages of one role become one. */
function join(messages: Message[], message: Message): void {
  const last = messages[messages.length - 1];
  if (last?.role === "user" && message.role === "user") messages.splice(-1, 1, { role: "user", parts: [...last.parts, ...message.parts] });
  else if (last?.role === "assistant" && message.role === "assistant")
    messages.splice(-1, 1, { role: "assistant", blocks: [...last.blocks, ...message.blocks] });
  else messages.push(message);
}

/** The conversation begins and ends with the user. */
function fromFirstToLast(messages: Message[]): Message[] {
  if (messages[0]?.role === "assistant") messages.unshift(says("(The conversation begins here.)"));
  const last = messages.at(-1)?.role;
  if (last === undefined || last === "assistant") messages.push(says("Continue."));
  return messages;
}

function says(text: string): Message {
  return { role: "user", parts: [textPart(text)] };
}
