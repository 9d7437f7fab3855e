/**
 * The body of a request as the provider packages send it in the bundle (scripts/stand-ins.mjs). The same tools go out with every request,
 * with dozens of servers' worth of schemas among them, and each is made text once.
 */
import { isRecord } from "../../../core/json-object.js";

interface Told {
  tool: object;
  text: string;
}

/** By the tool's schema, which is ours and stays one object; what a package puts around it is made anew for each request. */
const told = new WeakMap<object, Told>();

/** As `JSON.stringify` has it; put together piece by piece, for the whole is made flat only once, where it is sent. */
export function bodyText(body: unknown): string {
  if (!isRecord(body) || !Array.isArray(body.tools)) return JSON.stringify(body);
  let text = "";
  for (const key in body) {
    const value = key === "tools" ? listText(body.tools) : JSON.stringify(body[key]);
    if (value !== undefined) text += `${text === "" ? "{" : ","}${JSON.stringify(key)}:${value}`;
  }
  return `${text}}`;
}

function listText(tools: readonly unknown[]): string {
  let text = "";
  for (const tool of tools) text += (text === "" ? "" : ",") + toolText(tool);
  return `[${text}]`;
}

function toolText(tool: unknown): string {
  const schema = isRecord(tool) ? schemaOf(tool) : undefined;
  if (!isRecord(tool) || schema === undefined) return JSON.stringify(tool) ?? "null";
  const known = told.get(schema);
  if (known !== undefined && isSame(known.tool, tool)) return known.text;
  const text = JSON.stringify(tool);
  told.set(schema, { tool, text });
  return text;
}

/** Where OpenAI's two wires and Anthropic's have it; a tool of any other shape is not remembered. */
function schemaOf(tool: Record<string, unknown>): object | undefined {
  const { parameters, input_schema: input } = isRecord(tool.function) ? tool.function : tool;
  const schema = parameters ?? input;
  return isRecord(schema) ? schema : undefined;
}

/** A tool, what it wraps, and its marks for the cache: no deeper. */
const DEEPEST = 2;

function isSame(one: unknown, other: unknown, depth = 0): boolean {
  if (one === other) return true;
  if (depth > DEEPEST || !isRecord(one) || !isRecord(other)) return false;
  let left = 0;
  for (const key in one) {
    if (!isSame(one[key], other[key], depth + 1)) return false;
    left++;
  }
  for (const _ in other) left--;
  return left === 0;
}
