/** Replies, on a wire that has none: failures are an Error, and news that a client wants is an Info. */
import * as v from "valibot";
import { CommandReply } from "../../../core/command.js";
import { plainText } from "../../../core/content.js";
import type { EventOf } from "../../../core/event.js";
import { nameOf, wireId } from "../wire/ids.js";
import { tagged, type Tagged } from "./write-events.js";

export function replyVariants({ to, status, fault, data }: EventOf<"reply">): Tagged[] {
  // An answer that comes too late or names too much does no harm, and real clients give up a running turn at an Error.
  if (fault !== undefined) return [tagged(to === "approval.answer" ? "Info" : "Error", fault.message)];
  if (to === "turn.steer" && status === "noop") return [tagged("Info", "No turn is running, so there is nothing to steer")];
  if (to === "provider.set") return [tagged("Info", "The local provider is registered")];
  const text = to === "turn.prompt" ? resultText(data) : undefined;
  return text === undefined ? [] : [tagged("Info", text)];
}

/** Real clients look for these words; a driven daemon says them itself. */
export function resumeFailure(message: string): string {
  if (message.startsWith("Failed to resume session:")) return message;
  const isUnknown = /not found|no session/i.test(message);
  return `Failed to resume session: ${message}${isUnknown ? " (No such file or directory)" : ""}`;
}

const Listed = v.looseObject({ stored: v.array(v.looseObject({ id: v.string() })) });

/** The sessions that can be resumed, by the names behind their ids; undefined where the agent does not tell. */
export function storedNames({ status, data }: EventOf<"reply">): string[] | undefined {
  if (status !== "ok" || !v.is(Listed, data)) return undefined;
  return data.stored.map(({ id }) => nameOf(wireId("ses", id)));
}

/** The outcome of a command in the one line that the wire has for it. */
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
