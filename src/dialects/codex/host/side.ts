/** The host's side of the wire: one server process with a thread for each session. */
import * as v from "valibot";
import { canonicalTool } from "../../../core/names.js";
import type { Event, EventOf } from "../../../core/event.js";
import { runsUnasked } from "../../../core/modes.js";
import type { Op, OpOf } from "../../../core/op.js";
import type { Side, SideEnv, Step } from "../../dialect.js";
import { openingGap } from "../../kit/covers.js";
import { drivenSide } from "../../kit/driven-side.js";
import { isClean } from "../../kit/exit-message.js";
import { refusal, refused } from "../../kit/reply.js";
import { NOTHING, together } from "../../kit/step.js";
import { coverage } from "../coverage.js";
import { openThread } from "./open-thread.js";
import { readRecord, voidQuestions } from "./read-events.js";
import { ask, hostedThread, hostState, modeOf, startTurn, type HostedThread } from "./state.js";
import { asksFor, collaboration, decided, stops, type Verdict, writeOp } from "./write-ops.js";

const Greeted = v.looseObject({ userAgent: v.optional(v.string()) });

export function hostSide(env: SideEnv): Side<Event, Op> {
  const state = hostState();
  return drivenSide({
    open: opened,
    read: (rec) => answered(readRecord(rec, state)),
    write: written,
    isReady: () => state.isReady,
    onReady: () => [...state.threads.values()].map(begin).reduce(together<Event>, { in: [], out: [{ rec: { method: "initialized" } }] }),
    refusal: () => state.refused,
    takeOpens() {
      const opens = [...state.threads.values()].map(({ handle, open }) => ({ session: handle, op: open.id }));
      state.threads.clear();
      return opens;
    },
    end(closed, fault) {
      const threads = [...state.threads.values()];
      const turns = threads.flatMap((thread) => lastTurn(thread, fault));
      const alone: Event[] = turns.length === 0 && !isClean(closed) ? [{ type: "error", fault }] : [];
      const unopened = threads.filter(({ threadId }) => threadId === undefined).map(({ open }) => refusal(open, fault));
      const ended = threads.flatMap(({ handle, threadId }): Event[] =>
        threadId === undefined ? [] : [{ type: "session.ended", session: handle }],
      );
      state.threads.clear();
      return [...alone, ...turns, ...unopened, ...ended];
    },
  });

  /** The server is gone: the running turn fails, or the next one that the server took. */
  function lastTurn(thread: HostedThread, fault: EventOf<"error">["fault"]): Event[] {
    const [next] = thread.prompts;
    const begun = thread.running === undefined && next !== undefined ? startTurn(next.wireTurn ?? next.turn, thread) : [];
    const settled = voidQuestions(thread, state, fault.message);
    const { running } = thread;
    if (running === undefined) return [...begun, ...settled];
    // An exit after an interrupt is the interrupt's end.
    if (running.isStopped) return [...begun, ...settled, ...running.told.close({ outcome: "interrupted", reason: "interrupted" })];
    return [...begun, ...settled, ...running.told.close({ outcome: "failed", reason: fault.message, fault })];
  }

  // --- opening ---

  /** Opens a session. The first one greets the server; later ones wait for the answer to that greeting. */
  function opened(op: OpOf<"session.open">): Step<Event> {
    const gap = openingGap("Codex", op.config ?? {}, coverage["session.open"]);
    if (gap.refusal !== undefined) return refused(op, gap.refusal);
    if (state.threads.has(op.session)) return refused(op, `There is a session '${op.session}' already`, "session");
    const thread = hostedThread(op);
    state.threads.set(op.session, thread);
    if (state.isReady) return begin(thread);
    if (state.isGreeting) return NOTHING;
    state.isGreeting = true;
    const clientInfo = { name: "parley", title: "Parley", version: "1" };
    const greeting = { clientInfo, capabilities: { experimentalApi: true, requestAttestation: false } };
    return { in: [], out: [ask("initialize", greeting, state, greeted)] };
  }

  function greeted(answer: { result: unknown } | { error: EventOf<"error">["fault"] }): Step<Event> {
    if ("error" in answer) {
      state.refused = { ...answer.error, message: `The server refused to be initialized: ${answer.error.message}` };
      return NOTHING;
    }
    const agent = v.is(Greeted, answer.result) ? answer.result.userAgent : undefined;
    state.version = /^[^/ ]+\/(\S+)/.exec(agent ?? "")?.[1];
    state.isReady = true;
    return NOTHING;
  }

  function begin(thread: HostedThread): Step<Event> {
    return openThread(thread, state, written);
  }

  // --- ops and events ---

  function written(op: Op): Step<Event> {
    const thread = op.type === "turn.prompt" ? state.threads.get(op.session ?? "") : undefined;
    const step = writeOp(op, state, env);
    return thread === undefined ? step : planned(step, thread);
  }

  /** Adds the plan mode to the start of a turn: it is a setting of turns on this wire. */
  function planned(step: Step<Event>, thread: HostedThread): Step<Event> {
    if (modeOf(thread) !== "plan") return step;
    const out = step.out.map((each) => {
      if (!("rec" in each) || !v.is(TurnStart, each.rec)) return each;
      return { rec: { ...each.rec, params: { ...each.rec.params, ...collaboration(thread) } } };
    });
    return { in: step.in, out };
  }

  /** Answers approvals that the mode or the list of approved tools decides. */
  function answered(step: Step<Event>): Step<Event> {
    const heard = step.in
      .map((event) => (event.type === "approval.requested" ? decidedHere(event) : { in: [event], out: [] }))
      .reduce(together<Event>, { in: [], out: step.out });
    return { in: heard.in, out: [...heard.out, ...stops(state)] };
  }

  function decidedHere(event: EventOf<"approval.requested">): Step<Event> {
    const thread = state.threads.get(event.session ?? "");
    if (thread === undefined) return { in: [event], out: [] };
    const steps = event.calls.map((call) => {
      const verdict = verdictOf(call, thread);
      const found = [...state.questions].find(([, question]) => asksFor(question, thread, call.id));
      if (verdict === undefined || found?.[1].kind !== "approval") return { in: [{ ...event, calls: [call] }], out: [] };
      return decided(found[0], found[1], verdict, state);
    });
    return steps.reduce(together<Event>, NOTHING);
  }
}

const TurnStart = v.looseObject({ method: v.literal("turn/start"), params: v.looseObject({}) });

/** The decision about a call; undefined if the host decides. Plan mode denies every call that Codex asks about. */
function verdictOf({ name, category }: EventOf<"approval.requested">["calls"][number], thread: HostedThread): Verdict | undefined {
  const mode = modeOf(thread);
  if (mode === "plan") return { denial: "plan mode: only what Codex runs unasked may run" };
  const isApproved = thread.config.approveTools?.some((tool) => canonicalTool(tool) === name) === true;
  return isApproved || runsUnasked(mode, category) ? {} : undefined;
}
