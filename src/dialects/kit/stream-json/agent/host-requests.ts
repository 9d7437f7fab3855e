/** The agent's requests to its host: each is asked in the wire's own form, or answered here. */
import * as v from "valibot";
import type { EventOf } from "../../../../core/event.js";
import type { Op } from "../../../../core/op.js";
import { Questions } from "../../../../core/question.js";
import type { Out, Step } from "../../../dialect.js";
import { address, type AnySession } from "./session.js";
import { answersIn, inputOf } from "../user-questions.js";

const ToolCall = v.looseObject({ name: v.string(), args: v.record(v.string(), v.unknown()) });
const Message = v.looseObject({ server: v.string(), message: v.unknown() });

/** The wire's names of tools that this side answers itself. */
interface OwnTools {
  askUser: string;
  structured: string;
  /** The tool's answer to a result that was handed over. */
  taken: string;
}

interface State extends AnySession {
  /** The result that the model handed over, where the host gave a schema for it. */
  structured: { value: unknown } | undefined;
}

/** `onHook` asks about a hook, on wires that have hooks. */
export function onHostRequest(
  event: EventOf<"host.request">,
  state: State,
  { askUser, structured, taken }: OwnTools,
  onHook?: () => Step<Op>,
): Step<Op> {
  const { kind, data } = event;
  const { questions } = state;
  if (kind === "tool" && v.is(ToolCall, data) && data.name === structured) {
    state.structured = { value: data.args };
    return settle(event, true, taken, state);
  }
  if (!state.isControlled) return refused(event, "the host did not say initialize, so it cannot be asked", state);
  if (state.isDeaf) return refused(event, "Input closed", state);
  if (kind === "mcp" && v.is(Message, data)) return asked(questions.message(event, data.server, data.message));
  if (kind === "tool" && v.is(ToolCall, data) && data.name === askUser) return asked(questions.forUser(event, askUser, data.args));
  if (kind === "question" && v.is(Questions, data))
    return asked(questions.forUser(event, askUser, inputOf(data), (input) => answersIn(input, data)));
  if (kind === "hook" && onHook !== undefined) return onHook();
  return refused(event, `this host does not answer ${kind} requests`, state);
}

function asked(out: Out[]): Step<Op> {
  return { in: [], out };
}

function refused(event: EventOf<"host.request">, message: string, state: State): Step<Op> {
  return settle(event, false, { message }, state);
}

function settle({ request }: EventOf<"host.request">, ok: boolean, data: unknown, state: State): Step<Op> {
  return { in: [{ type: "host.answer", ...address(state), request, ok, data }], out: [] };
}
