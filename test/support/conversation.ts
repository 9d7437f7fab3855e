/**
 * Vectors of a dialect that remembers: a file is one conversation with one fresh side, its lines in order. Each line names what goes in
 * and everything that comes out; ids are "id-1", "id-2" and so on, in the order of asking.
 *
 *   {"side": "agent", "launch": {…}, "means": [op, …]}                          the command line
 *   {"side": "agent", "dir": "op", "wire": record, "means": [op, …]}            the host says it (bad: "says", what the answer tells)
 *   {"side": "agent", "dir": "event", "means": event, "wire": [record, …]}      the agent tells it
 *   {"side": "host", "dir": "op", "means": op, "wire": [record, …]}             the host asks it
 *   {"side": "host", "dir": "event", "wire": record, "means": [event, …]}       the agent writes it (bad: "says")
 *   {"side": "host", "end": closed, "means": [event, …]}                        the agent is gone
 *
 * "line" stands for a line that is no JSON, "also" for what a write tells its own side and "answers" for what a read writes by itself;
 * {"launch": …}, {"kill": true}, {"end": true} and {"exit": n} among the records are what is done to the process.
 */
import * as v from "valibot";
import type { Closed, Event } from "../../src/core/event.js";
import type { Op } from "../../src/core/op.js";
import type { Frame } from "../../src/core/wire.js";
import type { Dialect, Out, Side, SideEnv, Step } from "../../src/dialects/index.js";

const Turn = v.strictObject({
  side: v.picklist(["agent", "host"]),
  dir: v.optional(v.picklist(["op", "event"])),
  /** What this line is about, for people. */
  note: v.optional(v.string()),
  launch: v.optional(v.unknown()),
  end: v.optional(v.unknown()),
  line: v.optional(v.string()),
  wire: v.optional(v.unknown()),
  means: v.optional(v.unknown()),
  says: v.optional(v.string()),
  also: v.optional(v.array(v.unknown())),
  answers: v.optional(v.array(v.unknown())),
});
export type Turn = v.InferOutput<typeof Turn>;

export function parseTurns(text: string): Turn[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => v.parse(Turn, JSON.parse(line)));
}

/** The same lines with what really came out. */
export function replay(dialect: Dialect, turns: readonly Turn[]): Turn[] {
  const env = counting();
  const side = turns[0]?.side === "agent" ? dialect.agentSide(env) : dialect.hostSide(env);
  return turns.map((turn) => {
    if (turn.side !== turns[0]?.side) throw new Error("A conversation has one side");
    return JSON.parse(JSON.stringify(played(side, turn))) as Turn;
  });
}

function played(side: Side<Op | Event, Op | Event>, turn: Turn): Turn {
  const { side: name, dir, note } = turn;
  const head: Turn = { side: name, ...(dir !== undefined && { dir }), ...(note !== undefined && { note }) };
  if (turn.end !== undefined) return { ...head, end: turn.end, ...heard(side.end(turn.end as Closed)) };
  if (turn.launch !== undefined) return { ...head, launch: turn.launch, ...heard(side.read({ launch: turn.launch } as Frame)) };
  const reads = (name === "agent") === (dir === "op");
  if (!reads) {
    const { in: also, out } = side.write(turn.means as Op | Event);
    return { ...head, means: turn.means, wire: out.map(shown), ...(also.length > 0 && { also }) };
  }
  const frame: Frame = turn.line === undefined ? { rec: turn.wire } : { bad: "The line is not JSON", line: turn.line };
  const step = side.read(frame);
  const what = turn.line === undefined ? { wire: turn.wire } : { line: turn.line };
  const complaint = turn.says === undefined ? undefined : complaintOf(step);
  if (complaint !== undefined) return { ...head, ...what, says: complaint };
  return { ...head, ...what, ...heard(step) };
}

function heard(step: Step<Op | Event>): Pick<Turn, "means" | "answers"> {
  return { means: step.in, ...(step.out.length > 0 && { answers: step.out.map(shown) }) };
}

/** The one sentence that a bad line is answered with: on the wire, or to our own side. Words for stderr do not count. */
function complaintOf({ in: told, out }: Step<Op | Event>): string | undefined {
  const all = [...told, ...out.filter((each) => !("log" in each))];
  const said = all.length === 1 ? JSON.stringify(all[0]) : "";
  const match = /"(?:message|Error)":("(?:[^"\\]|\\.)*")/.exec(said);
  return match?.[1] === undefined ? undefined : v.parse(v.string(), JSON.parse(match[1]));
}

function shown(out: Out): unknown {
  return "rec" in out ? out.rec : out;
}

function counting(): SideEnv {
  let count = 0;
  return {
    stamp() {
      count++;
      return { id: `id-${count}`, at: count };
    },
  };
}
