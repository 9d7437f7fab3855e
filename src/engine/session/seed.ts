/** Prior context that a host gives a session, as messages. */
import type { OpOf } from "../../core/op.js";
import type { Message } from "../models/model.js";

/** A single text is the user's message with the model's acknowledgement; an empty text is none. */
export function seedMessages({ text, messages }: OpOf<"session.seed">): Message[] {
  if (messages === undefined) return text.trim() === "" ? [] : [userMessage(text), modelMessage("I have read the earlier context.")];
  return messages.map((message) => (message.role === "user" ? userMessage(message.text) : modelMessage(message.text)));
}

function userMessage(text: string): Message {
  return { role: "user", parts: [{ type: "text", text }] };
}

function modelMessage(text: string): Message {
  return { role: "assistant", blocks: [{ type: "text", text }] };
}
