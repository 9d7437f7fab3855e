/** The agent's side of the wire: one turn comes with the launch or as the first line, and the process exits after its answer. */
import type { Fault } from "../../../core/errors.js";
import type { Event } from "../../../core/event.js";
import type { Answer, Op } from "../../../core/op.js";
import type { Launch } from "../../../core/wire.js";
import type { Out, Side, SideEnv, Step } from "../../dialect.js";
import { isTurnInEnv } from "../wire/environment.js";
import { askedByEnv, askedByRecord, readAnswer, type Asked } from "./read-ops.js";
import { lineSpeech, recordSpeech, type Speech } from "./write-events.js";
import { speaksLines, type Options } from "../wire/options.js";

const EMPTY = "The message is empty, and nothing is attached to it";
const NO_TURN = 'No turn came: neither AGENT_MESSAGE in the environment nor a line {"type":"turn",…} on standard input';

export function agentSide(options: Options, env: SideEnv): Side<Op, Event> {
  let launch: Launch = { argv: [], env: {} };
  let asked: Asked | undefined;
  let speech: Speech = speechOf(options);
  /** The number of input lines that are read for a message. */
  let message: string[] = [];
  let session = "";
  let over = false;
  return {
    read(frame) {
      if ("launch" in frame) return launched(frame.launch);
      if (over) return { in: [], out: [] };
      if ("bad" in frame) return asked === undefined ? failed(frame.bad) : { in: [], out: [] };
      return asked === undefined ? lineBeforeTurn(frame.rec) : answered(frame.rec);
    },
    write,
    end() {
      // The turn goes on without input, and the process exits at its end; open questions are answered now.
      if (asked !== undefined || over) return { in: [], out: [], ...(asked?.permission !== true && { waits: true }) };
      if (!isTurnInEnv(launch.env)) return failed(NO_TURN);
      return { ...begin(askedByEnv(launch.env, message.join("\n"))), waits: true };
    },
  };

  // --- how a turn comes ---

  function launched(given: Launch): Step<Op> {
    launch = given;
    asked = undefined;
    over = false;
    message = [];
    if (given.env["AGENT_MESSAGE"] !== undefined) return begin(askedByEnv(given.env, given.env["AGENT_MESSAGE"]));
    speech = isTurnInEnv(given.env) ? lineSpeech(options) : speechOf(options);
    return given.input === undefined || given.input === "" ? { in: [], out: [] } : lineBeforeTurn(given.input.replace(/\n$/, ""));
  }

  function lineBeforeTurn(line: unknown): Step<Op> {
    const turn = message.length === 0 ? askedByRecord(line) : undefined;
    if (turn !== undefined) return begin(turn, true);
    if (!isTurnInEnv(launch.env)) return line === "" ? { in: [], out: [] } : failed(NO_TURN);
    message.push(typeof line === "string" ? line : JSON.stringify(line));
    return { in: [], out: [] };
  }

  function begin(turn: Asked, asRecords = false): Step<Op> {
    asked = turn;
    speech = asRecords ? recordSpeech(turn) : lineSpeech(turn);
    if (turn.parts.length === 0) return failed(EMPTY);
    const { open } = launch;
    // `latest` is our own word for the session last used, in any conversation; a bridge has only ids.
    const resumed = turn.sessionId !== "" && turn.sessionId !== "latest";
    session = resumed ? turn.sessionId : (open?.sessionId ?? env.stamp().id);
    const own = turn.from === "" ? {} : { ext: { agentproc: { from_user: turn.from } } };
    return {
      in: [
        {
          open: "new",
          ...open,
          ...(resumed && { open: "resume", sessionId: turn.sessionId }),
          type: "session.open",
          id: env.stamp().id,
          session,
          ...(turn.name !== "default" && { name: turn.name }),
        },
        { type: "turn.prompt", id: env.stamp().id, session, turn: env.stamp().id, parts: turn.parts, ...own },
      ],
      out: [],
    };
  }

  /** A host that was not asked cannot answer: its lines are ignored. */
  function answered(line: unknown): Step<Op> {
    const answer: Answer | undefined = asked?.permission === true ? readAnswer(line) : undefined;
    return { in: answer === undefined ? [] : [{ type: "approval.answer", id: env.stamp().id, session, answers: [answer] }], out: [] };
  }

  // --- what goes out ---

  function failed(text: string): Step<Op> {
    return { in: [], out: leave(speech.error(text, undefined), 1) };
  }

  function leave(lines: Out[], exit: number): Out[] {
    over = true;
    return [...lines, { exit }];
  }

  function write(event: Event): Step<Op> {
    if (over || event.replay === true) return { in: [], out: [] };
    // The link answers an approval that the wire lacks.
    if (event.type === "approval.requested" && options.permission && asked?.permission !== true) return { in: [refused(event)], out: [] };
    return { in: [], out: told(event) };
  }

  function told(event: Event): Out[] {
    switch (event.type) {
      case "session.ready":
      case "session.updated":
        return event.sessionId === undefined || event.sessionId === "" ? [] : speech.session(event.sessionId);
      case "text.delta":
      case "text.done":
      case "thinking.delta":
      case "thinking.done":
        return event.under === undefined ? speech.words(event) : [];
      case "approval.requested":
        return asked?.permission === true ? requests(event) : [];
      case "turn.ended":
        if (event.outcome === "completed") return leave(speech.result(event.usage), 0);
        if (event.outcome === "interrupted") return leave(speech.interrupted(), 130);
        return leave(speech.error(event.fault?.message ?? event.reason ?? "", event.usage), 1);
      case "reply":
        return event.status === "error" && (event.to === "session.open" || event.to === "turn.prompt") ? refusal(event.fault) : [];
      case "error":
        return event.fatal === true && event.turn === undefined ? refusal(event.fault) : [];
      case "session.ended":
      case "session.changed":
      case "closed":
      case "turn.started":
      case "user.message":
      case "tool.requested":
      case "tool.delta":
      case "tool.started":
      case "tool.progress":
      case "tool.ended":
      case "approval.settled":
      case "host.request":
      case "host.settled":
      case "usage":
      case "compaction":
      case "notice":
      case "catalog.updated":
      case "other":
        return [];
      default:
        event satisfies never;
        return [];
    }
  }

  /** The message of a question about several calls does not describe one of them. */
  function requests({ calls, message }: Extract<Event, { type: "approval.requested" }>): Out[] {
    return calls.flatMap((call) => speech.request(call, calls.length === 1 ? message : undefined));
  }

  function refusal(fault: Fault | undefined): Out[] {
    return leave(speech.error(fault?.message ?? "", undefined), 1);
  }

  function refused(event: Extract<Event, { type: "approval.requested" }>): Op {
    const reason = "this host cannot be asked for approval";
    const answers = event.calls.map((call): Answer => ({ call: call.id, decision: "deny", reason }));
    return { type: "approval.answer", id: env.stamp().id, session, answers };
  }
}

function speechOf(options: Options): Speech {
  return speaksLines(options.wire) ? lineSpeech(options) : recordSpeech({ version: options.wire });
}
