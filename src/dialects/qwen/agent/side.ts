/** The agent's side of the wire: the receipt, sessions side by side, held lines, and the answers to requests. */
import * as v from "valibot";
import { becamePrompt } from "../../../core/command.js";
import type { Fault } from "../../../core/errors.js";
import type { Event, EventOf } from "../../../core/event.js";
import type { Op } from "../../../core/op.js";
import { roughSize } from "../../../core/queue.js";
import type { Launch } from "../../../core/wire.js";
import type { Out, Side, SideEnv, Step } from "../../dialect.js";
import { agentSideOf } from "../../kit/agent-side.js";
import { stringField } from "../../kit/issues.js";
import { NOTHING, together } from "../../kit/step.js";
import { hearControl } from "./questions.js";
import { closing, quietSummary } from "./write-turns.js";
import { exitOf, invalid, ofRequest, wireError } from "./faults.js";
import { answerHint, readHint } from "./hints.js";
import { readFormats } from "../launch.js";
import { line, recoverable, type Said } from "./lines.js";
import { chatSteps, partsOf, prompt } from "./read-chats.js";
import { readCancel, readToolResponse } from "./read-requests.js";
import { handshakeProblem, receipt, unsupported } from "./receipt.js";
import { Head, readRequest, type Chat, type Request } from "./read-ops.js";
import { commandResult, controlResponse, resultCancel, resultCommand, resultHeartbeat } from "./write-replies.js";
import { agentState, clientSession, sessionNamed, turnNamed, type Asked, type ClientSession, type HostLine } from "./state.js";
import type { WireError } from "../wire/event-records.js";
import { writeLoose } from "./write-loose.js";
import { writeTurn } from "./write-events.js";

export function agentSide(env: SideEnv): Side<Op, Event> {
  const state = agentState();
  return agentSideOf(
    {
      launch,
      read: (rec) => heard({ rec }),
      bad: (words) => heard({ bad: words }),
      write: written,
      isOver: () => state.isOver,
      inputEnded() {
        state.isDeaf = true;
        // Servers of a host that no longer answers will never connect.
        for (const session of state.sessions.values()) session.awaited.clear();
        return [...state.sessions.values()].map(released).reduce(together<Op>, NOTHING);
      },
      isHolding,
      beat: () => (state.isReceived ? { in: [], out: [resultHeartbeat(state.active, undefined, env.stamp().at)] } : NOTHING),
    },
    env,
  );

  // --- lines ---

  function launch({ argv, open }: Launch): Step<Op> {
    state.formats = readFormats(argv);
    state.chunks = state.formats.output === "stream-chunk-json";
    state.isDeaf = state.formats.input === "text";
    state.defaults = open?.config ?? {};
    const session = addSession(open?.open === "new" ? (open.sessionId ?? env.stamp().id) : env.stamp().id);
    session.isFresh = open?.open !== "resume";
    session.hasRole = true;
    state.untaken = session;
    return { in: [opening(session, { open: "new", ...open })], out: [] };
  }

  /** The receipt is the first line: lines of a host that does not wait for it are held. */
  function heard(line: HostLine): Step<Op> {
    // A host that names no format begins with its first line.
    if (state.sessions.size === 0) return together(launch({ argv: [], env: {} }), heard(line));
    if (state.isReceived) return said(line);
    // A line beyond the bound is answered in its place, like an unreadable line.
    state.early.push(isTooMuch(line) ? { bad: `${TOO_MUCH}: ` } : line);
    return NOTHING;
  }

  function said(line: HostLine): Step<Op> {
    if (state.isOver) return NOTHING;
    if ("bad" in line) return refused(invalid(line.bad, undefined, "QWEN_INVALID_JSON"));
    const head = v.safeParse(Head, line.rec);
    const problem = head.success ? handshakeProblem(head.output) : undefined;
    if (problem !== undefined) return fatal(unsupported(problem, state, env), exitOf({ code: "version", message: "" }));
    const request = readRequest(line.rec);
    if ("unanswerable" in request) {
      const error = { message: "This agent takes no control requests (unsupported)", retryable: false };
      return { in: [], out: [controlResponse(request.unanswerable, { subtype: "error", error })] };
    }
    if (!("error" in request)) return meant(request);
    if (request.fatal !== true) return unreadable(line.rec, request.error);
    const { error } = request;
    return fatal(() => ({ rec: { error } }), exitOf({ code: "usage", message: "" }));
  }

  function meant(request: Request): Step<Op> {
    switch (request.kind) {
      case "chat":
        return request.origin === "tool_response" ? readToolResponse(request, state, env) : chat(request);
      case "hint":
      case "hint.cancel":
        return readHint(request.line, state, env);
      case "heartbeat": {
        const session = sessionNamed(state, request.line.session_id ?? "") ?? state.active;
        return { in: [], out: [resultHeartbeat(session, request.line.prompt_id ?? undefined, env.stamp().at)] };
      }
      case "cancel":
        return readCancel(request.line, state, env);
      case "control":
        return hearControl(request.line, state, env);
      default:
        request satisfies never;
        return NOTHING;
    }
  }

  /** An error about a line belongs to no turn. */
  function refused(error: WireError, session = state.active, promptId?: string): Step<Op> {
    if (session === undefined) return NOTHING;
    return { in: [], out: [recoverable(state, { at: env.stamp().at, session, promptId }, error)] };
  }

  /** The answer names the session and prompt of the unreadable line. */
  function unreadable(rec: unknown, error: WireError): Step<Op> {
    return refused(error, sessionNamed(state, stringField(rec, "session_id") ?? ""), stringField(rec, "prompt_id"));
  }

  /** Stops reading. The running turns are ended first, so that this is the last line. */
  function fatal(says: (session: ClientSession | undefined) => Out, exit: number): Step<Op> {
    state.isOver = true;
    state.last = { says, exit };
    return { in: [{ type: "shutdown", id: env.stamp().id, when: "now" }], out: [] };
  }

  // --- sessions ---

  function addSession(handle: string): ClientSession {
    const session = clientSession(handle);
    state.sessions.set(handle, session);
    state.active ??= session;
    return session;
  }

  function opening(session: ClientSession, open: NonNullable<Launch["open"]>): Op {
    const id = env.stamp().id;
    state.asked.set(id, { kind: "open", session });
    return { type: "session.open", id, session: session.handle, ...open };
  }

  function chat(request: Chat): Step<Op> {
    const known = request.sessionId === undefined ? state.untaken : sessionNamed(state, request.sessionId);
    const waits = known?.isReady !== true || known.awaited.size > 0;
    if (waits && isTooMuch(request)) return refused(invalid(TOO_MUCH, undefined, "limit"), known ?? state.active, request.promptId);
    const session = known ?? addSession(request.sessionId ?? env.stamp().id);
    if (session === state.untaken) state.untaken = undefined;
    session.held.push(request);
    if (known !== undefined) return released(session);
    const { sessionId } = request;
    return { in: [opening(session, { open: "new", config: state.defaults, ...(sessionId !== undefined && { sessionId }) })], out: [] };
  }

  /** Releases the requests held for a session, in order. */
  function released(session: ClientSession): Step<Op> {
    let step: Step<Op> = NOTHING;
    while (session.isReady && session.awaited.size === 0) {
      const next = session.held.shift();
      if (next === undefined) break;
      step = together(step, chatSteps(next, session, state, env));
      // The session's host has servers that must be connected first.
      if (session.awaited.size > 0) session.held.unshift(next);
    }
    return step;
  }

  function isTooMuch(waiting: unknown): boolean {
    if (!isHolding()) state.heldBytes = 0;
    state.heldBytes += roughSize(waiting);
    return state.heldBytes > HELD_BYTES;
  }

  function isHolding(): boolean {
    return state.early.length > 0 || [...state.sessions.values()].some(({ held }) => held.length > 0);
  }

  // --- events ---

  function written(event: Event): Step<Op> {
    const session = state.sessions.get(event.session ?? "");
    if (event.replay === true) return NOTHING;
    switch (event.type) {
      case "session.ready":
        return session === undefined ? NOTHING : onReady(event, session);
      case "session.updated":
        return session === undefined ? NOTHING : onUpdated(event, session);
      case "session.ended":
        state.sessions.delete(event.session ?? "");
        return NOTHING;
      case "catalog.updated":
        return session === undefined ? NOTHING : onCatalog(event, session);
      case "reply":
        return onReply(event);
      case "closed":
        return onClosed(event);
      default:
        return told(event, session ?? state.active);
    }
  }

  function told(event: Event, session: ClientSession | undefined): Step<Op> {
    if (session === undefined) return NOTHING;
    const at = event.at ?? 0;
    if (event.turn === undefined) return { in: [], out: writeLoose(event, { at, session, promptId: askerOf(event, session) }, state) };
    const out = writeTurn(event, session, turnNamed(session, event.turn), state);
    return { in: event.type === "host.request" ? alreadyAnswered(event, session) : [], out };
  }

  /** The running turn carries messages to a server of the host. */
  function askerOf({ type }: Event, { live }: ClientSession): string | undefined {
    return type === "host.request" ? live?.promptId : undefined;
  }

  function alreadyAnswered({ request, call = "" }: EventOf<"host.request">, session: ClientSession): Op[] {
    const response = session.earlyResponses.get(call);
    if (response === undefined) return [];
    session.earlyResponses.delete(call);
    return [{ type: "host.answer", id: env.stamp().id, session: session.handle, request, ...response }];
  }

  function onReady(event: EventOf<"session.ready">, session: ClientSession): Step<Op> {
    state.asked.delete(event.parent ?? "");
    session.isReady = true;
    session.id = event.sessionId ?? session.handle;
    session.config = event.config ?? {};
    // The earlier numbers of a stored session are unknown, but there was at most one a millisecond.
    if (!session.isFresh) session.prompts = event.at ?? 0;
    if (state.isReceived) return released(session);
    state.isReceived = true;
    const first: Step<Op> = { in: [], out: [receipt({ at: event.at ?? 0, session }, event.version, state)] };
    return state.early
      .splice(0)
      .map(said)
      .reduce(together<Op>, first);
  }

  function onUpdated(event: EventOf<"session.updated">, session: ClientSession): Step<Op> {
    session.config = { ...session.config, ...event.config };
    const asked = state.asked.get(event.parent ?? "");
    state.asked.delete(event.parent ?? "");
    if (asked?.kind !== "guidance") return NOTHING;
    const at = event.at ?? 0;
    const summary = quietSummary(asked.promptId, asked.at, at);
    return { in: [], out: [closing(state, { at, session, promptId: asked.promptId }, { metadata: { summary } })] };
  }

  function onCatalog({ mcpServers = [] }: EventOf<"catalog.updated">, session: ClientSession): Step<Op> {
    for (const { name } of mcpServers) session.awaited.delete(name);
    return released(session);
  }

  /** The line that ends the process comes after all others. */
  function onClosed({ reason }: EventOf<"closed">): Step<Op> {
    const { last } = state;
    state.isOver = true;
    const log: Out[] = reason === undefined ? [] : [{ log: reason }];
    if (last === undefined) return { in: [], out: log };
    return { in: [], out: [...log, last.says(state.active), { exit: last.exit }] };
  }

  // --- answers ---

  function onReply(event: EventOf<"reply">): Step<Op> {
    if (event.to === "session.open" && !state.isReceived) return cannotStart(event.fault);
    const asked = state.asked.get(event.parent ?? "");
    if (asked === undefined) return NOTHING;
    if (event.status !== "loading") state.asked.delete(event.parent ?? "");
    const at = event.at ?? 0;
    switch (asked.kind) {
      case "open":
        return notOpened(event.fault, asked.session, at);
      case "prompt":
        return onPrompted(event, asked, at);
      case "steer":
        return onSteered(event, asked, at);
      case "cancel":
        return { in: [], out: resultCancel(event.status === "ok" ? "ok" : "noop", CANCELS[event.status === "ok" ? "ok" : "noop"], asked) };
      case "hint":
        return answerHint(event, asked, state, env);
      case "guidance":
      case "change":
        asked.session.awaited.clear();
        return together(failed(event.fault, { at, session: asked.session }), released(asked.session));
      default:
        asked satisfies never;
        return NOTHING;
    }
  }

  function cannotStart(fault: Fault = { code: "internal", message: "The session could not be opened" }): Step<Op> {
    state.isOver = true;
    return { in: [], out: [line({ error: wireError(fault) }), { exit: exitOf(fault), reason: fault.message }] };
  }

  /** A stored session may have that name: our side tries to resume it. */
  function notOpened(fault: Fault | undefined, session: ClientSession, at: number): Step<Op> {
    if (fault?.code === "session" && !session.isResumed) {
      session.isResumed = true;
      session.isFresh = false;
      return { in: [opening(session, { open: "resume", sessionId: session.id, config: state.defaults })], out: [] };
    }
    state.sessions.delete(session.handle);
    if (state.active === session) state.active = [...state.sessions.values()].at(-1) ?? session;
    return session.held
      .splice(0)
      .map(({ promptId }) => failed(fault, { at, session, promptId }))
      .reduce(together<Op>, NOTHING);
  }

  function onPrompted(event: EventOf<"reply">, asked: Extract<Asked, { kind: "prompt" }>, at: number): Step<Op> {
    const { session, turn, command } = asked;
    if (!becamePrompt(event.data)) session.turns.delete(turn.id);
    if (command === undefined) return failed(ofRequest(event.fault, asked.firstCall), { at, session, promptId: turn.promptId });
    return { in: [], out: [resultCommand(session, turn.promptId, command, commandResult(event, state))] };
  }

  /** The turn had just ended, so the steer becomes a prompt. */
  function onSteered(event: EventOf<"reply">, { session, request }: Extract<Asked, { kind: "steer" }>, at: number): Step<Op> {
    if (event.status === "noop") return { in: prompt(request, partsOf(request), session, state, env), out: [] };
    return failed(event.fault, { at, session, promptId: request.promptId });
  }

  function failed(fault: Fault | undefined, about: Said): Step<Op> {
    return fault === undefined ? NOTHING : { in: [], out: [recoverable(state, about, wireError(fault))] };
  }
}

/** The most lines held for the receipt and requests held for sessions, together. */
const HELD_BYTES = 32 * 1024 * 1024;
const TOO_MUCH = `More than ${HELD_BYTES} bytes wait for a session already`;

const CANCELS = { ok: "The request is cancelled.", noop: "There is nothing to cancel." } as const;
