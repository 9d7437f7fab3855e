/** Client → daemon, written: ops become operations. */
import { plainText } from "../../../core/content.js";
import type { Event } from "../../../core/event.js";
import type { Op, OpOf } from "../../../core/op.js";
import type { Out, SideEnv, Step } from "../../dialect.js";
import { refused, replied, reply, warning } from "../../kit/reply.js";
import { opId } from "../wire/ids.js";
import { writeSpec } from "../wire/spec.js";
import type { HostState, SentOp } from "./state.js";
import type { OpName } from "../wire/records.js";

/** The most ops of ours that an answer can be matched to. */
const REMEMBERED = 1024;

export function writeOp(op: Op, state: HostState, env: SideEnv): Step<Event> {
  switch (op.type) {
    case "turn.prompt":
      return prompt(op, state, env);
    case "turn.steer":
      if (state.now.turn === undefined && state.prompts.length === 0) return replied(op, "noop");
      return { in: [reply(op, "ok")], out: [line("Steer", plainText(op.parts), sentAs(op), state, env)] };
    case "turn.interrupt":
      return interrupt(op, state, env);
    case "approval.answer":
      return answer(op, state, env);
    case "session.configure":
      return configure(op, state, env);
    case "provider.set":
      return setProvider(op, state, env);
    case "shutdown":
      return { in: [], out: [line("Shutdown", null, sentAs(op), state, env)] };
    case "session.open":
    case "session.seed":
    case "session.close":
    case "session.list":
    case "session.watch":
    case "session.rewind":
    case "session.delete":
    case "session.mark":
    case "host.answer":
    case "command.suggest":
    case "ping":
    case "other":
      return { in: [], out: [] };
    default:
      op satisfies never;
      return { in: [], out: [] };
  }
}

// --- turns ---

function prompt(op: OpOf<"turn.prompt">, state: HostState, env: SideEnv): Step<Event> {
  const { command } = op;
  const sent: SentOp = { ...sentAs(op), turn: op.turn ?? env.stamp().id, ...(command !== undefined && { command }) };
  state.prompts.push(sent);
  const lost = op.parts.filter((part) => plainText([part]) === "").map((part) => `a part of type ${part.type}`);
  if (op.overrides !== undefined) lost.push("overrides");
  const text = plainText(op.parts);
  const out =
    command === undefined
      ? line("UserInput", text, sent, state, env)
      : line("SlashCommand", { name: command.name, args: command.args ?? "" }, sent, state, env);
  return { in: lost.length === 0 ? [] : [warning(`Ante cannot carry ${lost.join(", ")}`, state.session, "ante")], out: [out] };
}

/** Interrupts the turn on the wire. The wire's interrupt names no turn, so other turns get `noop`. */
function interrupt(op: OpOf<"turn.interrupt">, state: HostState, env: SideEnv): Step<Event> {
  const onWire = state.now.turn?.address.turn ?? state.prompts[0]?.turn;
  if (onWire === undefined || (op.turn !== undefined && op.turn !== onWire)) return replied(op, "noop");
  return { in: [reply(op, "ok")], out: [line("Interrupt", null, sentAs(op), state, env)] };
}

/** A batch gets one answer, after every call is decided. */
function answer(op: OpOf<"approval.answer">, state: HostState, env: SideEnv): Step<Event> {
  const { pause } = state;
  const heard = op.answers.filter(({ call }) => pause?.calls.has(call) === true);
  if (heard.length === 0) return replied(op, "noop");
  for (const { call, decision, grant } of heard)
    pause?.calls.set(call, decision === "deny" ? "Skip" : grant === "tool" ? "AcceptForSession" : "Accept");
  return settled(sentAs(op), state, env);
}

/** An allowed call starts here, as the wire has no start. */
export function settled(op: SentOp, state: HostState, env: SideEnv): Step<Event> {
  const { pause } = state;
  if (pause === undefined || [...pause.calls.values()].includes(undefined)) return { in: [], out: [] };
  state.pause = undefined;
  const { turn } = state.now;
  const wireId = (call: string): string => turn?.byId(call)?.wireId ?? call;
  const responses = responsesOf(pause.calls, wireId);
  const accepted = [...pause.calls.keys()].filter((call) => responses.get(wireId(call)) !== "Skip");
  return {
    in: accepted.flatMap((call) => turn?.beginCall(turn.byId(call)) ?? []),
    out: [line("ApprovalResponse", { turn_id: pause.turn, responses: [...responses] }, op, state, env)],
  };
}

/** The decisions, from the least permissive to the most. */
const DECISIONS = ["Skip", "Accept", "AcceptForSession"];

/** Each id on the wire gets one response: calls with the same id get the least permissive decision. */
function responsesOf(decisions: ReadonlyMap<string, string | undefined>, wireId: (call: string) => string): Map<string, string> {
  const responses = new Map<string, string>();
  for (const [call, decision = "Skip"] of decisions) {
    const id = wireId(call);
    const least = Math.min(DECISIONS.indexOf(decision), DECISIONS.indexOf(responses.get(id) ?? "AcceptForSession"));
    responses.set(id, DECISIONS[least] ?? "Skip");
  }
  return responses;
}

// --- the session ---

/** Changes the session by a whole specification. Our side plays the mode, unless the daemon was started to allow everything. */
function configure(op: OpOf<"session.configure">, state: HostState, env: SideEnv): Step<Event> {
  const { mode, ...spec } = op.patch;
  if (mode !== undefined) {
    const problem =
      mode === "plan" ? "has no plan mode" : state.runsAll && mode !== "yolo" ? "was started with everything allowed" : undefined;
    if (problem !== undefined) return refused(op, `Ante ${problem}, and its policy cannot change within a session`);
    state.answeredMode = mode;
  }
  if (Object.keys(spec).length > 0) {
    const model = writeSpec({ ...state.config, ...spec });
    return { in: [], out: [line("UpdateSession", { model }, sentAs(op), state, env)] };
  }
  const { session } = state;
  return { in: [{ type: "session.updated", session, ...(op.id !== undefined && { parent: op.id }), config: { mode } }], out: [] };
}

/** The wire can name only a server on this machine. */
function setProvider(op: OpOf<"provider.set">, state: HostState, env: SideEnv): Step<Event> {
  const port = op.name === "local" && op.baseUrl !== null ? localPort(op.baseUrl) : undefined;
  if (port === undefined) return refused(op, "Ante can only be told of a local provider on a port of this machine");
  const model = op.model === undefined ? null : { name: op.model };
  return { in: [reply(op, "ok")], out: [line("RegisterLocalProvider", { port, model }, sentAs(op), state, env)] };
}

function localPort(baseUrl: string): number | undefined {
  const [, port] = /^http:\/\/(?:127\.0\.0\.1|localhost|\[::1\]):(\d+)(?:\/|$)/.exec(baseUrl) ?? [];
  return port === undefined ? undefined : Number(port);
}

// --- lines ---

/** Wraps an operation. An id that does not have Ante's form gets one, by which the answer is matched. */
export function line(name: OpName, fields: unknown, op: SentOp, state: HostState, env: SideEnv): Out {
  const id = opId(op.id ?? env.stamp().id);
  state.sent.set(id, op);
  const oldest = state.sent.size > REMEMBERED ? state.sent.keys().next().value : undefined;
  if (oldest !== undefined) state.sent.delete(oldest);
  return { rec: { op: fields === null ? name : { [name]: fields }, id } };
}

export function sentAs({ type, id }: Op): SentOp {
  return { type, id };
}
