/** Images that a vendor refuses: it would refuse every later request of the session for them, so notes take their place. */
import { textPart, type Part } from "../../../core/content.js";
import { ParleyError } from "../../../core/errors.js";
import type { Message } from "../../models/model.js";
import type { Turn } from "../turn.js";

export function isImageRefusal(error: unknown): error is ParleyError {
  return error instanceof ParleyError && error.fault.code === "image_refused";
}

/** The images since the last answer go first: those before it were taken once. False when there is none left. */
export async function dropImages(turn: Turn, { fault }: ParleyError): Promise<boolean> {
  const { history, model } = turn;
  const answered = history.messages.findLastIndex(({ role }) => role === "assistant");
  const note = `(An image was left out: ${model.provider} refused it)`;
  const changed = [answered + 1, 0].map((from) => withoutImages(history.messages, from, note)).find((messages) => messages !== undefined);
  if (changed === undefined) return false;
  history.reset(changed);
  const text = `${fault.message}. A note takes the place of the image, and the model is asked again`;
  await turn.emit({ type: "notice", level: "warning", kind: "image", text });
  return true;
}

/** Undefined where there is no image from that message on. */
function withoutImages(messages: readonly Message[], from: number, note: string): Message[] | undefined {
  if (!messages.slice(from).some(hasImage)) return undefined;
  return messages.map((message, at) => (at >= from && hasImage(message) ? noted(message, note) : message));
}

function hasImage(message: Message): boolean {
  if (message.role === "user") return message.parts.some(isImage);
  return message.role === "tool" && message.results.some(({ parts }) => parts.some(isImage));
}

function noted(message: Message, note: string): Message {
  const worded = (part: Part): Part => (isImage(part) ? textPart(note) : part);
  if (message.role === "user") return { role: "user", parts: message.parts.map(worded) };
  if (message.role === "assistant") return message;
  return { role: "tool", results: message.results.map((result) => ({ ...result, parts: result.parts.map(worded) })) };
}

function isImage(part: Part): boolean {
  return part.type === "image";
}
