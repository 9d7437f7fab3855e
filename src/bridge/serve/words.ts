/** The bridge's own sentences in a chat. */
import { firstFew } from "../../core/text/truncate-list.js";
import type { PermissionRequest } from "../turn/turn.js";
import type { Approvers } from "./approvers.js";

export const HELP = [
  "/new [NAME]  begin a new session, under another name if one is given",
  "/sessions [NAME]  the sessions of this chat; with a name, go on in that one",
  "/stop [all]  end the running turn; with all, forget what waits behind it too",
  "/approve ID, /deny ID [REASON]  answer a permission that was asked for",
  "/help  this",
  "Everything else goes to the agent.",
].join("\n");

export const STOPPED = "Stopped.";
const NOTHING_RUNS = "Nothing is running here.";
export const NEW_SESSION = "The next message begins a new session.";
export const SHUTTING_DOWN = "The bridge is shutting down and takes no more messages.";
export const NOBODY_ANSWERED = "Nobody answered in time.";
export const NOBODY_THERE = "Nobody is there to answer.";
export const TURN_IS_OVER = "The turn is over.";
export const BUSY = "Too many conversations are under way; try again in a while.";
export const EMPTY = "The message is empty.";

const QUOTED = 60;
const INPUT_SHOWN = 3000;

export function cutOff(message: string): string {
  return (
    `The bridge was stopped while it worked on your message (${quoted(message)}). That turn was cut off and is not run again by itself; ` +
    "the session is kept. Send the message again if it is still wanted."
  );
}

export function cutByShutdown(message: string): string {
  return `The bridge is shutting down, so the turn for your message (${quoted(message)}) was ended. The session is kept; send it again later.`;
}

export function queueFull(limit: number): string {
  return `${limit} messages wait in this session already, so this one was not taken. Send it again later, or /stop the running turn.`;
}

export function unread(limit: number): string {
  return `${limit} answers wait to be delivered to this chat already, so this message was not taken. Send it again later.`;
}

export function notOnTheList(from: string): string {
  return `You are not on this bridge's list of senders. Whoever runs it can add '${from}' to 'allow'.`;
}

/** The turn reports by itself that it was stopped. */
export function stopping(running: boolean, forgotten: number): string {
  const rest = forgotten === 0 ? [] : [`${forgotten} waiting ${forgotten === 1 ? "message is" : "messages are"} forgotten.`];
  return [...(running ? ["Stopping."] : []), ...rest].join(" ") || NOTHING_RUNS;
}

export function sessions(current: string, names: readonly { name: string; running: boolean; waiting: number }[]): string {
  const lines = names.map(({ name, running, waiting }) => {
    const state = [...(running ? ["running"] : []), ...(waiting > 0 ? [`${waiting} waiting`] : [])].join(", ");
    return `${name === current ? "*" : " "} ${name}${state === "" ? "" : ` (${state})`}`;
  });
  return lines.join("\n");
}

export function switched(name: string): string {
  return `This chat is now in session '${name}'.`;
}

export function wrongSessionName(name: string): string {
  return `'${name.slice(0, QUOTED)}' cannot be a session's name: up to 64 letters, digits, dashes, underscores and, but not at its beginning, dots.`;
}

export function tooManySessions(most: number): string {
  return `This chat has ${most} sessions, which is the most; go on in one of them: /sessions.`;
}

export function asked(name: string, request: PermissionRequest, ms: number, approvers: Approvers): string {
  const { input } = request;
  const shown = JSON.stringify(input, null, 1);
  const more = shown.length - INPUT_SHOWN;
  return [
    `Permission [${name}]: ${called(request)}`,
    more > 0 ? `${shown.slice(0, INPUT_SHOWN)} … and ${more} more characters` : shown,
    `/approve_${name} or /deny_${name}; denied in ${duration(ms)} when nobody answers.`,
    ...(approvers.areFew ? [`Only ${people(approvers)} may answer.`] : []),
  ].join("\n");
}

function called({ tool, description }: PermissionRequest): string {
  return `${tool}${description === undefined || description === "" ? "" : ` (${description})`}`;
}

function people({ ids }: Approvers): string {
  return firstFew(
    ids,
    (id) => id,
    (count) => `${count} more`,
  ).join(", ");
}

/** The reason for the agent and its model. */
export function nobodyMay(because: string): string {
  return `Nobody may approve anything here: ${because}.`;
}

export function nobodyApproves(request: PermissionRequest, because: string): string {
  return `${called(request)} was denied. ${nobodyMay(because)} Whoever runs the bridge can name 'approvers'.`;
}

export function noApprover(from: string, approvers: Approvers): string {
  const who = approvers.noneBecause === undefined ? `Only ${people(approvers)} may.` : nobodyMay(approvers.noneBecause);
  return `You may not answer permissions here, so this did nothing. ${who} Whoever runs the bridge can add '${from}' to 'approvers'.`;
}

export function askedInVain(name: string): string {
  return `Permission [${name}] was denied, because nobody answered.`;
}

export function whichRequest(names: readonly string[]): string {
  return names.length === 0 ? "Nothing is waiting for permission here." : `Which one? ${names.join(", ")}`;
}

export function noSuchRequest(name: string): string {
  return `There is no request '${name.slice(0, QUOTED)}' in this chat, or it is over.`;
}

export function answered(name: string, behavior: "allow" | "deny"): string {
  return `Permission [${name}]: ${behavior === "allow" ? "allowed" : "denied"}.`;
}

function quoted(message: string): string {
  const line = message.replace(/\s+/g, " ").trim();
  return line.length <= QUOTED ? `'${line}'` : `'${line.slice(0, QUOTED).toWellFormed()}…'`;
}

function duration(ms: number): string {
  const seconds = Math.round(ms / 1000);
  return seconds < 120 ? `${seconds} seconds` : `${Math.round(seconds / 60)} minutes`;
}
