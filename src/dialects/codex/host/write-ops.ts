/** Host → server, written: ops become requests, and the answers to the agent's questions. */
import * as v from "valibot";
import type { Event } from "../../../core/event.js";
import { isRecord } from "../../../core/values/json-object.js";
import type { Op, OpOf } from "../../../core/op.js";
import type { Out, SideEnv, Step } from "../../dialect.js";
import { refusal, refused, replied, reply, warning } from "../../kit/reply.js";
import { NOTHING, stepOf } from "../../kit/step.js";
import { writeInput } from "../wire/input.js";
import { policyOf, sandboxPolicy } from "../wire/policy.js";
import { Thread } from "../wire/threads.js";
import { effortOf } from "./open-thread.js";
import { endTurn } from "./read-events.js";
import { answerOf } from "./read-questions.js";
import { mark, remove, rewind } from "./stored-threads.js";
import { ask, modeOf, startTurn, type HostedThread, type HostState, type Question, type SentPrompt } from "./state.js";

export function writeOp(op: Op, state: HostState, env: SideEnv): Step<Event> {
  if (op.type === "session.list") return list(op, state);
  if (op.type === "session.delete") return remove(op, state);
  if (op.type === "session.mark") return mark(op, state);
  if (op.type === "other") return passOn(op, state);
  const thread = threadOf(op, state);
  if (thread === undefined) {
    return refused(op, `There is no session '${op.session ?? ""}'`, "session");
  }
  if (thread.threadId === undefined) {
    thread.held.push(op);
    return NOTHING;
  }
  const { threadId } = thread;
  switch (op.type) {
    case "turn.prompt":
      return prompt(op, thread, threadId, state, env);
    case "turn.steer":
      return steer(op, thread, threadId, state);
    case "turn.interrupt":
      return interrupt(op, thread, threadId, state);
    case "approval.answer":
      return answer(op, thread, state);
    case "host.answer":
      return hostAnswer(op, thread, state);
    case "session.configure":
      return configure(op, thread, threadId, state);
    case "session.seed":
      return seed(op, threadId, state);
    case "session.close":
      return close(op, thread, threadId, state);
    case "session.rewind":
      return rewind(op, thread, threadId, state);
    case "session.open":
    case "session.watch":
    case "provider.set":
    case "command.suggest":
    case "ping":
    case "shutdown":
      return NOTHING;
    default:
      op satisfies never;
      return NOTHING;
  }
}

/** An op without a session is for the only thread. */
function threadOf({ session }: Op, { threads }: HostState): HostedThread | undefined {
  if (session !== undefined) return threads.get(session);
  return threads.size === 1 ? threads.values().next().value : undefined;
}

// --- turns ---

const COMPACT: ReadonlySet<string> = new Set(["compact", "compress"]);

function prompt(op: OpOf<"turn.prompt">, thread: HostedThread, threadId: string, state: HostState, env: SideEnv): Step<Event> {
  const sent: SentPrompt = { turn: op.turn ?? env.stamp().id, op: op.id, wireTurn: undefined, isStopped: false };
  if (op.command !== undefined) return command(op, op.command.name, sent, thread, threadId, state);
  thread.prompts.push(sent);
  const { input, lost } = writeInput(op.parts);
  if (op.overrides !== undefined) lost.push("overrides");
  const told: Event[] =
    lost.length === 0 ? [] : [warning(`Codex cannot be told ${lost.join(", ")} with this prompt`, thread.handle, "codex")];
  return { in: told, out: [ask("turn/start", { threadId, input }, state, started(op, sent, thread, state))] };
}

/** Sends a command. The server has compaction only, which is a turn of its own. */
function command(op: Op, name: string, sent: SentPrompt, thread: HostedThread, threadId: string, state: HostState): Step<Event> {
  if (!COMPACT.has(name)) return refused(op, `Codex's server has no command '/${name}'`);
  thread.prompts.push(sent);
  return { in: [], out: [ask("thread/compact/start", { threadId }, state, started(op, sent, thread, state))] };
}

const Started = v.looseObject({ turn: v.looseObject({ id: v.string() }) });

function started(op: Op, sent: SentPrompt, thread: HostedThread, state: HostState): Parameters<typeof ask>[3] {
  return (answer) => {
    if ("error" in answer) {
      thread.prompts = thread.prompts.filter((each) => each !== sent);
      if (thread.running?.prompt === sent) return { in: endTurn(thread.running, undefined, thread, state), out: [] };
      return stepOf<Event>([refusal(op, answer.error)]);
    }
    if (!v.is(Started, answer.result)) return NOTHING;
    const { id } = answer.result.turn;
    if (thread.prompts.includes(sent)) sent.wireTurn ??= id;
    const begun = thread.running === undefined && thread.prompts.includes(sent) ? startTurn(id, thread) : [];
    return stepOf(begun);
  };
}

function steer(op: OpOf<"turn.steer">, { running }: HostedThread, threadId: string, state: HostState): Step<Event> {
  if (running === undefined) return replied(op, "noop");
  const params = { threadId, input: writeInput(op.parts).input, expectedTurnId: running.wireTurn };
  return { in: [], out: [ask("turn/steer", params, state, (answer) => replied(op, "error" in answer ? "noop" : "ok"))] };
}

/** Interrupts a turn. For a turn that the server has not begun, `stops` sends the interrupt later. */
function interrupt(op: OpOf<"turn.interrupt">, thread: HostedThread, threadId: string, state: HostState): Step<Event> {
  const { running } = thread;
  const isRunning = running !== undefined && (op.turn === undefined || running.told.address.turn === op.turn);
  if (isRunning && running.isBegun) return { in: [reply(op, "ok")], out: [stop(threadId, running.wireTurn, thread, state)] };
  const meant = op.turn === undefined ? thread.prompts[0] : thread.prompts.find(({ turn }) => turn === op.turn);
  if (meant === undefined) return replied(op, "noop");
  meant.isStopped = true;
  return replied(op, "ok");
}

/** The interrupts that waited for their turns to begin. */
export function stops(state: HostState): Out[] {
  return [...state.threads.values()].flatMap((thread) => {
    const { running, threadId } = thread;
    if (threadId === undefined || running?.isBegun !== true || running.isStopped || running.prompt?.isStopped !== true) return [];
    return [stop(threadId, running.wireTurn, thread, state)];
  });
}

function stop(threadId: string, turnId: string, { running }: HostedThread, state: HostState): Out {
  if (running?.wireTurn === turnId) running.isStopped = true;
  return ask("turn/interrupt", { threadId, turnId }, state, () => NOTHING);
}

// --- answers ---

function answer(op: OpOf<"approval.answer">, thread: HostedThread, state: HostState): Step<Event> {
  const steps = op.answers.flatMap(({ call, decision, reason = "" }) => {
    const found = [...state.questions].find(([, question]) => asksFor(question, thread, call));
    const verdict = decision === "allow" ? {} : { denial: reason };
    return found?.[1].kind === "approval" ? [decided(found[0], found[1], verdict, state)] : [];
  });
  if (steps.length === 0) return replied(op, "noop");
  return { in: steps.flatMap((step) => step.in), out: steps.flatMap((step) => step.out) };
}

export function asksFor(question: Question, thread: HostedThread, call: string): boolean {
  return question.kind === "approval" && question.thread === thread && question.call === call;
}

/** A denial has its reason, or an empty text. */
export interface Verdict {
  denial?: string;
}

/** Answers an approval. An allowed call starts here, as the wire has no start; a grant of permissions starts and ends here. */
export function decided(
  id: string | number,
  question: Question & { kind: "approval" },
  { denial }: Verdict,
  state: HostState,
): Step<Event> {
  state.questions.delete(id);
  const { running } = question.thread;
  const allowed = denial === undefined;
  const out = [answerOf(id, question.reply(allowed))];
  const known = running?.told.byId(question.call);
  if (running === undefined || known === undefined) return { in: [], out };
  if (!allowed) running.denied.set(question.call, denial);
  const begun = allowed ? running.told.beginCall(known) : [];
  if (known.call.name !== "RequestPermissions") return { in: begun, out };
  const end = allowed ? ({ status: "ok" } as const) : ({ status: "denied", ...(denial !== "" && { reason: denial }) } as const);
  return { in: [...begun, ...running.told.end(known.wireId, end)], out };
}

function hostAnswer(op: OpOf<"host.answer">, thread: HostedThread, state: HostState): Step<Event> {
  const found = [...state.questions].find(([, each]) => each.kind === "request" && each.thread === thread && each.request === op.request);
  const question = found?.[1];
  if (found === undefined || question?.kind !== "request") return replied(op, "noop");
  state.questions.delete(found[0]);
  const settled: Event = { type: "host.settled", session: thread.handle, request: op.request, ok: op.ok };
  return { in: [settled], out: [answerOf(found[0], question.reply(op))] };
}

// --- the session ---

/** Changes the session. The mode takes effect at once, as our side answers its approvals; the rest from the next turn on. */
function configure(op: OpOf<"session.configure">, thread: HostedThread, threadId: string, state: HostState): Step<Event> {
  const { model, cwd, mode } = op.patch;
  const before = thread.config;
  thread.config = { ...before, ...op.patch };
  const effort = effortOf(op.patch);
  const params = {
    threadId,
    ...(model !== undefined && { model }),
    ...(cwd !== undefined && { cwd }),
    ...(effort !== undefined && { effort }),
    ...(mode !== undefined && modeParams(thread)),
  };
  return {
    in: [],
    out: [
      ask("thread/settings/update", params, state, (answer) => {
        if ("error" in answer) {
          thread.config = before;
          return stepOf<Event>([refusal(op, answer.error)]);
        }
        const { handle: session } = thread;
        return {
          in: [{ type: "session.updated", session, sessionId: threadId, config: op.patch, ...(op.id !== undefined && { parent: op.id }) }],
          out: [],
        };
      }),
    ],
  };
}

function modeParams(thread: HostedThread): object {
  const { approvalPolicy, sandbox } = policyOf(modeOf(thread));
  const policy = { approvalPolicy, sandboxPolicy: sandboxPolicy(sandbox, thread.config.directories) };
  return { ...policy, ...collaboration(thread) };
}

/** Codex's own plan mode; its parameters must repeat the model. */
export function collaboration(thread: HostedThread): object {
  const { model } = thread.config;
  if (model === undefined) return {};
  const settings = { model, reasoning_effort: effortOf(thread.config) ?? null, developer_instructions: null };
  return { collaborationMode: { mode: modeOf(thread) === "plan" ? "plan" : "default", settings } };
}

/** Puts seeded text into the thread as messages of the model's wire. */
function seed(op: OpOf<"session.seed">, threadId: string, state: HostState): Step<Event> {
  const messages = op.messages ?? [{ role: "user" as const, text: op.text }];
  const items = messages.map(({ role, text }) => ({
    type: "message",
    role,
    content: [{ type: role === "user" ? "input_text" : "output_text", text }],
  }));
  return {
    in: [],
    out: [
      ask("thread/inject_items", { threadId, items }, state, (answer) =>
        "error" in answer ? stepOf<Event>([refusal(op, answer.error)]) : replied(op, "ok"),
      ),
    ],
  };
}

/** Ends the session: the server keeps the thread and sends no more notifications about it. */
function close(op: OpOf<"session.close">, thread: HostedThread, threadId: string, state: HostState): Step<Event> {
  thread.isClosing = true;
  const { running } = thread;
  const stopped = running === undefined ? [] : [stop(threadId, running.wireTurn, thread, state)];
  return {
    in: [],
    out: [
      ...stopped,
      ask("thread/unsubscribe", { threadId }, state, (answer) => {
        if ("error" in answer) {
          thread.isClosing = false;
          return stepOf<Event>([refusal(op, answer.error)]);
        }
        state.threads.delete(thread.handle);
        const interrupted = { id: thread.running?.wireTurn ?? "", status: "interrupted" as const };
        const ended = thread.running === undefined ? [] : endTurn(thread.running, interrupted, thread, state);
        return {
          in: [...ended, { type: "session.ended", session: thread.handle, ...(op.id !== undefined && { parent: op.id }) }],
          out: [],
        };
      }),
    ],
  };
}

const Listed = v.looseObject({ data: v.array(Thread) });

function list(op: OpOf<"session.list">, state: HostState): Step<Event> {
  return {
    in: [],
    out: [
      ask("thread/list", {}, state, (answer) => {
        if ("error" in answer) return stepOf<Event>([refusal(op, answer.error)]);
        const stored = v.is(Listed, answer.result) ? answer.result.data.map(summary) : [];
        const sessions = [...state.threads.values()].map(({ handle, config }) => ({ session: handle, config }));
        return { in: [{ ...reply(op, "ok"), data: { sessions, stored } }], out: [] };
      }),
    ],
  };
}

function summary({ id, cwd, name, preview, createdAt, updatedAt }: Thread): object {
  return {
    id,
    cwd: cwd ?? "",
    ...(name != null && { name }),
    ...(createdAt != null && { createdAt: createdAt * 1000 }),
    ...(updatedAt != null && { usedAt: updatedAt * 1000 }),
    ...(preview != null && preview !== "" && { firstPrompt: preview }),
  };
}

/** Sends an `other` op as the server's method of that name. */
function passOn(op: OpOf<"other">, state: HostState): Step<Event> {
  const thread = threadOf(op, state);
  const own = thread?.threadId === undefined ? {} : { threadId: thread.threadId };
  const params = isRecord(op.data) ? { ...own, ...op.data } : own;
  return {
    in: [],
    out: [
      ask(op.name, params, state, (answer) =>
        "error" in answer ? stepOf<Event>([refusal(op, answer.error)]) : { in: [{ ...reply(op, "ok"), data: answer.result }], out: [] },
      ),
    ],
  };
}
