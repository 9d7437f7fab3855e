/** Runs one message through the agent, and writes its start and its answer to disk. */
import { messageOf } from "../../core/errors.js";
import type { Platform } from "../platforms/platform.js";
import type { Runner, TurnEvents, TurnResult } from "../turn/turn.js";
import type { Approvals } from "./approvals.js";
import { commandIn } from "./command-words.js";
import { keyOf, type RunningTurn } from "./conversations.js";
import type { Received } from "./entry.js";
import type { Journal } from "./journal.js";
import type { Outbox } from "./outbox.js";
import { Stream } from "./stream.js";
import type { MessageWriter } from "./message-writer.js";
import * as words from "./words.js";

/** A platform's typing sign fades after about five seconds. */
const TYPING_MS = 4000;

export interface TurnRoom {
  journal: Journal;
  outbox: Outbox;
  writer: MessageWriter;
  approvals: Approvals;
  platform(name: string): Platform | undefined;
  runner(platform: string): Runner;
  log(text: string): void;
}

/** Never rejects: the journal reports its own failure to the bridge. */
export async function runTurn(message: Received, turn: RunningTurn, room: TurnRoom): Promise<void> {
  try {
    // `/new` may run twice without harm, so it is not marked as started.
    if (commandIn(message.text)?.name === "new") await beginAnew(message, turn, room);
    else await runAgent(message, turn, room);
  } catch (error) {
    room.log(`the turn for message ${message.id} on '${message.platform}' has no end in the journal: ${messageOf(error)}`);
  }
}

/** Another process may run a turn in the conversation. A message that waits for it at a shutdown is taken up at the next start. */
async function beginAnew(message: Received, turn: RunningTurn, room: TurnRoom): Promise<void> {
  const { writer, runner } = room;
  const say = (text: string): void => writer.answer(message, ...writer.words(message, "notice", text, message));
  try {
    await runner(message.platform).forget(keyOf(message), { warning: warningsOf(message, room) }, turn.signal);
  } catch (error) {
    if (turn.cut() === undefined) throw error;
    return turn.cut() === "stop" ? say(words.STOPPED) : undefined;
  }
  say(words.NEW_SESSION);
}

async function runAgent(message: Received, turn: RunningTurn, room: TurnRoom): Promise<void> {
  const { journal, writer, outbox } = room;
  journal.write({ kind: "started", id: message.id });
  await journal.durable();
  const stream = new Stream({
    quiet: () => outbox.quiet(message.platform, message.chat),
    tell: (text) => writer.say(message, "partial", text, message),
    signal: turn.signal,
  });
  const stopTyping = showTyping(message, room.platform(message.platform));
  const result = await run(message, turn, stream, room);
  stopTyping();
  const rest = stream.finish();
  const [type, text] = ending(message, result, turn);
  const increment = rest.trim() === "" ? [] : writer.words(message, "partial", rest, message);
  writer.answer(message, ...increment, ...writer.words(message, type, text, message));
}

async function run(message: Received, { signal }: RunningTurn, stream: Stream, room: TurnRoom): Promise<TurnResult | Error> {
  const { platform, text, from, attachments } = message;
  // The question follows the text that the agent wrote before it.
  const notice = (words: string): void => {
    room.writer.say(message, "partial", stream.flush(), message);
    room.writer.say(message, "notice", words, message);
  };
  const over = new AbortController();
  const asking = AbortSignal.any([signal, over.signal]);
  const on: TurnEvents = {
    partial: (piece, role) => (role === "thinking" ? undefined : stream.push(piece)),
    permission: (request) => room.approvals.ask(message, request, asking, notice),
    warning: warningsOf(message, room),
  };
  try {
    return await room.runner(platform).run({ message: text, sessionName: keyOf(message), from, attachments }, on, signal);
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  } finally {
    over.abort();
  }
}

function warningsOf({ platform }: Received, { log }: TurnRoom): TurnEvents["warning"] {
  return (warning) => log(`'${platform}': ${warning}`);
}

/** The last message of a turn: the reason why it was cut short, its error, or its reply. */
function ending(message: Received, result: TurnResult | Error, turn: RunningTurn): ["reply" | "notice", string] {
  // A turn that was over before the bridge ended is whole.
  const isWhole = !(result instanceof Error) && result.exitCode === 0;
  if (turn.cut() === "stop") return ["notice", words.STOPPED];
  if (turn.cut() === "shutdown" && !isWhole) return ["notice", words.cutByShutdown(message.text)];
  if (result instanceof Error) return ["notice", `The turn could not be run: ${result.message}`];
  return result.error === "" ? ["reply", result.reply] : ["notice", result.error];
}

function showTyping({ chat }: Received, platform: Platform | undefined): () => void {
  if (platform?.typing === undefined) return () => {};
  const show = async (): Promise<void> => {
    try {
      await platform.typing?.(chat);
    } catch {
      return;
    }
  };
  void show();
  const timer = setInterval(() => void show(), TYPING_MS);
  return () => clearInterval(timer);
}
