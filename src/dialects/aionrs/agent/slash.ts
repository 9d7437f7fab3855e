/** Slash commands: messages that the agent answers without its model. They have no stream. */
import * as v from "valibot";
import { CommandReply } from "../../../core/command.js";
import type { Event, EventOf } from "../../../core/event.js";
import type { Op } from "../../../core/op.js";
import type { Out } from "../../dialect.js";
import { resultText } from "../../kit/slash.js";
import { afterStream } from "./changes.js";
import { errorLine, info, line } from "./lines.js";
import type { AgentState } from "./state.js";
import { writeUsage } from "../wire/usage.js";

/** A text without a known command is sent as a prompt. */
export function promptAfterAll(event: Event, state: AgentState): Op | undefined {
  if (event.type !== "reply" || event.fault?.param !== "command") return undefined;
  const plain = state.slashed.get(event.parent ?? "");
  state.slashed.delete(event.parent ?? "");
  return plain;
}

/** The command asks to leave. */
export function isQuit(event: Event, state: AgentState): boolean {
  if (event.type !== "reply" || !state.slashed.has(event.parent ?? "") || !v.is(CommandReply, event.data)) return false;
  const { result } = event.data;
  return result.type === "dialog" && result.dialog === "quit";
}

/** A command that became a prompt has a stream, and ends with it. */
export function writeCommand({ parent = "", fault, data }: EventOf<"reply">, state: AgentState): Out[] {
  const result = v.is(CommandReply, data) ? data.result : undefined;
  if (result?.type === "submit_prompt") return [];
  const msg_id = state.messages.get(parent) ?? "";
  state.messages.delete(parent);
  state.slashed.delete(parent);
  const outcome =
    fault === undefined ? ("completed" as const) : fault.code === "interrupted" ? ("interrupted" as const) : ("failed" as const);
  const told =
    outcome === "failed" && fault !== undefined ? [errorLine(msg_id, fault)] : result === undefined ? [] : [info(resultText(result))];
  const end = {
    type: "stream_end" as const,
    msg_id,
    ...state.revision.says.end({ type: "turn.ended", outcome }),
    usage: writeUsage(undefined),
  };
  return afterStream([...told, line(end)], state);
}
