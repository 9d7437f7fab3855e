/** The aionrs dialect: protocol 0.1.0, and 0.2.0 as an option. */
import type { Fault } from "../../core/errors.js";
import type { Closed, Event } from "../../core/event.js";
import type { Op } from "../../core/op.js";
import type { Dialect, Side, SideEnv, Step } from "../dialect.js";
import { badLine } from "../kit/bad-line.js";
import { gone, isClean } from "../kit/gone.js";
import { echo } from "../kit/issues.js";
import { OpenWork } from "../kit/open-work.js";
import { refuseHeld } from "../kit/refused.js";
import { withItsNames, withOurName } from "./call-names.js";
import { endTurn, readEvent, refuseOpen, startTurn } from "./read-events.js";
import { errorLine } from "./lines.js";
import { readCommand, readOps } from "./read-ops.js";
import { FIRST, SECOND, type Revision } from "./revision.js";
import { agentState, hostState } from "./state.js";
import type { Command } from "./wire.js";
import { isQuit, promptAfterAll } from "./slash.js";
import { denyUnheard } from "./unheard.js";
import { writeEvent } from "./write-events.js";
import { readSwitches } from "./launch.js";
import { linesAtReady, openOp, writeOp } from "./write-ops.js";

export const aionrs: Dialect = dialectOf(FIRST);
export const aionrsLater: Dialect = dialectOf(SECOND);

export function dialectOf(revision: Revision): Dialect {
  const { id, version, wire, coverage, heartbeat, isLater } = revision;
  return {
    id,
    version,
    framing: "json",
    wire,
    lifetime: "session",
    question: /"tool_request"/,
    // A real one drops messages that come during a turn.
    oneTurn: true,
    ...(heartbeat !== undefined && { heartbeat }),
    // The document: all tools need approval except those that the user lists.
    unasked: [],
    // Later ones have a word for a server that came; in the first only `ready` says that there are such tools.
    ...(!isLater && { awaitsServers: true }),
    agentSide: (env) => agentSide(revision, env),
    hostSide: (env) => hostSide(revision, env),
    coverage,
  };
}

function agentSide(revision: Revision, env: SideEnv): Side<Op, Event> {
  const state = agentState(revision);
  return {
    read(frame) {
      if ("launch" in frame) {
        const { open } = frame.launch;
        readSwitches(frame.launch.argv, state);
        state.session = open?.sessionId ?? env.stamp().id;
        return { in: [{ open: "new", ...open, type: "session.open", id: env.stamp().id, session: state.session }], out: [] };
      }
      const step = heard("bad" in frame ? `${frame.bad}: ${echo(frame.line)}` : readCommand(frame.rec, state));
      if (state.ready) return step;
      // `ready` is the first line, whatever a host that does not wait for it says.
      state.earlyLines.push(...step.out);
      return { in: step.in, out: [] };
    },
    write(event) {
      const prompt = promptAfterAll(event, state);
      if (prompt !== undefined) return { in: [prompt], out: [] };
      const ops = leaving(event);
      return { in: ops, out: writeEvent(event, state) };
    },
    end: () => ({ in: [], out: [] }),
  };

  function heard(command: Command | string): Step<Op> {
    if (typeof command !== "string") return readOps(command, state, env);
    return { in: [], out: [errorLine(null, { code: "protocol", message: command, retryable: false })] };
  }

  /** A process is one conversation: when that is over, so is the process. */
  function leaving(event: Event): Op[] {
    if (event.type === "session.ended") return [{ type: "shutdown", when: "now", id: env.stamp().id }];
    return revision.quits && isQuit(event, state) ? [{ type: "shutdown", when: "drained", id: env.stamp().id }] : [];
  }
}

function hostSide(revision: Revision, env: SideEnv): Side<Event, Op> {
  const state = hostState(revision, new OpenWork());
  return {
    read(frame) {
      if ("launch" in frame || state.refused !== undefined) return { in: [], out: [] };
      const wasReady = state.ready;
      const rec = "bad" in frame ? undefined : withOurName(frame.rec, state);
      const events = state.work.followed("bad" in frame ? [badLine(frame, state.session)] : readEvent(rec, state));
      if (state.refused !== undefined)
        return { in: [...events, ...refuseHeld(state.held, state.refused, state.session)], out: [{ kill: true }] };
      if (!wasReady && state.ready) return begun(events);
      return { in: events, out: withItsNames(denyUnheard(rec, state), state) };
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
    const step: Step<Event> = { in: events, out: linesAtReady(state) };
    for (const op of state.held.splice(0)) {
      const { in: told, out } = written(op);
      step.in.push(...told);
      step.out.push(...out);
    }
    return step;
  }

  function written(op: Op): Step<Event> {
    const step = writeOp(op, state, env);
    return { in: state.work.followed(step.in), out: withItsNames(step.out, state) };
  }

  /** Before it was ready its end answers the open and all that waited for it; after it, whatever is open is closed. */
  function ended(closed: Closed): Event[] {
    const fault: Fault = state.refused ?? { code: "launch", message: gone(closed), retryable: true };
    if (!state.ready) {
      const why = state.early.at(-1) ?? fault;
      return [...refuseOpen(why, state), ...refuseHeld(state.held, why, state.session)];
    }
    const [asked] = state.prompts.keys();
    const started = state.turn === undefined && asked !== undefined ? state.work.followed(startTurn(asked, state)) : [];
    // A real one leaves when it is told to stop.
    const stopped = state.interrupted && state.turn !== undefined ? state.work.followed(endTurn(state)) : [];
    // Where a turn runs, the error is the turn's.
    const isNews = state.turn === undefined && stopped.length === 0 && !isClean(closed) && state.refused === undefined;
    const alone: Event[] = isNews ? [{ type: "error", session: state.session, fault }] : [];
    return [...started, ...stopped, ...alone, ...state.work.close(fault)];
  }
}
