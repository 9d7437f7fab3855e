/** Client → agent, written: ops become requests and notifications. */
import { plainText } from "../../../core/content.js";
import type { Fault } from "../../../core/errors.js";
import type { Event } from "../../../core/event.js";
import { QUEUE_LIMIT } from "../../../core/limits.js";
import type { Op, OpOf } from "../../../core/op.js";
import { withoutCommand } from "../../../core/text/plain-words.js";
import type { Out, SideEnv, Step } from "../../dialect.js";
import { refusal, refused, replied, reply } from "../../kit/reply.js";
import { NOTHING, together } from "../../kit/step.js";
import { TurnReader } from "../../kit/turn-reader.js";
import { blockOf, type ContentBlock } from "../wire/content.js";
import { notification } from "../wire/rpc.js";
import { isSteerable } from "../wire/sessions.js";
import { chooseMode, chooseOption, configNow, type Choosing } from "./options.js";
import { newTurn } from "./read-calls.js";
import { answerTask, cancelled, refuseTasks, selected } from "./read-requests.js";
import { ask } from "./requests.js";
import { agentName, type Asked, forget, permissionKey, type Change, type DrivenSession, type HostState, type Prompt } from "./state.js";

/** The largest number of ops that wait for a session to be ready. */
const MOST_HELD = 1024;

export function writeOp(op: Op, state: HostState, env: SideEnv): Step<Event> {
  if (op.type === "session.list") return list(op, state);
  if (op.type === "session.delete") return remove(op, state);
  if (op.type === "session.mark") return mark(op, state);
  const session = sessionOf(op, state);
  if (session === undefined) {
    if (op.type === "turn.interrupt" && op.session === undefined) return interruptAll(state);
    return refused(op, `There is no session '${op.session ?? ""}'`, "session");
  }
  if (!session.isReady) {
    if (session.held.length >= MOST_HELD) return refused(op, `${MOST_HELD} ops wait for the session already`, "limit");
    session.held.push(op);
    return NOTHING;
  }
  switch (op.type) {
    case "turn.prompt":
      return prompt(op, session, state, env);
    case "turn.steer":
      return steer(op, session, state, env);
    case "turn.interrupt":
      return interrupt(op, session, state);
    case "approval.answer":
      return answer(op, session, state);
    case "host.answer":
      return answerHost(op, state);
    case "session.configure":
      return configure(op, session, state);
    case "session.close":
      return close(session, state);
    case "session.open":
    case "session.seed":
    case "session.watch":
    case "session.rewind":
    case "provider.set":
    case "command.suggest":
    case "ping":
    case "shutdown":
    case "other":
      return NOTHING;
    default:
      op satisfies never;
      return NOTHING;
  }
}

/** An op without a session is for the only session. */
function sessionOf(op: Op, { sessions }: HostState): DrivenSession | undefined {
  if (op.session !== undefined) return sessions.get(op.session);
  return sessions.size === 1 ? sessions.values().next().value : undefined;
}

// --- turns ---

function prompt(op: Prompt, session: DrivenSession, state: HostState, env: SideEnv): Step<Event> {
  if (session.turn === undefined) return begin(op, session, state, env);
  if (session.queue.length < QUEUE_LIMIT) {
    session.queue.push(op);
    return NOTHING;
  }
  const message = `${QUEUE_LIMIT} prompts wait already; this one was refused`;
  return heard([refusal(op, { code: "limit", message, retryable: true })]);
}

/** Sends a prompt. The wire has no start of a turn, so the turn starts here. */
export function begin(op: Prompt, session: DrivenSession, state: HostState, env: SideEnv): Step<Event> {
  const reader = new TurnReader({
    session: session.handle,
    turn: op.turn ?? env.stamp().id,
    ...(op.id !== undefined && { parent: op.id }),
  });
  const turn = newTurn(reader);
  session.turn = turn;
  const { blocks, lost } = blocksOf(op, state);
  const all = op.overrides === undefined ? lost : [...lost, "overrides"];
  const warned: Event[] =
    all.length === 0
      ? []
      : [
          {
            type: "notice",
            ...reader.address,
            level: "warning",
            text: `${agentName(state)} cannot be told ${all.join(", ")}`,
            source: "acp",
          },
        ];
  const asked = ask("session/prompt", { sessionId: session.id, prompt: blocks }, { for: "prompt", session, turn }, state);
  return { in: [...reader.start(), ...warned], out: [asked] };
}

/** The prompt as content blocks. Plain text is written so that no agent takes it for a command. */
function blocksOf({ parts, command }: Pick<Prompt, "parts" | "command">, state: HostState): { blocks: ContentBlock[]; lost: string[] } {
  const { image, embeddedContext } = state.agent?.agentCapabilities?.promptCapabilities ?? {};
  const lost: string[] = [];
  const blocks = parts.flatMap((part, at): ContentBlock[] => {
    if (part.type === "text") return [{ type: "text", text: at === 0 && command === undefined ? withoutCommand(part.text) : part.text }];
    const block = blockOf(part);
    if (block === undefined || (block.type === "image" && image !== true)) {
      lost.push(`a part of type ${part.type}`);
      return [];
    }
    if (block.type !== "resource" || embeddedContext === true) return [block];
    // An agent without embedded resources gets the text.
    return [{ type: "text", text: plainText([part]) }];
  });
  if (command === undefined) return { blocks, lost };
  const text = `/${command.name}${command.args === undefined || command.args === "" ? "" : ` ${command.args}`}`;
  return { blocks: [{ type: "text", text }, ...blocks], lost };
}

/** An agent without steering gets the text as the next prompt. */
function steer(op: OpOf<"turn.steer">, session: DrivenSession, state: HostState, env: SideEnv): Step<Event> {
  if (session.turn === undefined) return replied(op, "noop");
  if (!isSteerable(state.agent)) return prompt(asPrompt(op), session, state, env);
  const { blocks } = blocksOf(op, state);
  const params = { sessionId: session.id, prompt: blocks, _meta: { steering: { idleBehavior: "promptRequired" } } };
  return { in: [], out: [ask("_session/steering", params, { for: "steer", session, op }, state)] };
}

export function asPrompt({ turn: _running, ...op }: OpOf<"turn.steer">): Prompt {
  return { ...op, type: "turn.prompt" };
}

/** Interrupts a turn and cancels its open permission requests. */
function interrupt(op: OpOf<"turn.interrupt">, session: DrivenSession, state: HostState): Step<Event> {
  const { turn } = session;
  const queued = session.queue.findIndex((waiting) => op.turn !== undefined && waiting.turn === op.turn);
  if (queued !== -1) return together(replied(op, "ok"), dropQueued(queued, session));
  if (turn === undefined || (op.turn !== undefined && op.turn !== turn.reader.address.turn)) return replied(op, "noop");
  return { in: [reply(op, "ok")], out: stop(session, state) };
}

function stop(session: DrivenSession, state: HostState): Out[] {
  if (session.turn === undefined) return [];
  session.turn.isInterrupted = true;
  const asked = [...state.permissions].filter(([, permission]) => permission.session === session);
  for (const [key] of asked) state.permissions.delete(key);
  return [notification("session/cancel", { sessionId: session.id }), ...asked.map(([, { rpc }]) => cancelled(rpc))];
}

function dropQueued(at: number, session: DrivenSession): Step<Event> {
  const [dropped] = session.queue.splice(at, 1);
  if (dropped === undefined) return NOTHING;
  const head = { session: session.handle, turn: dropped.turn ?? "", ...(dropped.id !== undefined && { parent: dropped.id }) };
  return heard([
    { type: "turn.started", ...head },
    { type: "turn.ended", ...head, outcome: "interrupted", reason: "interrupted before it began" },
  ]);
}

/** Interrupts the running turn of each session. */
function interruptAll(state: HostState): Step<Event> {
  return { in: [], out: [...state.sessions.values()].flatMap((session) => stop(session, state)) };
}

// --- answers ---

/** Starts an allowed call, as not every agent reports the start. The link keeps grants that reach beyond the call. */
function answer(op: OpOf<"approval.answer">, session: DrivenSession, state: HostState): Step<Event> {
  const steps = op.answers.map(({ call, decision }): Step<Event> | undefined => {
    const key = permissionKey(session, call);
    const asked = state.permissions.get(key);
    const { turn } = session;
    if (asked === undefined || turn === undefined) return undefined;
    state.permissions.delete(key);
    turn.waiting.delete(call);
    const kinds = decision === "allow" ? ["allow_once"] : ["reject_once", "reject_always"];
    const option = kinds.map((kind) => asked.options.find((one) => one.kind === kind)).find((one) => one !== undefined);
    if (decision === "deny" || option === undefined) turn.denied.add(call);
    if (option === undefined) return { in: [], out: [cancelled(asked.rpc)] };
    return { in: decision === "allow" ? turn.reader.beginCall(turn.reader.byId(call)) : [], out: [selected(asked.rpc, option)] };
  });
  const taken = steps.filter((step) => step !== undefined);
  return taken.length === 0 ? replied(op, "noop") : taken.reduce(together<Event>, NOTHING);
}

function answerHost(op: OpOf<"host.answer">, state: HostState): Step<Event> {
  const task = state.tasks.get(op.request);
  state.tasks.delete(op.request);
  if (task === undefined) return replied(op, "noop");
  const settled: Event = { type: "host.settled", session: task.session.handle, request: op.request, ok: op.ok };
  return { in: [reply(op, "ok"), settled], out: [answerTask(task, op.ok, op.data)] };
}

// --- sessions ---

function configure(op: OpOf<"session.configure">, session: DrivenSession, state: HostState): Step<Event> {
  const { mode, model, thinking, effort } = op.patch;
  const choices: Choosing[] = [];
  if (mode !== undefined) {
    const picked = chooseMode(session, mode);
    if ("refusal" in picked) return refused(op, `${agentName(state)} ${picked.refusal}`);
    if (picked.warning !== undefined && session.answeredMode === undefined) return refused(op, `${agentName(state)} ${picked.warning}`);
    session.answeredMode = picked.answered;
    choices.push(...picked.choose);
  }
  const wishes = [
    ["model", model],
    ["thinking", thinking],
    ["effort", effort],
  ] as const;
  for (const [key, wanted] of wishes) {
    if (wanted === undefined) continue;
    const choice = chooseOption(session, key, wanted);
    if (typeof choice === "string") return refused(op, `${agentName(state)} ${choice}`);
    choices.push(choice);
  }
  const change: Change = { op, left: choices.length, patch: op.patch, fault: undefined };
  if (choices.length === 0) return heard(changed(change, session));
  return { in: [], out: choices.map((choice) => ask(choice.method, choice.params, { for: "change", session, change, choice }, state)) };
}

/** Answers a `session.configure` after its last request. */
export function changed({ op, fault, patch }: Change, session: DrivenSession): Event[] {
  if (fault !== undefined) return [refusal(op, fault)];
  session.config = { ...configNow(session), ...patch };
  return [{ type: "session.updated", session: session.handle, config: session.config, ...(op.id !== undefined && { parent: op.id }) }];
}

/** Ends the session here; the agent is told if it has `session/close`. */
function close(session: DrivenSession, state: HostState): Step<Event> {
  const stopped = [...stop(session, state), ...refuseTasks(session, state)];
  const fault: Fault = { code: "interrupted", message: "The session was closed", retryable: false };
  const turn = session.turn?.reader.close({ outcome: "interrupted", reason: fault.message }) ?? [];
  const queued = session.queue.splice(0).map((op) => refusal(op, fault));
  session.turn = undefined;
  forget(session, state);
  const { close: can } = state.agent?.agentCapabilities?.sessionCapabilities ?? {};
  const asked = can == null ? [] : [ask("session/close", { sessionId: session.id }, { for: "close", session }, state)];
  return { in: [...turn, ...queued, { type: "session.ended", session: session.handle }], out: [...stopped, ...asked] };
}

function list(op: OpOf<"session.list">, state: HostState): Step<Event> {
  if (state.agent?.agentCapabilities?.sessionCapabilities?.list == null) return refused(op, `${agentName(state)} cannot list its sessions`);
  return { in: [], out: [ask("session/list", {}, { for: "list", op: op.id, found: [], pages: 0 }, state)] };
}

function remove(op: OpOf<"session.delete">, state: HostState): Step<Event> {
  if (state.agent?.agentCapabilities?.sessionCapabilities?.delete == null)
    return refused(op, `${agentName(state)} cannot remove its sessions`);
  if (state.named.has(op.sessionId)) return refused(op, `The session '${op.sessionId}' is open; close it first`, "session");
  return { in: [], out: [ask("session/delete", { sessionId: op.sessionId }, { for: "delete", op }, state)] };
}

/** A title and the archive are two requests: the second waits for the first. */
function mark(op: OpOf<"session.mark">, state: HostState): Step<Event> {
  const { title, archive } = state.agent?.agentCapabilities?.sessionCapabilities ?? {};
  const { sessionId, name, archived } = op;
  if (name !== undefined && title == null) return refused(op, `${agentName(state)} cannot rename its sessions`);
  if (archived !== undefined && archive == null) return refused(op, `${agentName(state)} cannot archive its sessions`);
  if (name !== undefined)
    return { in: [], out: [ask("session/set_title", { sessionId, title: name }, { for: "mark", op, isNamed: true }, state)] };
  return archived === undefined ? heard([reply(op, "noop")]) : archiving(op, state);
}

/** An archived session is not open any more. */
function archiving(op: OpOf<"session.mark">, state: HostState): Step<Event> {
  const method = op.archived === true ? "session/archive" : "session/unarchive";
  const live = op.archived === true ? state.named.get(op.sessionId) : undefined;
  const closed = live === undefined ? NOTHING : close(live, state);
  return together(closed, { in: [], out: [ask(method, { sessionId: op.sessionId }, { for: "mark", op, isNamed: false }, state)] });
}

/** A session that is open tells its new name. */
export function marked({ op, isNamed }: Asked & { for: "mark" }, fault: Fault | undefined, state: HostState): Step<Event> {
  if (fault !== undefined) return heard([refusal(op, fault)]);
  const session = isNamed ? state.named.get(op.sessionId) : undefined;
  const isNews = session !== undefined && op.name !== undefined && session.name !== op.name;
  if (isNews) session.name = op.name;
  const news: Event[] = isNews && op.name !== undefined ? [{ type: "session.updated", session: session.handle, name: op.name }] : [];
  const rest = isNamed && op.archived !== undefined ? archiving(op, state) : heard([reply(op, "ok")]);
  return { in: [...news, ...rest.in], out: rest.out };
}

function heard(events: Event[]): Step<Event> {
  return { in: events, out: [] };
}
