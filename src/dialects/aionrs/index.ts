/** The aionrs dialect, protocol 0.1.0. */
import type { Closed, Event } from "../../core/event.js";
import type { Op } from "../../core/op.js";
import type { Dialect, Side, SideEnv } from "../dialect.js";
import { gone } from "../kit/gone.js";
import { echo } from "../kit/issues.js";
import { OpenWork } from "../kit/open-work.js";
import { coverage } from "./coverage.js";
import { errorLine, readEvent, writeEvent } from "./events.js";
import { readCommand, readOps, writeOp } from "./ops.js";
import type { AgentState, HostState } from "./state.js";
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
  const state: AgentState = { session: "", ready: false, messages: new Map(), calls: new Map(), announced: new Set() };
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
  const state: HostState = {
    session: "",
    opener: undefined,
    ready: false,
    prompts: new Map(),
    turn: undefined,
    calls: new Map(),
    denied: new Set(),
    block: undefined,
    interrupted: false,
    failed: undefined,
    work: new OpenWork(),
  };
  return {
    read(frame) {
      if ("launch" in frame) return { in: [], out: [] };
      const events: Event[] =
        "bad" in frame
          ? [{ type: "error", session: state.session, fault: { code: "protocol", message: `The agent wrote a bad line (${frame.bad}): ${echo(frame.line)}`, retryable: false } }]
          : readEvent(frame.rec, state);
      return { in: followed(events), out: [] };
    },
    write(op) {
      const step = writeOp(op, state, env);
      return { in: followed(step.in), out: step.out };
    },
    end: (closed) => ({ in: ended(closed), out: [] }),
  };

  function followed(events: Event[]): Event[] {
    for (const event of events) state.work.follow(event);
    return events;
  }

  /** Before it was ready its end answers the open; after it, whatever is open is closed. */
  function ended(closed: Closed): Event[] {
    const fault = { code: "launch", message: gone(closed), retryable: true };
    if (state.ready) return state.work.close(fault);
    if (state.opener === undefined) return [];
    return [{ type: "reply", to: "session.open", status: "error", session: state.session, parent: state.opener, fault }];
  }
}
