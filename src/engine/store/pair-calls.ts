/** Pairs calls with results: vendors refuse a conversation with one of them alone, and a damaged log may have one. */
import type { CallResult, Message } from "../models/model.js";

const MISSING = "The result of this call could not be read back; whether it took effect is unknown. Look before you repeat it.";

/** Returns the same messages if nothing is missing, as usual. */
export function paired(messages: readonly Message[]): Message[] {
  const whole: Message[] = [];
  let open: CallResult[] = [];
  for (const message of messages) {
    if (message.role === "tool") {
      if (open.length > 0) whole.push(answered(message, open));
      open = [];
      continue;
    }
    if (open.length > 0) whole.push({ role: "tool", results: open });
    open = message.role === "assistant" ? missingResults(message) : [];
    whole.push(message);
  }
  return open.length > 0 ? [...whole, { role: "tool", results: open }] : whole;
}

function missingResults({ blocks }: Extract<Message, { role: "assistant" }>): CallResult[] {
  return blocks.flatMap((block) =>
    block.type === "call" ? [{ call: block.call.id, name: block.call.name, parts: [{ type: "text", text: MISSING }], failed: true }] : [],
  );
}

function answered(message: Extract<Message, { role: "tool" }>, wanted: readonly CallResult[]): Message {
  const given = message.results.map(({ call }) => call).join("\n");
  if (given === wanted.map(({ call }) => call).join("\n")) return message;
  const rest = [...message.results];
  const take = (missing: CallResult): CallResult => {
    const at = rest.findIndex(({ call }) => call === missing.call);
    return at === -1 ? missing : (rest.splice(at, 1)[0] ?? missing);
  };
  return { ...message, results: wanted.map(take) };
}
