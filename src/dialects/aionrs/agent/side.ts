/** The agent's side of the wire. */
import type { Event } from "../../../core/event.js";
import type { Op } from "../../../core/op.js";
import type { Side, SideEnv, Step } from "../../dialect.js";
import { agentSideOf } from "../../kit/agent-side.js";
import { readSwitches } from "../launch.js";
import type { Command } from "../wire/records.js";
import type { Revision } from "../wire/revision.js";
import { errorLine } from "./lines.js";
import { readCommand, readOps } from "./read-ops.js";
import { isQuit, promptAfterAll } from "./slash.js";
import { agentState } from "./state.js";
import { writeEvent } from "./write-events.js";

export function agentSide(revision: Revision, env: SideEnv): Side<Op, Event> {
  const state = agentState(revision);
  return agentSideOf(
    {
      launch({ argv, open }) {
        readSwitches(argv, state);
        state.session = open?.sessionId ?? env.stamp().id;
        return { in: [{ open: "new", ...open, type: "session.open", id: env.stamp().id, session: state.session }], out: [] };
      },
      read: (rec) => behindReady(heard(readCommand(rec, state))),
      bad: (words) => behindReady(heard(words)),
      write(event) {
        const prompt = promptAfterAll(event, state);
        if (prompt !== undefined) return { in: [prompt], out: [] };
        const ops = leaving(event);
        return { in: ops, out: writeEvent(event, state) };
      },
    },
    env,
  );

  /** `ready` is the first line: answers to a host that does not wait for it are held. */
  function behindReady(step: Step<Op>): Step<Op> {
    if (state.isReady) return step;
    state.earlyLines.push(...step.out);
    return { in: step.in, out: [] };
  }

  function heard(command: Command | string): Step<Op> {
    if (typeof command !== "string") return readOps(command, state, env);
    return { in: [], out: [errorLine(null, { code: "protocol", message: command, retryable: false })] };
  }

  /** A process is one conversation, and exits with it. */
  function leaving(event: Event): Op[] {
    if (event.type === "session.ended") return [{ type: "shutdown", when: "now", id: env.stamp().id }];
    return revision.quits && isQuit(event, state) ? [{ type: "shutdown", when: "drained", id: env.stamp().id }] : [];
  }
}
