/** The agent's side of the wire: the greeting, threads, turns and the client's other requests. */
import type { Event, EventOf } from "../../../core/event.js";
import type { Op } from "../../../core/op.js";
import type { Out, Side, SideEnv, Step } from "../../dialect.js";
import { agentSideOf } from "../../kit/agent-side.js";
import { NOTHING, together } from "../../kit/step.js";
import { execSide } from "./exec-side.js";
import { EXEC_LINES } from "../launch.js";
import { shownPolicy } from "../wire/policy.js";
import type { RequestId } from "../wire/requests.js";
import { readCall, type Call } from "./calls.js";
import { askApproval, askHost, handStep, readAnswer, voided } from "./questions.js";
import { handle } from "./requests.js";
import { agentState, threadOfHandle, type ClientThread, type OpenThread } from "./state.js";
import { openedView, seconds, threadView, turnView } from "./views.js";
import { endLane, noticesOf, notice, type Notice } from "./write-events.js";

/** Chooses between the program's two wires by the launch: `codex exec` for one prompt, else the app-server. */
export function agentSide(env: SideEnv): Side<Op, Event> {
  let side: Side<Op, Event> | undefined;
  const chosen = (): Side<Op, Event> => (side ??= appServer(env));
  return {
    read(frame) {
      if ("launch" in frame && frame.launch.argv.includes(EXEC_LINES)) side = execSide(env);
      return chosen().read(frame);
    },
    write: (event) => chosen().write(event),
    end: (closed) => chosen().end(closed),
  };
}

function appServer(env: SideEnv): Side<Op, Event> {
  const state = agentState();
  const respond = (id: RequestId, result: unknown): Out => ({ rec: { id, result } });
  const context = { state, env, respond, open, tell };
  return agentSideOf(
    {
      launch({ cwd, open: asked }) {
        state.cwd = cwd;
        state.defaults = asked?.config ?? {};
        return NOTHING;
      },
      read: (rec) => called(readCall(rec)),
      bad: (words) => ({ in: [], out: [refusal(null, -32_700, words)] }),
      write: written,
    },
    env,
  );

  function refusal(id: RequestId | null, code: number, message: string): Out {
    return { rec: { error: { code, message }, id } };
  }

  function called(call: Call): Step<Op> {
    switch (call.is) {
      case "bad":
        return { in: [], out: [refusal(call.id, -32_600, call.message)] };
      case "notification":
        return NOTHING;
      case "answer": {
        const { ops, notices } = readAnswer(call.id, call.answer, state, env);
        return { in: ops, out: tell(notices, undefined) };
      }
      case "request": {
        if (call.method !== "initialize" && !state.isGreeted) return { in: [], out: [refusal(call.id, -32_600, "Not initialized")] };
        const step = handle(call, context);
        return typeof step === "string" ? { in: [], out: [refusal(call.id, -32_600, step)] } : step;
      }
      default:
        call satisfies never;
        return NOTHING;
    }
  }

  function tell(notices: readonly Notice[], at: number | undefined): Out[] {
    return notices
      .filter(({ method }) => !state.muted.has(method))
      .map(({ method, params }) => ({ rec: { method, params, ...(at !== undefined && { emittedAtMs: at }) } }));
  }

  // --- opening ---

  /** Opens a session. The request is answered when the session is ready and its replay is complete. */
  function open(id: RequestId, op: Op & { type: "session.open" }, opening: OpenThread, withTurns: boolean): Step<Op> {
    const key = op.id ?? "";
    state.opening.set(key, opening);
    state.waiting.set(key, (event) => {
      state.opening.delete(key);
      if (event.type !== "session.ready") return { in: [], out: [refusal(id, -32_600, failureOf(event))] };
      return ready(id, event, opening, withTurns);
    });
    return { in: [op], out: [] };
  }

  function ready(id: RequestId, event: EventOf<"session.ready">, opening: OpenThread, withTurns: boolean): Step<Op> {
    const { sessionId = opening.handle, config = {}, name, replay, at = 0 } = event;
    const whole = { ...opening.config, ...config };
    const thread: ClientThread = {
      handle: event.session ?? opening.handle,
      threadId: sessionId,
      forkedFrom: opening.forkedFrom,
      isKept: event.sessionId !== undefined,
      config: whole,
      changing: new Set(),
      never: opening.asking?.never ?? false,
      shown: opening.shown ?? shownPolicy(whole.mode, false),
      preview: "",
      name,
      createdAt: seconds(at),
      turns: [],
      lanes: new Map(),
      lastTurn: undefined,
      inputs: new Map(),
      renamed: undefined,
      calls: new Map(),
      usage: undefined,
      isCounted: false,
      fault: undefined,
      structured: undefined,
      wantsStructure: false,
      accepted: new Set(),
      waitsFor: [],
      compacting: undefined,
      closer: undefined,
      replayLeft: typeof replay === "number" ? replay : 0,
      onReplayed: undefined,
    };
    state.threads.set(sessionId, thread);
    const answer = (): Out[] => [
      respond(id, openedView(thread, withTurns ? thread.turns : [])),
      ...tell([notice("thread/started", { thread: threadView(thread) })], event.at),
    ];
    const early = state.early.splice(0).filter(({ session }) => session === thread.handle);
    const rest = (): Step<Op> => early.map((each) => written(each)).reduce(together<Op>, NOTHING);
    if (thread.replayLeft === 0) return together({ in: [], out: answer() }, rest());
    thread.onReplayed = () => answer().flatMap((out) => ("rec" in out ? [out.rec] : []));
    return rest();
  }

  function failureOf(event: Event): string {
    return event.type === "reply" ? (event.fault?.message ?? "The thread could not be opened") : "The thread could not be opened";
  }

  // --- events ---

  function written(event: Event): Step<Op> {
    if (event.parent !== undefined && ANSWERS.has(event.type)) threadOfHandle(event.session, state)?.changing.delete(event.parent);
    const waits = event.parent === undefined || !ANSWERS.has(event.type) ? undefined : state.waiting.get(event.parent);
    if (waits !== undefined && event.parent !== undefined) {
      state.waiting.delete(event.parent);
      return event.type === "session.updated" || event.type === "session.ended" ? together(waits(event), told(event)) : waits(event);
    }
    return told(event);
  }

  function told(said: Event): Step<Op> {
    const thread = threadOfHandle(said.session, state);
    if (thread === undefined) return loose(said);
    const event = withClientsTurn(said, thread);
    if (event.replay === true) return replayed(event, thread);
    switch (event.type) {
      case "approval.requested": {
        const asked = askApproval(event, thread, state, env);
        return handStep(asked, tell(asked.notices, event.at));
      }
      case "host.request": {
        const asked = askHost(event, thread, state, env);
        return handStep(asked, tell(asked.notices, event.at));
      }
      case "host.settled":
        return news(
          voided(thread, (asked) => asked.kind !== "approval" && asked.request === event.request, state),
          event,
        );
      case "tool.ended":
        return news(
          [...voided(thread, (asked) => asked.kind === "approval" && asked.call === event.call, state), ...noticesOf(event, thread)],
          event,
        );
      case "turn.ended":
        return news([...voided(thread, () => true, state), ...noticesOf(event, thread)], event);
      case "session.ended":
        return ended(thread, event);
      case "reply":
        return onReply(event, thread);
      default:
        return news(noticesOf(event, thread), event);
    }
  }

  function news(notices: readonly Notice[], event: Event): Step<Op> {
    return { in: [], out: tell(notices, event.at) };
  }

  /** Writes an event that belongs to no thread of the client. Events of a session that is being opened wait for its thread. */
  function loose(event: Event): Step<Op> {
    const isOpening = [...state.opening.values()].some(({ handle: name }) => name === event.session);
    if (isOpening && event.session !== undefined) {
      state.early.push(event);
      return NOTHING;
    }
    if (event.type === "closed") return event.reason === undefined ? NOTHING : gone(event, event.reason);
    if (event.type === "error") return news([notice("warning", { threadId: null, message: event.fault.message })], event);
    if (event.type === "notice" && (event.level === "warning" || event.level === "error"))
      return news([notice("warning", { threadId: null, message: event.text })], event);
    return NOTHING;
  }

  /** The agent is gone: answers all waiting requests with an error. */
  function gone(event: Event, message: string): Step<Op> {
    const fault = { code: "launch", message, retryable: true };
    const waiting = [...state.waiting.values()].map((answer) => answer({ type: "reply", to: "session.open", status: "error", fault }));
    state.waiting.clear();
    return together(waiting.reduce(together<Op>, NOTHING), news([notice("warning", { threadId: null, message })], event));
  }

  /** Replayed events fill the turns that the thread keeps; they send no notifications. An update of the past is none of the present. */
  function replayed(event: Event, thread: ClientThread): Step<Op> {
    if (event.type !== "session.updated") noticesOf(event, thread);
    if (event.type === "user.message" && thread.preview === "")
      thread.preview = event.parts.map((part) => (part.type === "text" ? part.text : "")).join("\n");
    thread.replayLeft--;
    if (thread.replayLeft > 0 || thread.onReplayed === undefined) return NOTHING;
    const recs = thread.onReplayed();
    thread.onReplayed = undefined;
    // A turn that a crash cut off has no end: it is dropped here.
    thread.lanes.clear();
    return { in: [], out: recs.map((rec) => ({ rec })) };
  }

  function ended(thread: ClientThread, event: Event): Step<Op> {
    const lane = thread.lanes.get("");
    const last = lane === undefined ? [] : endLane("", lane, "interrupted", thread, event.at ?? 0);
    const open = voided(thread, () => true, state);
    state.threads.delete(thread.threadId);
    const answer = thread.closer === undefined ? [] : [respond(thread.closer, { status: "unsubscribed" })];
    return together({ in: [], out: answer }, news([...open, ...last, notice("thread/closed", { threadId: thread.threadId })], event));
  }

  /** A refused prompt becomes a failed turn, as its request was answered already. */
  function onReply(event: EventOf<"reply">, thread: ClientThread): Step<Op> {
    if (event.to !== "turn.prompt") return event.fault === undefined ? NOTHING : warned(event, thread);
    const { compacting } = thread;
    if (compacting !== undefined) {
      const lane = thread.lanes.get("");
      thread.compacting = undefined;
      if (lane?.turn.id !== compacting.turn) return NOTHING;
      return news(endLane("", lane, event.fault === undefined ? "completed" : "failed", thread, event.at ?? 0), event);
    }
    if (event.status !== "error") return NOTHING;
    const [turn] = thread.inputs.keys();
    if (turn !== undefined) thread.inputs.delete(turn);
    const error = {
      message: event.fault?.message ?? "The prompt was refused",
      codexErrorInfo: "other",
      additionalDetails: null,
      misalignment: null,
    };
    const kept = {
      id: turn ?? "",
      items: [],
      status: "failed" as const,
      error,
      startedAt: seconds(event.at ?? 0),
      completedAt: seconds(event.at ?? 0),
      bytes: 0,
    };
    const { threadId } = thread;
    const failure = notice("error", { error, willRetry: false, threadId, turnId: kept.id });
    const started = notice("turn/started", {
      threadId,
      turn: turnView({ ...kept, status: "inProgress", error: null, completedAt: null }, "notLoaded"),
    });
    return news([started, failure, notice("turn/completed", { threadId, turn: turnView(kept, "summary") })], event);
  }

  function warned(event: EventOf<"reply">, { threadId }: ClientThread): Step<Op> {
    return event.to === "approval.answer" ? NOTHING : news([notice("warning", { threadId, message: event.fault?.message ?? "" })], event);
  }
}

/** Replaces the agent's turn id by the id in the answer to `turn/start`, if the agent chose one of its own. */
function withClientsTurn(event: Event, thread: ClientThread): Event {
  if (event.type === "turn.started" && event.turn !== undefined) {
    const [client] = [...thread.inputs].find(([, { op }]) => op === event.parent) ?? [];
    thread.renamed = client === undefined || client === event.turn ? undefined : { agent: event.turn, client };
  }
  return thread.renamed !== undefined && event.turn === thread.renamed.agent ? { ...event, turn: thread.renamed.client } : event;
}

const ANSWERS: ReadonlySet<Event["type"]> = new Set(["session.ready", "session.updated", "session.ended", "reply"]);
