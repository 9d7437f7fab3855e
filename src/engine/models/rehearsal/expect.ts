/** Checks what a script expects of a request; a mismatch is a sentence that shows both sides. */
import { plainText } from "../../../core/content.js";
import type { ModelRequest } from "../model.js";
import { REGEX, type Expect } from "./script-schema.js";

/** The first mismatch, or undefined. */
export function mismatch(expect: Expect, request: ModelRequest): string | undefined {
  const { messages, tools, system } = request;
  const names = tools.map((tool) => tool.name);
  const missing = (expect.tools ?? []).filter((name) => !names.includes(name));
  if (missing.length > 0) return `tools should offer ${missing.join(", ")}; offered: ${names.join(", ") || "none"}`;
  if (expect.messages !== undefined && expect.messages !== messages.length) {
    return `the request should have ${expect.messages} messages; it has ${messages.length}`;
  }
  return (
    differs("the system prompt", expect.system, system) ??
    differs("the last user message", expect.lastUser, lastUser(request)) ??
    differs("the last tool result", expect.toolResult, lastResult(request))
  );
}

function differs(what: string, wanted: string | undefined, actual: string): string | undefined {
  if (wanted === undefined) return undefined;
  const regex = REGEX.exec(wanted);
  const fits = regex?.[1] === undefined ? actual.includes(wanted) : new RegExp(regex[1], regex[2]).test(actual);
  if (fits) return undefined;
  return `${what} should ${regex === null ? "contain" : "match"} ${JSON.stringify(wanted)}; it is ${JSON.stringify(actual.slice(0, 300))}`;
}

function lastUser({ messages }: ModelRequest): string {
  const message = messages.findLast((one) => one.role === "user");
  return message === undefined ? "" : plainText(message.parts);
}

function lastResult({ messages }: ModelRequest): string {
  const message = messages.findLast((one) => one.role === "tool");
  return message === undefined ? "" : message.results.map((result) => plainText(result.parts)).join("\n");
}
