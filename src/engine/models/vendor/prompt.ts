/** Converts our conversation to the form of the provider packages. */
import type {
  LanguageModelV3Message,
  LanguageModelV3Prompt,
  LanguageModelV3ToolResultPart,
  SharedV3ProviderMetadata,
  SharedV3ProviderOptions,
} from "@ai-sdk/provider";
import { plainText, type Part, type PartOf } from "../../../core/content.js";
import { digest } from "../../../os/digest.js";
import type { AssistantBlock, CallResult, Message } from "../model.js";
import { fitImage } from "./fit-image.js";
import { repair } from "./history.js";
import { ownMeta, type Origin } from "./meta.js";
import { wellFormedValue } from "./well-formed.js";
import type { Wire } from "../wires/wire.js";

type UserContent = Extract<LanguageModelV3Message, { role: "user" }>["content"];
type AssistantContent = Extract<LanguageModelV3Message, { role: "assistant" }>["content"];
export type Target = Origin & {
  wire: Wire;
  /** Converted messages: a conversation is sent with each request, and its messages do not change. */
  known: WeakMap<Message, LanguageModelV3Message>;
};

/** Anthropic takes four marks: the system prompt, the last tool, and these. */
const MARKED_MESSAGES = 2;

export function toPrompt(system: string, messages: readonly Message[], target: Target): LanguageModelV3Prompt {
  const { wire } = target;
  const latest = messages.slice(messages.findLastIndex((message) => message.role === "user"));
  const told = repair(messages, {
    takesThinking: (block) => takesThinking(block, target, latest),
    imagesInResults: wire.imagesInResults,
  });
  const talk = told.map((message) => knownMessage(message, target));
  const mark = wire.cacheMark;
  const roles = wire.noMarkOnResults === true ? ["user"] : ["user", "tool"];
  const first =
    system === ""
      ? []
      : [{ role: "system" as const, content: system.toWellFormed(), ...(mark !== undefined && { providerOptions: mark }) }];
  return [...first, ...(mark === undefined ? talk : marked(talk, mark, roles))];
}

function takesThinking(block: Extract<AssistantBlock, { type: "thinking" }>, target: Target, latest: readonly Message[]): boolean {
  const own = ownMeta(block.meta, target);
  if (own === undefined) return false;
  return target.wire.takesThinking(
    own,
    latest.some((message) => message.role === "assistant" && message.blocks.includes(block)),
  );
}

/** Whether the model's turn has begun, and without thinking that goes back to it. */
export function beginsWithoutThinking(messages: readonly Message[], target: Target): boolean {
  const latest = messages.slice(messages.findLastIndex(({ role }) => role === "user") + 1);
  const first = latest.find((message) => message.role === "assistant");
  if (first === undefined) return false;
  const [block] = first.blocks;
  return block?.type !== "thinking" || !takesThinking(block, target, latest);
}

function marked(messages: LanguageModelV3Message[], mark: SharedV3ProviderOptions, roles: readonly string[]): LanguageModelV3Message[] {
  const last = messages.flatMap(({ role }, at) => (roles.includes(role) ? [at] : [])).slice(-MARKED_MESSAGES);
  return messages.map((message, at) => (last.includes(at) ? { ...message, providerOptions: mark } : message));
}

function knownMessage(message: Message, target: Target): LanguageModelV3Message {
  const known = target.known.get(message);
  if (known !== undefined) return known;
  const made = toMessage(message, target);
  target.known.set(message, made);
  return made;
}

function toMessage(message: Message, target: Target): LanguageModelV3Message {
  switch (message.role) {
    case "user":
      return { role: "user", content: userContent(message.parts, target.wire) };
    case "assistant":
      return assistantMessage(message.blocks, target);
    case "tool":
      return { role: "tool", content: message.results.map((result) => toolResult(result, target.wire)) };
    default:
      return message satisfies never;
  }
}

function assistantMessage(blocks: readonly AssistantBlock[], target: Target): LanguageModelV3Message {
  const { details } = target.wire;
  const own = blocks.map((block) => ({ block, meta: ownMeta(block.meta, target) }));
  const told = details === undefined ? own : own.filter(({ block }) => block.type !== "thinking");
  const content = told.map(({ block, meta }) => assistantBlock(block, meta));
  const options = details?.replay(own.flatMap(({ meta }) => (meta === undefined ? [] : [meta])));
  return { role: "assistant", content, ...(options !== undefined && { providerOptions: options }) };
}

function userContent(parts: readonly Part[], wire: Wire): UserContent {
  return parts.flatMap((part): UserContent => {
    if (part.type === "image") return [image(part, wire)];
    const text = plainText([part]).toWellFormed();
    return text === "" ? [] : [{ type: "text", text }];
  });
}

function image(part: PartOf<"image">, wire: Wire): UserContent[number] {
  const fitted = fitImage(part, wire);
  return typeof fitted === "string" ? { type: "text", text: fitted } : { type: "file", ...fitted };
}

function assistantBlock(block: AssistantBlock, meta: SharedV3ProviderMetadata | undefined): AssistantContent[number] {
  const options = meta === undefined ? {} : { providerOptions: meta };
  switch (block.type) {
    case "text":
      return { type: "text", text: block.text.toWellFormed(), ...options };
    case "thinking":
      return { type: "reasoning", text: block.text, ...options };
    case "call":
      return {
        type: "tool-call",
        toolCallId: wireId(block.call.id),
        toolName: wireName(block.call.name),
        input: wellFormedValue(block.call.args),
        ...options,
      };
    default:
      return block satisfies never;
  }
}

function toolResult(result: CallResult, wire: Wire): LanguageModelV3ToolResultPart {
  const head = { type: "tool-result" as const, toolCallId: wireId(result.call), toolName: wireName(result.name) };
  const images = result.parts.filter((part) => part.type === "image");
  // A diff is for the host; the text beside it tells the model.
  const text = plainText(result.parts.filter((part) => part.type !== "diff")).toWellFormed();
  if (images.length === 0) return { ...head, output: { type: result.failed ? "error-text" : "text", value: text || "(no output)" } };
  const shown = images.map((part) => {
    const fitted = fitImage(part, wire);
    return typeof fitted === "string" ? { type: "text" as const, text: fitted } : { type: "image-data" as const, ...fitted };
  });
  return { ...head, output: { type: "content", value: [...(text === "" ? [] : [{ type: "text" as const, text }]), ...shown] } };
}

/** One vendor's ids of calls may be too long or have characters that the next one refuses. */
function wireId(id: string): string {
  return /^[\w-]{1,64}$/.test(id) ? id : `call_${digest(id, 32)}`;
}

/** A model may call a tool by a name that no vendor takes: it is changed, as every later request would be refused. */
function wireName(name: string): string {
  if (/^[A-Za-z_][\w-]{0,63}$/.test(name)) return name;
  const plain = name.replaceAll(/[^\w-]/g, "_");
  return (/^[A-Za-z_]/.test(plain) ? plain : `_${plain}`).slice(0, 64);
}
