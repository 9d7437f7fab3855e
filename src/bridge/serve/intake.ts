/**
 * Decides about an incoming message: it is refused, done at once (a command), or put into its conversation. An accepted message is on disk
 * before the platform learns of it, and a refusal is sent.
 */
import { mintId } from "../../core/ids.js";
import type { Incoming, Verdict } from "../platforms/platform.js";
import { isSessionName, MOST_SESSIONS } from "./chats.js";
import { commandIn, type ChatCommand } from "./command-words.js";
import { perform, type CommandRoom } from "./commands.js";
import { keyOf } from "./conversations.js";
import type { Entry, Received } from "./entry.js";
import type { Journal } from "./journal.js";
import type { Outbox } from "./outbox.js";
import { isAllowed, RefusedSenders, type Senders } from "./refused-senders.js";
import type { Where } from "./message-writer.js";
import * as words from "./words.js";

const LONGEST_NAME = 256;
/** The most undelivered answers, for one chat and in all. A chat above its limit gets no new turns. */
const MOST_UNSENT = 1000;
const MOST_UNSENT_IN_ALL = 20_000;

export interface DeskOptions extends CommandRoom {
  journal: Journal;
  outbox: Outbox;
  queue: number;
  log(text: string): void;
}

/** The senders of a platform who may talk, and whether the platform itself sends refusals. */
export interface Counter {
  platform: string;
  allow: Senders;
  tellsRefusals: boolean;
}

export class Intake {
  readonly #options: DeskOptions;
  readonly #refusedSenders = new RefusedSenders();
  #closed = false;

  constructor(options: DeskOptions) {
    this.#options = options;
  }

  /** Every message is refused from now on. */
  close(): void {
    this.#closed = true;
  }

  async accept(counter: Counter, incoming: Incoming): Promise<Verdict> {
    const { journal } = this.#options;
    const { platform } = counter;
    const message: Incoming = { ...incoming, text: incoming.text.toWellFormed() };
    const refusal = this.#refusal(counter, message);
    if (refusal !== undefined) return this.#refuse(counter, message, refusal);
    const known = message.key === undefined ? undefined : journal.ledger.seen(platform, message.key);
    const verdict: Verdict = known === undefined ? this.#take(counter, message) : { accepted: true, id: known, duplicate: true };
    await journal.durable();
    return verdict;
  }

  #refusal({ allow }: Counter, message: Incoming): Refusal | undefined {
    if (this.#closed) return { accepted: false, why: "stopping", text: words.SHUTTING_DOWN };
    const wrongName = wrongNameIn(message);
    if (wrongName !== undefined) return { accepted: false, why: "invalid", text: wrongName };
    if (!isAllowed(allow, message.from)) return { accepted: false, why: "sender", text: words.notOnTheList(message.from) };
    const isEmpty = message.text.trim() === "" && (message.attachments ?? []).length === 0;
    return isEmpty ? { accepted: false, why: "invalid", text: words.EMPTY } : undefined;
  }

  #refuse({ platform, tellsRefusals }: Counter, { chat, from }: Incoming, refusal: Refusal): Refusal {
    const { log, outbox, writer } = this.#options;
    if (refusal.why === "sender" && !this.#refusedSenders.isNew(platform, from)) return refusal;
    if (refusal.why === "sender") log(`refused a message of '${from}' on '${platform}': not in 'allow'`);
    // The platform sends an unacknowledged message again after the restart. A flood gets one refusal until that has arrived.
    const isTold = tellsRefusals || refusal.why === "stopping" || outbox.unsent(platform, chat).some(({ text }) => text === refusal.text);
    if (!isTold) writer.say({ platform, chat }, "notice", refusal.text);
    return refusal;
  }

  /** The reason why no message is accepted that needs an answer; undefined where there is room. */
  #backlog({ platform, chat }: Where): string | undefined {
    const { journal, outbox } = this.#options;
    if (outbox.unsent(platform, chat).length >= MOST_UNSENT) return words.unread(MOST_UNSENT);
    return journal.ledger.unsent.size >= MOST_UNSENT_IN_ALL ? words.BUSY : undefined;
  }

  #take(counter: Counter, message: Incoming): Verdict {
    const { chats, writer } = this.#options;
    const where: Where = { platform: counter.platform, chat: message.chat };
    const backlog = this.#backlog(where);
    if (backlog !== undefined) return this.#refuse(counter, message, { accepted: false, why: "full", text: backlog });
    const command = commandIn(message.text);
    const begins = command?.name === "new" && (command.word === "" || isSessionName(command.word));
    if (command === undefined || begins) return this.#queue(counter, message, command);
    const { answer, also = [] } = perform(
      command,
      { ...where, from: message.from },
      message.session ?? chats.of(where).current,
      this.#options,
    );
    const seen: Entry[] = message.key === undefined ? [] : [{ kind: "seen", platform: where.platform, key: message.key, id: "" }];
    const told = writer.words(where, "notice", answer).map((line) => ({ ...line, ...keyed(message) }));
    writer.write(...also, ...seen, ...told);
    return { accepted: true, id: told[0]?.id ?? "" };
  }

  /** The message runs in the order of its conversation; so does /new, which concerns later messages. */
  #queue(counter: Counter, message: Incoming, command: ChatCommand | undefined): Verdict {
    const { chats, conversations, journal, queue } = this.#options;
    const where: Where = { platform: counter.platform, chat: message.chat };
    const session = (command?.word || message.session) ?? chats.of(where).current;
    const key = keyOf({ ...where, session });
    const crowded = conversations.crowded(key);
    const full = (text: string): Verdict => this.#refuse(counter, message, { accepted: false, why: "full", text });
    if (crowded !== undefined) return full(crowded === "queue" ? words.queueFull(queue) : words.BUSY);
    if (!chats.hasRoomFor(where, session)) return full(words.tooManySessions(MOST_SESSIONS));
    const received: Received = {
      kind: "received",
      id: mintId(),
      at: Date.now(),
      ...where,
      session,
      from: message.from,
      text: message.text,
      attachments: [...(message.attachments ?? [])],
      ...keyed(message),
    };
    journal.write(...chats.line(where, session, command !== undefined), received);
    conversations.add(received);
    return { accepted: true, id: received.id };
  }
}

type Refusal = Extract<Verdict, { accepted: false }>;

function keyed({ key }: Incoming): { key?: string } {
  return key === undefined ? {} : { key };
}

/** Names become parts of others' file names, variables and log lines. */
function wrongNameIn({ chat, from, session, key }: Incoming): string | undefined {
  for (const [what, name] of Object.entries({ chat, from, ...(key !== undefined && { id: key }) })) {
    if (name === "" || name.length > LONGEST_NAME || /\p{Cc}/u.test(name) || !name.isWellFormed()) {
      return `'${what}' must have 1 to ${LONGEST_NAME} characters, none of them control characters`;
    }
  }
  return session === undefined || isSessionName(session) ? undefined : words.wrongSessionName(session);
}
