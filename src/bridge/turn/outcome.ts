/** The result of a turn: its exit code, and the user's message when it failed. */
import { constants } from "node:os";
import * as v from "valibot";
import type { Fault } from "../../core/errors.js";
import type { Closed, EventOf } from "../../core/event.js";
import type { Profile } from "../profile/profile.js";
import { EXT } from "../protocol.js";
import { capped } from "./reply.js";
import type { TurnResult } from "./turn.js";

const TIMED_OUT = 124;
const INTERRUPTED = 130;
/** The most characters of stderr that a user sees, from the end. */
const SHOWN_STDERR = 2000;

/** AgentProc's fields of a turn beyond our own vocabulary. */
const Own = v.looseObject({
  exit: v.looseObject({ code: v.nullable(v.number()), signal: v.nullable(v.string()) }),
  /** The text of the agent's own error line. */
  error: v.optional(v.string()),
  body: v.optional(v.string()),
  /** Only the beginning of an endless reply was kept. */
  cut: v.optional(v.boolean(), false),
});

/** The facts of a turn that is over. */
export interface Facts {
  profile: Profile;
  sessionId: string;
  /** The agent itself named its session in this turn. */
  isNamed: boolean;
  /** The text that was not streamed. */
  reply: string;
  cap: number | undefined;
  streamTruncated: boolean;
  /** Undefined when the agent was gone before the end of the turn. */
  ended: EventOf<"turn.ended"> | undefined;
  /** The fault before or instead of the turn. */
  fault: Fault | undefined;
  /** The reason why the process could not start. */
  refused: string | undefined;
  /** How the process ended, where we did not end it. */
  left: Closed | undefined;
  /** The session was ready. */
  opened: boolean;
  timedOut: boolean;
  interrupted: boolean;
  usage: unknown;
  stderr: string;
}

/** The facts of a turn that failed before a process was started. */
export function nothingRan(profile: Profile, interrupted: boolean, fault: Fault): Facts {
  const said = { sessionId: "", isNamed: false, reply: "", cap: undefined, streamTruncated: false, usage: undefined, stderr: "" };
  return { profile, ...said, ended: undefined, fault, refused: undefined, left: undefined, opened: false, timedOut: false, interrupted };
}

export function outcome(facts: Facts, warn: (text: string) => void): TurnResult {
  const { profile, ended, left, timedOut, usage } = facts;
  const own = v.safeParse(Own, ended?.ext?.[EXT]);
  const {
    exit,
    error: told,
    body,
    cut,
  } = own.success ? own.output : { exit: { code: left?.code ?? null, signal: left?.signal ?? null }, cut: false };
  const isGood = ended?.outcome === "completed" && !timedOut;
  const stderr = facts.stderr.trim();
  const shown = profile.includeStderrInReply && stderr !== "" ? `stderr:\n${stderr.slice(-SHOWN_STDERR)}` : "";
  const rest = {
    sessionId: facts.sessionId,
    exitCode: isGood ? 0 : exitCode(facts, told, exit),
    processExitCode: exit.code,
    signal: exit.signal,
    timedOut,
    ...(usage !== undefined && { usage }),
    ...(stderr !== "" && { stderr }),
  };
  if (isGood) {
    const { text, truncated } = capped(facts.reply, facts.cap, profile.truncationSuffix);
    const reply = cut && !truncated ? text + profile.truncationSuffix : text;
    return { reply: joined(reply, shown), error: "", truncated: truncated || cut || facts.streamTruncated, ...rest };
  }
  const collected = body ?? facts.reply;
  const words = failure(facts, told, exit);
  const isTold = words.own || profile.sendErrorReply;
  if (!isTold) warn(words.text);
  else if (!words.own && ended?.fault !== undefined && ended.fault.message !== words.text) warn(ended.fault.message);
  if (left?.reason !== undefined) warn(left.reason);
  return {
    reply: "",
    error: isTold ? joined(words.text, shown) : "",
    truncated: cut || facts.streamTruncated,
    ...rest,
    ...(collected !== "" && { body: collected }),
  };
}

type Exit = v.InferOutput<typeof Own>["exit"];

/** A timeout beats an error line, and an error line beats the process's own code. */
function exitCode({ timedOut, interrupted }: Facts, told: string | undefined, { code, signal }: Exit): number {
  if (timedOut) return TIMED_OUT;
  if (told !== undefined) return 1;
  const ended = code ?? (signal === null ? undefined : 128 + signalNumber(signal));
  return ended || (interrupted ? INTERRUPTED : 1);
}

function signalNumber(name: string): number {
  return Object.entries(constants.signals).find(([known]) => known === name)?.[1] ?? 0;
}

/** `own` marks the agent's words. Our words never contain its stderr. */
function failure(facts: Facts, told: string | undefined, { code, signal }: Exit): { text: string; own: boolean } {
  const { profile, ended, fault, refused, timedOut, interrupted } = facts;
  const death = deathOf({ code, signal });
  if (told !== undefined && told.trim() !== "") return { text: told, own: true };
  const said = profile.dialect === undefined ? undefined : ended?.fault?.message;
  if (said !== undefined && said !== death && !timedOut) return { text: said, own: true };
  const text = (): string => {
    if (timedOut) return `The agent did not finish in time (${limits(profile)}) and was ended`;
    if (interrupted) return "The turn was interrupted";
    if (refused !== undefined) return refused;
    if (fault !== undefined) return fault.message;
    if (told !== undefined) return "The agent reported an error without saying which";
    if (ended?.fault?.code === "protocol") return ended.fault.message;
    return death ?? ended?.fault?.message ?? "The agent failed";
  };
  return { text: text(), own: false };
}

/** The death of a process in words for users; undefined when it ended well. */
export function deathOf({ code, signal }: Closed): string | undefined {
  if (signal) return `The agent was ended by ${signal}`;
  return code ? `The agent failed with exit code ${code}` : undefined;
}

function limits({ timeoutSecs, idleTimeoutSecs }: Profile): string {
  const idle = idleTimeoutSecs > 0 ? [`${idleTimeoutSecs} s without a word`] : [];
  return [...(timeoutSecs > 0 ? [`${timeoutSecs} s`] : []), ...idle].join(", or ");
}

function joined(text: string, stderr: string): string {
  return [text, stderr].filter((part) => part !== "").join("\n\n");
}
