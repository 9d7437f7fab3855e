/** Events of a turn, told as lines: messages as they are spoken, and the rest as each wire has it. */
import type { EventOf } from "../../../../core/event.js";
import type { Op } from "../../../../core/op.js";
import type { Out, SideEnv, Step } from "../../../dialect.js";
import type { MessageWriter } from "./message-writer.js";
import { timeOf } from "./session.js";
import { type AgentTurn, answering, isAnswer } from "./turn.js";
import type { TurnEvent } from "./wire.js";

export interface TurnLines<State> {
  /** The writer of messages of the session's own agent, or of the sub-agents under a call. */
  speechOf(state: State, under: string | undefined): MessageWriter;
  started(event: EventOf<"turn.started">, state: State): Out[];
  ended(event: EventOf<"turn.ended">, state: State): Out[];
  called(event: EventOf<"tool.requested">, state: State): Out[];
  callStarted(event: EventOf<"tool.started">, state: State): Out[];
  progress(event: EventOf<"tool.progress">, state: State): Out[];
  callEnded(event: EventOf<"tool.ended">, state: State): Step<Op>;
  approval(event: EventOf<"approval.requested">, state: State): Step<Op>;
  usage(event: EventOf<"usage">, state: State): void;
  notice(event: EventOf<"notice">, state: State): Out[];
  compaction(event: EventOf<"compaction">, state: State): Out[];
  /** An error outside every turn. */
  error(message: string, state: State): Out[];
}

export function turnEvent<State extends { env: SideEnv; turn: AgentTurn | undefined }>(
  event: TurnEvent,
  state: State,
  lines: TurnLines<State>,
): Step<Op> {
  if (event.replay === true) return told([]);
  if (state.turn !== undefined && isAnswer(event)) answering(state.turn, timeOf(event, state));
  const speech = (): MessageWriter => lines.speechOf(state, event.under);
  switch (event.type) {
    case "turn.started":
      return told(lines.started(event, state));
    case "turn.ended":
      return told(lines.ended(event, state));
    case "text.delta":
      return told(speech().delta("text", event.text));
    case "thinking.delta":
      return told(speech().delta("thinking", event.text));
    case "text.done":
      if (event.under === undefined && state.turn !== undefined) state.turn.text = event.text;
      return told(speech().done("text", event.text));
    case "thinking.done":
      return told(speech().done("thinking", event.text));
    case "tool.delta":
      return told(speech().callComing());
    case "tool.requested":
      return told(lines.called(event, state));
    case "tool.started":
      return told(lines.callStarted(event, state));
    case "tool.progress":
      return told(lines.progress(event, state));
    case "tool.ended":
      return lines.callEnded(event, state);
    case "approval.requested":
      return lines.approval(event, state);
    case "usage":
      lines.usage(event, state);
      return told([]);
    case "notice":
      return told(lines.notice(event, state));
    case "compaction":
      return told(lines.compaction(event, state));
    case "error":
      return event.turn === undefined ? told(lines.error(event.fault.message, state)) : told([]);
    case "user.message":
    case "session.changed":
    case "approval.settled":
    case "other":
      return told([]);
    default:
      event satisfies never;
      return told([]);
  }
}

function told(out: Out[]): Step<Op> {
  return { in: [], out };
}
