/** Reads the lines of an agent in a turn (messages, deltas, results of tools) as the turn's events. */
import { textPart, type Part } from "../../../../core/content.js";
import type { Event } from "../../../../core/event.js";
import { isRecord } from "../../../../core/values/json-object.js";
import { canonicalTool, categoryOf } from "../../../../core/names.js";
import { stringField } from "../../issues.js";
import type { TurnReader } from "../../turn-reader.js";
import type { Block, BlockDelta, BlockStart } from "../wire.js";

export class MessageReader {
  readonly #told: TurnReader;
  /** The calls whose arguments arrive in pieces, by the call that they are under. */
  readonly #pieces = new Map<string, { id: string; name: string }>();

  constructor(told: TurnReader) {
    this.#told = told;
  }

  /** A block of a whole message, after its deltas or instead of them. */
  block(block: Block, under: string | undefined): Event[] {
    switch (block.type) {
      case "text":
        return this.#told.whole("text", block.text, under);
      case "thinking":
        return this.#told.whole("thinking", block.thinking, under);
      case "tool_use":
        return this.#told.request(callOf(block.id, block.name, isRecord(block.input) ? block.input : {}), under);
      default:
        block satisfies never;
        return [];
    }
  }

  /** The whole message closes a block; if that message is missing, the next block does. */
  blockStart({ content_block: block }: BlockStart, under: string | undefined): Event[] {
    if (block.type === "tool_use") this.#pieces.set(under ?? "", { id: block.id, name: canonicalTool(block.name) });
    return this.#told.closeBlock(under);
  }

  blockDelta({ delta }: BlockDelta, under: string | undefined): Event[] {
    switch (delta.type) {
      case "text_delta":
        return this.#told.piece("text", delta.text, under);
      case "thinking_delta":
        return this.#told.piece("thinking", delta.thinking, under);
      case "input_json_delta": {
        const call = this.#pieces.get(under ?? "");
        const address = { ...this.#told.address, ...(under !== undefined && this.#told.callOf(under) !== undefined && { under }) };
        return call === undefined ? [] : [{ type: "tool.delta", ...address, call: call.id, name: call.name, text: delta.partial_json }];
      }
      default:
        delta satisfies never;
        return [];
    }
  }
}

export function callOf(id: string, wireName: string, args: Record<string, unknown>): Parameters<TurnReader["request"]>[0] {
  const name = canonicalTool(wireName);
  return { id, name, args, category: categoryOf(name) };
}

// --- lines of type `user` ---

/** A `user` line has results of tools; its texts are reports on tasks, or the prompt of a sub-agent. */
export type UserBlock = { call: string; block: Record<string, unknown> } | { text: string };

export function userBlocks(content: unknown): UserBlock[] {
  const blocks: unknown[] = typeof content === "string" ? [textPart(content)] : Array.isArray(content) ? content : [];
  return blocks.flatMap((block): UserBlock[] => {
    const call = stringField(block, "tool_use_id");
    if (call !== undefined && isRecord(block)) return [{ call, block }];
    const text = stringField(block, "text");
    return text === undefined ? [] : [{ text }];
  });
}

/** The content of a tool's result. */
export function resultParts(content: unknown): Part[] {
  if (typeof content === "string") return content === "" ? [] : [textPart(content)];
  if (!Array.isArray(content)) return [];
  return content.map((block: unknown): Part => {
    const text = stringField(block, "text");
    return text === undefined ? { type: "json", data: block } : textPart(text);
  });
}
