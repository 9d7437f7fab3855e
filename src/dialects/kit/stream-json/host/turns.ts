/** The turns of a driven agent: each prompt on the wire becomes one, and the agent may begin others by itself. */
import type { Fault } from "../../../../core/errors.js";
import type { Event } from "../../../../core/event.js";
import type { SideEnv } from "../../../dialect.js";
import { TurnReader } from "../../turn-reader.js";
import { MessageReader } from "./read-messages.js";
import type { HostSession } from "./session.js";

/** A prompt on the wire whose turn has not begun. */
export interface SentPrompt {
  turn: string;
  op: string | undefined;
}

/** The running turn. */
export interface HostTurn {
  readonly told: TurnReader;
  readonly messages: MessageReader;
  /** Calls that our side denied. */
  readonly denied: Set<string>;
  isInterrupted: boolean;
  /** The text of a provider's failure, held because the result repeats it. */
  complaint: string;
}

export type TurnEnd = Parameters<TurnReader["close"]>[0];

type Turns<Turn extends HostTurn> = Pick<HostSession<Turn>, "session" | "prompts" | "running" | "turnFrom" | "questions">;

function startTurn<Turn extends HostTurn>({ turn: id, op }: SentPrompt, state: Turns<Turn>): { begun: Event[]; turn: Turn } {
  const told = new TurnReader({ session: state.session, turn: id, ...(op !== undefined && { parent: op }) });
  const turn = state.turnFrom({ told, messages: new MessageReader(told), denied: new Set(), isInterrupted: false, complaint: "" });
  state.running = turn;
  return { begun: told.start(), turn };
}

/** The turn of a line; a line before its start starts it. */
export function turnOf<Turn extends HostTurn>(state: Turns<Turn>, env: SideEnv): { begun: Event[]; turn: Turn } {
  if (state.running !== undefined) return { begun: [], turn: state.running };
  return startTurn(state.prompts.shift() ?? { turn: env.stamp().id, op: undefined }, state);
}

/** Emits a held failure as text if the result does not repeat it. */
export function released(turn: HostTurn): Event[] {
  const text = turn.complaint;
  turn.complaint = "";
  return text === "" ? [] : turn.told.whole("text", text);
}

export function endTurn(turn: HostTurn, state: Pick<Turns<HostTurn>, "running" | "questions">, end: TurnEnd): Event[] {
  state.running = undefined;
  state.questions.turnEnded();
  return [...released(turn), ...turn.told.close(end)];
}

export function failedEnd(fault: Fault): TurnEnd {
  return { outcome: "failed", reason: fault.message, fault };
}

/** Guesses from the message whether a retry makes sense, as there is no status. */
export function isPassing(message: string): boolean {
  return /\b(?:429|5\d\d)\b|rate.?limit|overloaded|timed out|connection|stream was cut/i.test(message);
}

/** The process ended: so does the running turn, or the one of the first prompt on the wire. */
export function cutOff<Turn extends HostTurn>(
  state: Turns<Turn> & { requests: { readonly waiting: readonly { for: string }[] } },
  fault: Fault,
  stopped: (turn: Turn) => TurnEnd,
): Event[] {
  const [next] = state.running === undefined ? state.prompts.splice(0) : [];
  const begun = next === undefined ? [] : startTurn(next, state).begun;
  const { running } = state;
  if (running === undefined) return [];
  // An older agent exits when it is interrupted.
  const isStopped = running.isInterrupted || state.requests.waiting.some((purpose) => purpose.for === "interrupt");
  return [...begun, ...endTurn(running, state, isStopped ? stopped(running) : failedEnd(fault))];
}
