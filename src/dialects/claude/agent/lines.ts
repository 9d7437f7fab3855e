/** The lines of this wire: a uuid and the session's id on each, and the fields of a `system` line at its top. */
import type * as v from "valibot";
import type { Usage } from "../../../core/event.js";
import type { Out } from "../../dialect.js";
import { envelopeOf } from "../../kit/stream-json/agent/session.js";
import type { OneBlock } from "../../kit/stream-json/agent/message-writer.js";
import { uuidOf } from "../../kit/stream-json/uuid.js";
import type { Prompt } from "../../kit/stream-json/wire.js";
import { line, type Envelope } from "../../kit/stream-json/write-lines.js";
import type { ResultMeta, SystemName, systemLines } from "../wire/event-records.js";
import { wireUsage } from "../wire/usage.js";
import type { AgentState } from "./state.js";

type SystemFields<N extends SystemName> = Omit<v.InferOutput<(typeof systemLines)[N]>, "type" | "subtype" | "uuid" | "session_id">;

export function systemLine<N extends SystemName>(subtype: N, fields: SystemFields<N>, { env, session_id }: Envelope): Out {
  return line({ type: "system", subtype, ...fields, uuid: uuidOf(env.stamp().id), session_id });
}

/** A line for people, for warnings and errors that have no line of their own on this wire. */
export function notice(text: string, state: AgentState, level: "info" | "warning" = "warning", tag?: string): Out {
  return systemLine("informational", { content: text, level, ...(tag !== undefined && { tag }) }, envelopeOf(state));
}

/** Writes each block of an API message as a line; `stop_reason` is in the streamed events. */
export const ONE_BLOCK: OneBlock = {
  message: ({ id, model, content, usage }, { env, session_id, under }) =>
    line({
      type: "assistant",
      message: { ...headOf(id, model), content, stop_reason: null, stop_sequence: null, usage },
      parent_tool_use_id: under,
      session_id,
      uuid: uuidOf(env.stamp().id),
    }),
  first: ({ id, model }) => ({ ...headOf(id, model), content: [], stop_reason: null, stop_sequence: null, usage: usageOrNone(undefined) }),
  last: (usage, stop) => ({
    type: "message_delta",
    delta: { stop_reason: stop, stop_sequence: null },
    usage: usageOrNone(usage),
  }),
};

function headOf(id: string, model: string): object {
  return { id: `msg_${id}`, type: "message", role: "assistant", model };
}

export function usageOrNone(usage: Usage | undefined): object {
  return wireUsage(usage ?? { input: 0, output: 0 });
}

/** A message by this side in place of the model's. `error` is the kind of the failure. */
export function syntheticLine(text: string, { env, session_id, under }: Envelope, error?: string): Out {
  return line({
    type: "assistant",
    message: {
      id: uuidOf(env.stamp().id),
      type: "message",
      role: "assistant",
      model: "<synthetic>",
      content: [{ type: "text", text }],
      stop_reason: "stop_sequence",
      stop_sequence: "",
      usage: usageOrNone(undefined),
    },
    parent_tool_use_id: under,
    session_id,
    uuid: uuidOf(env.stamp().id),
    ...(error !== undefined && { error }),
  });
}

/** A prompt of the host, said again by its id. */
export function replayLine({ message }: Prompt, uuid: string, { session_id }: Envelope): Out {
  return line({ type: "user", message, session_id, parent_tool_use_id: null, uuid, isReplay: true });
}

interface Told {
  content: readonly unknown[];
  /** The call's result as data. `meta` has the decision about a call that did not run. */
  result?: unknown;
  meta?: ResultMeta;
}

export function userLine({ content, result, meta }: Told, { env, session_id, under }: Envelope): Out {
  return line({
    type: "user",
    message: { role: "user", content },
    parent_tool_use_id: under,
    session_id,
    uuid: uuidOf(env.stamp().id),
    ...(result !== undefined && { tool_use_result: result }),
    ...(meta !== undefined && { tool_result_meta: [meta] }),
  });
}
