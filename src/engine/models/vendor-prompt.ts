/** Our conversation in the shape that the provider packages take. */
import type {
  LanguageModelV3Message,
  LanguageModelV3Prompt,
  SharedV3ProviderOptions,
  LanguageModelV3ToolResultPart,
} from "@ai-sdk/provider";
import { plainText, type Part } from "../../core/content.js";
import type { AssistantBlock, CallResult, Message } from "./model.js";

type UserContent = Extract<LanguageModelV3Message, { role: "user" }>["content"];
type AssistantContent = Extract<LanguageModelV3Message, { role: "assistant" }>["content"];

export function toPrompt(system: string, messages: readonly Message[]): LanguageModelV3Prompt {
  return [...(system === "" ? [] : [{ role: "system" as const, content: system }]), ...messages.map(toMessage)];
}

function toMessage(message: Message): LanguageModelV3Message {
  switch (message.role) {
    case "user":
      return { role: "user", content: userContent(message.parts) };
    case "assistant":
      return { role: "assistant", content: message.blocks.map(assistantBlock) };
    case "tool":
      return { role: "tool", content: message.results.map(toolResult) };
    default:
      return message satisfies never;
  }
}

function userContent(parts: readonly Part[]): UserContent {
  return parts.flatMap((part): UserContent => {
    if (part.type === "image") return [{ type: "file", mediaType: part.mime, data: part.data }];
    const text = plainText([part]);
    return text === "" ? [] : [{ type: "text", text }];
  });
}

function assistantBlock(block: AssistantBlock): AssistantContent[number] {
  const options = block.meta === undefined ? {} : { providerOptions: block.meta as SharedV3ProviderOptions };
  switch (block.type) {
    case "text":
      return { type: "text", text: block.text, ...options };
    case "thinking":
      return { type: "reasoning", text: block.text, ...options };
    case "call":
      return { type: "tool-call", toolCallId: block.call.id, toolName: block.call.name, input: block.call.args, ...options };
    default:
      return block satisfies never;
  }
}

function toolResult(result: CallResult): LanguageModelV3ToolResultPart {
  const head = { type: "tool-result" as const, toolCallId: result.call, toolName: result.name };
  const images = result.parts.filter((part) => part.type === "image");
  // A diff is for the host; the text beside it tells the model.
  const text = plainText(result.parts.filter((part) => part.type !== "diff"));
  if (images.length === 0) return { ...head, output: { type: result.failed ? "error-text" : "text", value: text } };
  const media = images.map((image) => ({ type: "image-data" as const, data: image.data, mediaType: image.mime }));
  return { ...head, output: { type: "content", value: [{ type: "text", text }, ...media] } };
}
