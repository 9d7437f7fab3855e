/** Answers from the conversation itself: facts to remember, earlier messages, context, attachments. */
import { plainText } from "../../../core/content.js";
import type { Message } from "../model.js";
import { orders } from "./orders.js";
import type { RecallWhat, StepOf } from "./step.js";
import { attachments, CONTEXT, orderText, type Turn, type UserMessage } from "./turn.js";

export function recalled(what: RecallWhat, turn: Turn): string {
  const users = turn.earlier.filter((message): message is UserMessage => message.role === "user");
  const said = users.map(orderText).filter((text) => text !== "");
  if (typeof what === "object") return fact(what.fact, said);
  switch (what) {
    case "first":
      return quoted("The first thing you said was", said[0]);
    case "previous":
      return quoted("Before this you said", said.at(-1));
    case "conversation":
      return said.length === 0 ? "Nothing was said yet." : `So far you asked:\n${said.map((text) => `- ${oneLine(text, 300)}`).join("\n")}`;
    case "context":
      return context(turn);
    case "attachments":
      return attached(turn.order) ?? "Nothing is attached.";
    default:
      what satisfies never;
      return "";
  }
}

export function attached(message: UserMessage | undefined): string | undefined {
  const parts = attachments(message);
  if (parts.length === 0) return undefined;
  const names = parts.map((part) => {
    const name =
      ("name" in part ? part.name : undefined) ?? ("path" in part ? part.path : undefined) ?? ("uri" in part ? part.uri : undefined);
    const size = part.type === "image" ? part.mime : `${plainText([part]).length} characters`;
    return `${name ?? `a part of type ${part.type}`} (${size})`;
  });
  return `Attached: ${names.join(", ")}.`;
}

/** The last value of the fact, or else of a fact whose name contains its name. */
function fact(name: string, said: readonly string[]): string {
  const known = said.flatMap((text) => orders(text)).filter((step): step is StepOf<"remember"> => step.do === "remember");
  const found =
    known.findLast((step) => step.fact === name) ??
    known.findLast((step) => step.fact.includes(name) || (step.fact !== "" && name.includes(step.fact)));
  if (found === undefined) return name === "" ? "You have not told me anything to remember." : `You have not told me the ${name} yet.`;
  const whose = /^(?:(?:secret|magic|pass|special) ?)?(?:word|number|phrase|code|thing|value|sentence|key|password)$/.test(found.fact)
    ? "The"
    : "Your";
  return found.fact === "" ? `You told me to remember: ${found.value}.` : `${whose} ${found.fact} is ${found.value}.`;
}

const SHOWN = 500;

/** A tagged block of the first message, a text before the prompt in it, or a first message that was only acknowledged. */
function context({ earlier, order }: Turn): string {
  const messages: Message[] = [...earlier, ...(order === undefined ? [] : [order])];
  const first = messages.find((message): message is UserMessage => message.role === "user");
  const texts = (first?.parts ?? []).flatMap((part) => (part.type === "text" ? [part.text] : []));
  const [tagged] = texts.join("\n").matchAll(CONTEXT);
  const known = tagged?.[2] ?? (texts.length > 1 || isSeed(messages) ? texts[0] : undefined);
  return known === undefined ? "I have no context but this conversation." : `I was given this context: ${known.slice(0, SHOWN)}`;
}

/** The engine keeps seeded context as a first message, acknowledged by the assistant. */
function isSeed([first, next]: readonly Message[]): boolean {
  if (first?.role !== "user" || next === undefined || next.role === "tool") return false;
  return next.role === "user" || next.blocks.some((block) => block.type === "text" && /\bcontext\b/i.test(block.text));
}

function quoted(lead: string, text: string | undefined): string {
  return text === undefined ? "You said nothing before this." : `${lead}: “${oneLine(text, 500)}”`;
}

export function oneLine(text: string, longest: number): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length > longest ? `${line.slice(0, longest - 1)}…` : line;
}
