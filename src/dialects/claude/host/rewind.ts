/** Files go back to their state before a prompt: what would go back is asked for first, as the answer to the rewind itself does not tell it. */
import * as v from "valibot";
import type { Fault } from "../../../core/errors.js";
import type { Event } from "../../../core/event.js";
import type { OpOf } from "../../../core/op.js";
import type { Step } from "../../dialect.js";
import { refused, reply } from "../../kit/reply.js";
import { stepOf } from "../../kit/step.js";
import { isUuid, uuidOf } from "../../kit/stream-json/uuid.js";
import type { HostState, Rewinding } from "./state.js";

const count = v.optional(v.number());
const Answer = v.looseObject({
  canRewind: v.optional(v.boolean()),
  error: v.optional(v.string()),
  filesChanged: v.optional(v.array(v.string())),
  insertions: count,
  deletions: count,
});

/** The id on the wire of the prompt that began a turn; undefined if it cannot have one. */
export function messageOf(turn: string): string | undefined {
  const id = uuidOf(turn);
  return isUuid(id) ? id : undefined;
}

export function rewind(op: OpOf<"session.rewind">, state: HostState): Step<Event> {
  const { files = op.conversation !== true, conversation = op.files !== true, force = false } = op;
  if (!files || conversation || !force)
    return refused(
      op,
      "Claude Code takes back files alone, also those that others have changed since: say files and force, and no conversation",
    );
  if (state.running !== undefined || state.prompts.length > 0)
    return refused(op, "A turn runs or waits: interrupt it, or wait for its end, and rewind then", "busy");
  return ask(op, undefined, state);
}

function ask(op: OpOf<"session.rewind">, files: readonly string[] | undefined, state: HostState): Step<Event> {
  const user_message_id = messageOf(op.turn) ?? op.turn;
  const request = { subtype: "rewind_files", user_message_id, ...(files === undefined && { dry_run: true }) };
  return { in: [], out: [state.requests.send(request, { for: "rewind", op, files })] };
}

export function onRewound(
  { op, files }: Rewinding,
  fault: Fault | undefined,
  data: Record<string, unknown>,
  state: HostState,
): Step<Event> {
  const said = v.is(Answer, data) ? data : {};
  if (fault !== undefined || said.canRewind !== true) {
    const message = fault?.message ?? said.error ?? "The agent cannot take these files back, and does not say why";
    return stepOf<Event>([{ ...reply(op, "error"), fault: fault ?? { code: "session", message, retryable: false } }]);
  }
  if (files === undefined && op.preview !== true) return ask(op, said.filesChanged ?? [], state);
  const stat = op.preview === true ? { stat: { added: said.insertions ?? 0, removed: said.deletions ?? 0 } } : {};
  return stepOf<Event>([{ ...reply(op, "ok"), data: { files: files ?? said.filesChanged ?? [], left: [], ...stat } }]);
}
