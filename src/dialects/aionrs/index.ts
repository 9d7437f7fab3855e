/** The aionrs dialect, protocol 0.1.0. */
import type { Fault } from "../../core/errors.js";
import type { Closed, Event } from "../../core/event.js";
import type { Op } from "../../core/op.js";
import type { Dialect, Side, SideEnv, Step } from "../dialect.js";
import { gone } from "../kit/gone.js";
import { echo } from "../kit/issues.js";
import { OpenWork } from "../kit/open-work.js";
import { coverage } from "./coverage.js";
import { denyUnreadable, endTurn, errorLine, readEvent, refuseOpen, startTurn, writeEvent } from "./events.js";
import { openOp, readCommand, readOps, writeOp } from "./ops.js";
import { agentState, hostState } from "./state.js";
import { Command, VERSION, WireEvent } from "./wire.js";

export const aionrs: Dialect = {
  id: "aionrs",
  version: VERSION,
  framing: "json",
  wire: { op: Command, event: WireEvent },
  lifetime: "session",
  // A real one drops messages that come during a turn.
  oneTurn: true,
  // The document: all tools need approval except those that the user lists.
  unasked: [],
  agentSide,
  hostSide,
  coverage,
};

function agentSide(env: SideEnv): Side<Op, Event> {
  const state = agentState();
  return {
    read(frame) {
      if ("launch" in frame) {
        const { open } = frame.launch;
        state.session = open?.sessionId ?? env.stamp().id;
        return { in: [{ open: "new", ...open, type: "session.open", id: env.stamp().id, session: state.session }], out: [] };
      }
      const command = "bad" in frame ? `${frame.bad}: ${echo(frame.line)}` : readCommand(frame.rec);
      if (typeof command === "string") return { in: [], out: [errorLine(null, { code: "protocol", message: command, retryable: false })] };
      return { in: readOps(command, state, env), out: [] };
    },
    write: (event) => ({ in: leaving(event), out: writeEvent(event, state) }),
    end: () => ({ in: [], out: [] }),
  };

  /** A process is one conversation: when that is over, so is the process. */
  function leaving(event: Event): Op[] {
    return event.type === "session.ended" ? [{ type: "shutdown", when: "now", id: env.stamp().id }] : [];
  }
}

function hostSide(env: SideEnv): Side<Event, Op> {
  const state = hostState(new OpenWork());
  return {
    read(frame) {
      if ("launch" in frame || state.refused !== undefined) return { in: [], out: [] };
      const wasReady = state.ready;
      const events = followed("bad" in frame ? [badLine(frame)] : readEvent(frame.rec, state));
      if (state.refused !== undefined) return { in: [...events, ...refuseHeld(state.refused)], out: [{ kill: true }] };
      if (!wasReady && state.ready) return begun(events);
      return { in: events, out: "bad" in frame ? [] : denyUnreadable(frame.rec, state) };
    },
    write(op) {
      if (op.type === "session.open") return openOp(op, state);
      if (state.ready) return written(op);
      state.held.push(op);
      return { in: [], out: [] };
    },
    end: (closed) => ({ in: ended(closed), out: [] }),
  };

  /** It is ready: now it hears what waited for that. */
  function begun(events: Event[]): Step<Event> {
    const step: Step<Event> = { in: events, out: state.mode === undefined ? [] : [{ rec: { type: "set_mode", mode: state.mode } }] };
    for (const op of state.held.splice(0)) {
      const { in: told, out } = written(op);
      step.in.push(...told);
      step.out.push(...out);
    }
    return step;
  }

  function written(op: Op): Step<Event> {
    const step = writeOp(op, state, env);
    return { in: followed(step.in), out: step.out };
  }

  function followed(events: Event[]): Event[] {
    for (const event of events) state.work.follow(event);
    return events;
  }

  function badLine({ bad, line }: { bad: string; line: string }): Event {
    const message = `The agent wrote a bad line (${bad}): ${echo(line)}`;
    return { type: "error", session: state.session, fault: { code: "protocol", message, retryable: false } };
  }

  /** Before it was ready its end answers the open and all that waited for it; after it, whatever is open is closed. */
  function ended(closed: Closed): Event[] {
    const fault: Fault = { code: "launch", message: gone(closed), retryable: true };
    if (!state.ready) {
      const why = state.early.at(-1) ?? fault;
      return [...refuseOpen(why, state), ...refuseHeld(why)];
    }
    const [asked] = state.prompts.keys();
    const started = state.turn === undefined && asked !== undefined ? followed(startTurn(asked, state)) : [];
    // A real one leaves when it is told to stop.
    const stopped = state.interrupted && state.turn !== undefined ? followed(endTurn(state, undefined)) : [];
    // Where a turn runs, the error is the turn's.
    const isNews = state.turn === undefined && stopped.length === 0 && !isClean(closed);
    const alone: Event[] = isNews ? [{ type: "error", session: state.session, fault }] : [];
    return [...started, ...stopped, ...alone, ...state.work.close(fault)];
  }

  function refuseHeld(fault: Fault): Event[] {
    return state.held
      .splice(0)
      .map((op) => ({ type: "reply", to: op.type, status: "error", session: state.session, parent: op.id, fault }));
  }
}

function isClean({ code, signal, reason }: Closed): boolean {
  return !code && !signal && reason === undefined;
}
