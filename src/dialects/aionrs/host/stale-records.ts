/** Finds late records of a driven agent: records of an ended turn, and questions outside a turn. */
import type { Out } from "../../dialect.js";
import { stringField } from "../../kit/issues.js";
import { parse } from "./parse.js";
import { runningCall, type HostState } from "./state.js";

/** Errors and messages for people always count, whatever turn they name. */
export function isOfPastTurn(rec: unknown, { running, past }: HostState): boolean {
  const [type = "", msg_id = ""] = [stringField(rec, "type"), stringField(rec, "msg_id")];
  return msg_id !== running?.reader.address.turn && past.has(msg_id) && type !== "error" && type !== "info";
}

/** Denies a call that the host cannot be asked about, as the agent would wait for ever. */
export function denyUnasked(rec: unknown, state: HostState): Out[] {
  const call_id = stringField(rec, "type") === "tool_request" ? stringField(rec, "call_id") : undefined;
  const call = call_id === undefined ? undefined : runningCall(state, call_id);
  if (call_id === undefined || !state.isReady || (call !== undefined && !isOfPastTurn(rec, state))) return [];
  const parsed = parse(rec, state.revision);
  const reason = typeof parsed === "string" ? parsed : "No message runs that this call belongs to";
  if (call === undefined) state.running?.denied.add(call_id);
  return [{ rec: { type: "tool_deny", call_id, reason } }];
}
