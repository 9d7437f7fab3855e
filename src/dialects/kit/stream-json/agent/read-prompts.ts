/** Reads the prompt of a `user` line. */
import type { Part } from "../../../../core/content.js";
import type { OpOf } from "../../../../core/op.js";
import { textPart } from "../../../../core/content.js";
import { address, type AnySession, type Asked } from "./session.js";
import type { Given, Prompt } from "../wire.js";

type Addressed = Pick<AnySession, "env" | "session" | "sessionId">;

/** The id of the turn that a prompt begins, by the id of its op. */
export type TurnId = (op: string) => string;

/** A prompt, or the problem with it. */
export function askedBy({ message }: Prompt, state: Addressed, turnId: TurnId): Asked {
  const parts = partsOf(message.content);
  if (parts.every((part) => part.type === "text" && part.text.trim() === "")) return { outcome: { problem: "The message is empty" } };
  return askedWith(parts, state, turnId);
}

/** Text that begins with a slash may be a command; an unknown command is a prompt. */
function askedWith(parts: Part[], state: Addressed, turnId: TurnId): Asked {
  const head = address(state);
  const plain: OpOf<"turn.prompt"> = { type: "turn.prompt", ...head, turn: turnId(head.id), parts, mentions: true };
  const command = parts.length === 1 && parts[0]?.type === "text" ? commandIn(parts[0].text) : undefined;
  return command === undefined ? { op: plain } : { op: { ...plain, command }, plain };
}

/** The turn that stopped goes on. */
export function askedAgain(state: Addressed): Asked {
  const head = address(state);
  return { op: { type: "turn.prompt", ...head, turn: head.id, parts: [], continues: true } };
}

function commandIn(text: string): { name: string; args?: string } | undefined {
  const [, name, args] = /^\/([\w:.-]+)(?:\s+([^]*))?$/.exec(text.trim()) ?? [];
  return name === undefined ? undefined : { name, ...(args !== undefined && { args }) };
}

function partsOf(content: Prompt["message"]["content"]): Part[] {
  return typeof content === "string" ? [textPart(content)] : content.map(partOf);
}

function partOf(block: Given): Part {
  switch (block.type) {
    case "text":
      return textPart(block.text);
    case "image":
      if (block.source.type === "base64") return { type: "image", mime: block.source.media_type, data: block.source.data };
      return { type: "file", uri: block.source.url };
    case "tool_result":
      return textPart(typeof block.content === "string" ? block.content : JSON.stringify(block.content ?? ""));
    default:
      block satisfies never;
      return textPart("");
  }
}
