/**
 * Gaps: one table for ops and events that the other side of a wire lacks. A dialect's coverage is data; this file decides the treatment
 * of what it does not cover, and nothing is dropped in silence.
 */
import { textPart } from "../core/content.js";
import type { Fault } from "../core/errors.js";
import type { Call, Event, EventOf } from "../core/event.js";
import { LINE_CAP, QUESTION_BYTES } from "../core/limits.js";
import type { Answer, Op, OpOf } from "../core/op.js";
import { sameJson } from "../core/values/json-object.js";
import { roughSize } from "../core/queue.js";
import { unsaidKeys } from "../core/session-keys.js";
import type { Coverage, Covers, Dialect } from "../dialects/dialect.js";
import { includes } from "../dialects/kit/covers.js";
import { refusal } from "./unanswered.js";

/** The treatment of an op towards a driven agent. */
export type OpGap =
  /** `notice` tells people the part of the op that was lost. */
  | { do: "send"; op: Op; notice?: EventOf<"notice"> }
  /** The link answers; the agent never gets the op. */
  | { do: "answer"; events: Event[] }
  /** A steer that waits for the end of the turn and then goes out as a prompt. */
  | { do: "queue"; op: OpOf<"turn.prompt"> }
  /** The wire has no record for the end of its one session: the link ends the agent. */
  | { do: "leave" };

export function opGap(dialect: Pick<Dialect, "coverage" | "lifetime">, op: Op, turnRuns: boolean): OpGap {
  const covers = dialect.coverage[op.type];
  switch (op.type) {
    case "ping":
      return covers === "none" ? { do: "answer", events: [reply(op, "ok")] } : { do: "send", op };
    case "turn.steer":
      if (covers !== "none") return { do: "send", op };
      if (!turnRuns) return { do: "answer", events: [reply(op, "noop")] };
      return { do: "queue", op: asPrompt(op) };
    case "session.open":
      return wordGap(covers, op, openingWords(op, covers), "open a session with");
    case "turn.prompt":
      return wordGap(covers, op, promptWords(op), "take a prompt with");
    case "session.configure":
      return configureGap(covers, op);
    case "approval.answer":
      return answerGap(covers, op);
    case "session.close":
      if (covers !== "none") return { do: "send", op };
      return dialect.lifetime === "connection" ? refuse(op, "This agent's protocol cannot close one session of many") : { do: "leave" };
    case "session.seed":
    case "session.list":
    case "session.watch":
    case "session.rewind":
    case "session.delete":
    case "session.mark":
    case "provider.set":
    case "turn.interrupt":
    case "host.answer":
    case "command.suggest":
    case "shutdown":
    case "other":
      return covers === "none" ? refuse(op, `This agent's protocol has no ${op.type}`) : { do: "send", op };
    default:
      return op satisfies never;
  }
}

/** The op that answers an event for a host that cannot receive it; undefined for a host that can. */
export function eventGap(coverage: Coverage, event: Event, unheard: "allow" | "deny"): Op | undefined {
  if (event.type === "approval.requested" && (coverage["approval.requested"] === "none" || coverage["approval.answer"] === "none")) {
    const reason = "this host cannot be asked for approval";
    const answers = event.calls.map((call): Answer => ({ call: call.id, decision: unheard, ...(unheard === "deny" && { reason }) }));
    return { type: "approval.answer", ...addressOf(event), answers };
  }
  if (event.type === "host.request" && (!includes(coverage["host.request"], event.kind) || coverage["host.answer"] === "none")) {
    const data = { message: `this host does not answer ${event.kind} requests` };
    return { type: "host.answer", ...addressOf(event), request: event.request, ok: false, data };
  }
  return undefined;
}

/**
 * Fits a question into a line. A question is never cut: a host that sees half of the arguments may answer with half. The preview beside
 * the arguments may be dropped; a question that is too long without it is answered here, and the host does not see it.
 */
export function fitQuestionToLine(event: EventOf<"approval.requested"> | EventOf<"host.request">): { told?: Event; answer?: Op } {
  if (isHeld(event)) return { told: event };
  const reason = `more than the ${QUESTION_BYTES} bytes that a question to the host may have`;
  if (event.type === "host.request") {
    const data = { message: `the ${event.kind} request is ${reason}` };
    return { answer: { type: "host.answer", ...addressOf(event), request: event.request, ok: false, data } };
  }
  const told = { ...event, calls: event.calls.map(withoutPreview) };
  if (isHeld(told)) return { told };
  const answers = event.calls.map(({ id }): Answer => ({ call: id, decision: "deny", reason: `its arguments are ${reason}` }));
  return { told, answer: { type: "approval.answer", ...addressOf(event), answers } };
}

/** A character takes six bytes of JSON at most. */
function isHeld(event: Event): boolean {
  return 6 * roughSize(event) <= QUESTION_BYTES || Buffer.byteLength(JSON.stringify(event)) <= QUESTION_BYTES;
}

function withoutPreview(call: Call): Call {
  if (call.preview === undefined) return call;
  return { ...call, preview: [textPart("(What it would change is too long to be shown here.)")] };
}

/** The fault of an op that is too long for any line; undefined for a shorter one. */
export function overlongOp(op: Op): Fault | undefined {
  if (6 * roughSize(op) <= LINE_CAP) return undefined;
  const bytes = Buffer.byteLength(JSON.stringify(op));
  if (bytes <= LINE_CAP) return undefined;
  return {
    code: "limit",
    message: `The ${op.type} has ${bytes} bytes, and ${LINE_CAP} are the limit of a line: send less`,
    retryable: false,
  };
}

/** Adds an event that hosts wait for and the driven agent's wire lacks: an empty catalogue. */
export function missingEvents(coverage: Coverage, event: Event): Event[] {
  if (event.type !== "session.ready" || coverage["catalog.updated"] !== "none") return [];
  return [{ type: "catalog.updated", ...addressOf(event), whole: true, skills: [], subagents: [], mcpServers: [], commands: [] }];
}

/** The turn id of a steer names the running turn; the prompt begins another turn. */
function asPrompt({ turn: _running, ...op }: OpOf<"turn.steer">): OpOf<"turn.prompt"> {
  return { ...op, type: "turn.prompt" };
}

/** Fits an answer to the wire: a call whose arguments the host changed must not run with the model's arguments. */
export function withoutChanges(dialect: Pick<Dialect, "coverage" | "heedsArgsOf">, answer: Answer, call: Call | undefined): Answer {
  const { args, ...rest } = answer;
  if (answer.decision !== "allow" || args === undefined || includes(dialect.coverage["approval.answer"], "args")) return answer;
  if (call !== undefined && dialect.heedsArgsOf?.includes(call.name) === true) return answer;
  if (call?.args !== undefined && sameJson(args, call.args)) return rest;
  return { call: answer.call, decision: "deny", reason: "this agent's protocol cannot carry changed arguments" };
}

/** Removes `keep` for a wire without it, and tells the host that the grant ends with the session. */
function answerGap(covers: Covers, op: OpOf<"approval.answer">): OpGap {
  const isKept = includes(covers, "keep");
  const isLost = !isKept && op.answers.some(({ keep }) => keep !== undefined);
  const answers = op.answers.map(({ keep, ...answer }) => narrowed(covers, { ...answer, ...(isKept && keep !== undefined && { keep }) }));
  const text = "This agent's protocol cannot keep a permission for later sessions: it ends with this one";
  return { do: "send", op: { ...op, answers }, ...(isLost && { notice: noticeOf(op, text) }) };
}

/** A grant that the wire cannot carry is never widened; the link keeps it (grants.ts). */
function narrowed(covers: Covers, answer: Answer): Answer {
  if (answer.grant !== undefined && answer.grant !== "call" && !includes(covers, answer.grant)) return { ...answer, grant: "call" };
  return answer;
}

/** Parts of an open that cannot be dropped: without one it would open another session, or one that may do more. */
function openingWords({ fork, before, config = {} }: OpOf<"session.open">, covers: Covers): string[] {
  const { restrictions, bounds } = unsaidKeys(config, (word) => includes(covers, word));
  return [...(fork === true ? ["fork"] : []), ...(before === undefined ? [] : ["before"]), ...restrictions, ...bounds];
}

/** Parts of a prompt that cannot be dropped. A command alone is one: without it the prompt would be empty. */
function promptWords({ calls = [], continues, command, parts }: OpOf<"turn.prompt">): string[] {
  const isAll = command !== undefined && parts.length === 0;
  return [...(calls.length > 0 ? ["calls"] : []), ...(continues === true ? ["continues"] : []), ...(isAll ? ["command"] : [])];
}

function wordGap(covers: Covers, op: Op, words: readonly string[], doing: string): OpGap {
  if (covers === "none") return refuse(op, `This agent's protocol has no ${op.type}`);
  const unknown = words.filter((word) => !includes(covers, word));
  return unknown.length === 0 ? { do: "send", op } : refuse(op, `This agent's protocol cannot ${doing} ${unknown.join(", ")}`);
}

/** The link itself keeps the deadline of approvals (deadlines.ts), so `answerSeconds` needs no wire. */
function configureGap(covers: Covers, op: OpOf<"session.configure">): OpGap {
  const { answerSeconds, ...rest } = op.patch;
  const patch = includes(covers, "answerSeconds") ? op.patch : rest;
  if (answerSeconds !== undefined && Object.keys(patch).length === 0) {
    const updated: EventOf<"session.updated"> = { type: "session.updated", ...addressOf(op), config: op.patch };
    return { do: "answer", events: [{ ...updated, ...(op.id !== undefined && { parent: op.id }) }] };
  }
  const unknown = Object.keys(patch).filter((key) => !includes(covers, key));
  if (unknown.length === 0 && covers !== "none") return { do: "send", op: { ...op, patch } };
  return refuse(op, `This agent's protocol cannot change ${unknown.join(", ")} within a session`);
}

function refuse(op: Op, message: string): OpGap {
  const fault = { code: "unsupported", message, retryable: false };
  return { do: "answer", events: [refusal(op, fault), noticeOf(op, message)] };
}

function noticeOf(op: Op, text: string): EventOf<"notice"> {
  return { type: "notice", ...addressOf(op), level: "warning", text, source: "link" };
}

function reply(op: Op, status: "ok" | "noop"): EventOf<"reply"> {
  return { type: "reply", to: op.type, status, ...addressOf(op), ...(op.id !== undefined && { parent: op.id }) };
}

function addressOf(from: { session?: string | undefined }): { session?: string } {
  return from.session === undefined ? {} : { session: from.session };
}
