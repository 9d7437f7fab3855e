/** Prior context as messages of the conversation. */
import type { OpOf } from "../../core/op.js";
import type { Message } from "../models/model.js";

/** One text is told as the user's, and the model has read it, unless there is nothing to read. */
export function seedMessages({ text, messages }: OpOf<"session.seed">): Message[] {
  if (messages === undefined) return text.trim() === "" ? [] : [userSaid(text), modelSaid("I have read the earlier context.")];
  return messages.map((message) => (message.role === "user" ? userSaid(message.text) : modelSaid(message.text)));
}

function userSaid(text: string): Message {
  return { role: "user", parts: [{ type: "text", text }] };
}

function modelSaid(text: string): Message {
  return { role: "assistant", blocks: [{ type: "text", text }] };
}
