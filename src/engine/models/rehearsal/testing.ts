/** For tests: a conversation with a model, in which the test says what each tool call brings. */
import { textPart } from "../../../core/content.js";
import type { CallResult, Message, Model, ModelCall, ModelPart, ModelRequest } from "../model.js";

const TOOLS = ["Read", "Write", "Edit", "Bash", "Glob", "Grep", "Spawn", "TodoWrite", "WebFetch"];

export type Answer = (call: ModelCall) => { text: string; failed?: boolean };

export function requestOf(messages: readonly Message[], tools: readonly string[] = TOOLS, system = ""): ModelRequest {
  return { system, messages, tools: tools.map((name) => ({ name, description: "", parameters: {} })) };
}

export function user(...texts: string[]): Message {
  return { role: "user", parts: texts.map(textPart) };
}

export function assistant(text: string): Message {
  return { role: "assistant", blocks: [{ type: "text", text }] };
}

export async function partsOf(model: Model, request: ModelRequest, signal = new AbortController().signal): Promise<ModelPart[]> {
  const parts: ModelPart[] = [];
  for await (const batch of model.stream(request, signal)) parts.push(...batch);
  return parts;
}

export function textOf(parts: readonly ModelPart[]): string {
  return parts.map((part) => (part.type === "text" ? part.text : "")).join("");
}

export function callsOf(parts: readonly ModelPart[]): ModelCall[] {
  return parts.flatMap((part) => (part.type === "call" ? [part.call] : []));
}

/** Plays a turn to its end and adds it to the messages; gives the calls in order and everything that was said. */
export async function playTurn(model: Model, messages: Message[], answer: Answer, tools?: readonly string[]) {
  const batches: ModelCall[][] = [];
  const said: string[] = [];
  for (;;) {
    const parts = await partsOf(model, requestOf(messages, tools));
    const calls = callsOf(parts);
    const text = textOf(parts);
    said.push(text);
    messages.push({ role: "assistant", blocks: [{ type: "text", text }, ...calls.map((call) => ({ type: "call" as const, call }))] });
    if (calls.length === 0) return { batches, said, last: text };
    batches.push(calls);
    messages.push({ role: "tool", results: calls.map((call) => resultOf(call, answer)) });
  }
}

function resultOf(call: ModelCall, answer: Answer): CallResult {
  const { text, failed = false } = answer(call);
  return { call: call.id, name: call.name, parts: [textPart(text)], failed };
}
