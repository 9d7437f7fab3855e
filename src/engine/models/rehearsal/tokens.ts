/** How many tokens a request counts for: a quarter of its characters. Each message is measured once and remembered. */
import { plainText } from "../../../core/content.js";
import type { Message } from "../model.js";

export function tokenCounter(): (messages: readonly Message[]) => number {
  const sizes = new WeakMap<Message, number>();
  return (messages) => {
    let chars = 0;
    for (const message of messages) {
      let size = sizes.get(message);
      if (size === undefined) {
        size = measure(message);
        sizes.set(message, size);
      }
      chars += size;
    }
    return Math.ceil(chars / 4);
  };
}

function measure(message: Message): number {
  switch (message.role) {
    case "user":
      return plainText(message.parts).length;
    case "tool":
      return message.results.reduce((sum, result) => sum + plainText(result.parts).length, 0);
    case "assistant":
      return message.blocks.reduce((sum, block) => {
        return sum + (block.type === "call" ? (block.call.raw ?? JSON.stringify(block.call.args)).length : block.text.length);
      }, 0);
    default:
      message satisfies never;
      return 0;
  }
}
