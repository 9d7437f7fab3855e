/** Replies, which this wire lacks: failures are written as an Error, and useful results as an Info. */
import * as v from "valibot";
import { CommandReply } from "../../../core/command.js";
import { plainText } from "../../../core/content.js";
import type { EventOf } from "../../../core/event.js";
import { nameOf, wireId } from "../wire/ids.js";
import { tagged, type Tagged } from "./write-events.js";

export function replyVariants({ to, status, fault, data }: EventOf<"reply">): Tagged[] {
  // A late or superfluous answer is harmless, and real clients give up a running turn at an Error.
  if (fault !== undefined) return [tagged(to === "approval.answer" ? "Info" : "Error", fault.message)];
  if (to === "turn.steer" && status === "noop") return [tagged("Info", "No turn is running, so there is nothing to steer")];
  if (to === "provider.set") return [tagged("Info", "The local provider is registered")];
  const text = to === "turn.prompt" ? resultText(data) : undefined;
  return text === undefined ? [] : [tagged("Info", text)];
}

/** Real clients look for these texts, which a real daemon writes. */
export function resumeFailure(message: string): string {
  if (message.startsWith("Failed to resume session:")) return message;
  const isUnknown = /not found|no session/i.test(message);
  return `Failed to resume session: ${message}${isUnknown ? " (No such file or directory)" : ""}`;
}

const Listed = v.looseObject({ stored: v.array(v.looseObject({ id: v.string() })) });

/** The sessions that can be resumed, by the names behind their ids; undefined if the agent does not list them. */
export function storedNames({ status, data }: EventOf<"reply">): string[] | undefined {
  if (status !== "ok" || !v.is(Listed, data)) return undefined;
  return data.stored.map(({ id }) => nameOf(wireId("ses", id)));
}

/** The result of a command in the single line that the wire has for it. */
function resultText(data: unknown): string | undefined {
  if (!v.is(CommandReply, data)) return undefined;
  const { result } = data;
  switch (result.type) {
    case "submit_prompt":
      return undefined;
    case "tool":
      return plainText(result.parts);
    case "message":
      return result.text;
    case "dialog":
      return [
        result.text,
        ...(result.choices ?? []).map(({ value, description = "" }) => (description === "" ? `  ${value}` : `  ${value}  ${description}`)),
      ].join("\n");
    default:
      result satisfies never;
      return undefined;
  }
}
