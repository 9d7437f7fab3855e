/** The commands of a chat and their answers. /new is not here: it waits for its turn like a message. */
import type { Approvals, Speaker } from "./approvals.js";
import { isSessionName, MOST_SESSIONS, type Chats } from "./chats.js";
import type { ChatCommand } from "./command-words.js";
import { keyOf, type Conversations } from "./conversations.js";
import type { Entry } from "./entry.js";
import type { MessageWriter, Where } from "./message-writer.js";
import * as words from "./words.js";

export interface CommandRoom {
  approvals: Approvals;
  chats: Chats;
  conversations: Conversations;
  writer: MessageWriter;
}

export interface Performed {
  answer: string;
  /** Journal lines that are written with the answer. */
  also?: readonly Entry[];
}

/** `session` is the session that got the message. */
export function perform(command: ChatCommand, where: Speaker, session: string, room: CommandRoom): Performed {
  const { name, word, rest } = command;
  switch (name) {
    case "help":
      return { answer: words.HELP };
    case "stop":
      return { answer: stop(keyOf({ ...where, session }), word.toLowerCase() === "all", room) };
    case "approve":
      return { answer: room.approvals.answer(where, word, { behavior: "allow" }) };
    case "deny":
      return { answer: room.approvals.answer(where, word, { behavior: "deny", ...(rest !== "" && { message: rest }) }) };
    case "sessions":
      return word === "" ? { answer: listed(where, room) } : goTo(where, word, room);
    case "new":
      return { answer: words.wrongSessionName(word) };
    default:
      return name satisfies never;
  }
}

function stop(key: string, all: boolean, { conversations, writer }: CommandRoom): string {
  const forgotten = all ? conversations.clear(key) : [];
  const stopped = conversations.stop(key, "stop");
  for (const message of forgotten) writer.answer(message);
  return words.stopping(stopped, forgotten.length);
}

function listed(where: Where, { chats, conversations }: CommandRoom): string {
  const { current, names } = chats.of(where);
  return words.sessions(
    current,
    names.map((name) => ({ name, ...conversations.state(keyOf({ ...where, session: name })) })),
  );
}

function goTo(where: Where, name: string, { chats }: CommandRoom): Performed {
  if (!isSessionName(name)) return { answer: words.wrongSessionName(name) };
  if (!chats.hasRoomFor(where, name)) return { answer: words.tooManySessions(MOST_SESSIONS) };
  return { answer: words.switched(name), also: chats.line(where, name, true) };
}
