/** What a chat platform is to the bridge. Whoever writes a new one reads this file and nothing else. */
import type { Attachment } from "../turn/turn.js";

export interface Platform {
  readonly limits: PlatformLimits;
  /**
   * Begins to take messages and resolves once it does; rejects when it never will (a wrong token, a port in use). A message is
   * acknowledged to the other side (an HTTP answer, a polling offset) only after `inbox.accept` has settled: from then on it is kept.
   */
  start(inbox: Inbox): Promise<void>;
  /**
   * One message into a chat. What throws counts as unknown: it may have arrived. It is tried again later, with `repeated` set.
   * A platform whose other side can tell doubles apart passes `key` on; one for people says that it is a repetition.
   */
  send(message: Outgoing): Promise<Delivery>;
  /** Puts `message.text` in the place of an earlier message. Without it a streamed answer is a row of messages. */
  edit?(ref: string, message: Outgoing): Promise<Delivery>;
  /** Best effort; asked for again and again while a turn runs. */
  typing?(chat: string): Promise<void>;
  /** Takes no more messages; can still send. */
  pause(): Promise<void>;
  /** After the last send. */
  stop(): Promise<void>;
}

export interface PlatformLimits {
  /** UTF-16 units of one message. Longer texts come in several. */
  text: number;
  /** Milliseconds between two messages into one chat; what streams meanwhile is joined. */
  interval?: number;
  /** What a refused message is told by the platform itself (an HTTP status), and not by a message into the chat. */
  tellsRefusals?: boolean;
  /** Whether the other side is a program, which wants to hear that a turn is over: `end`, without a text. */
  wantsEnds?: boolean;
}

export interface Inbox {
  /** Settles when the message is on disk, or refused. Rejects when it could not be kept: then it must not be acknowledged. */
  accept(message: Incoming): Promise<Verdict>;
  /** Whether a sender is on the list, for whoever has work to do before it accepts a message. */
  allows(from: string): boolean;
  /** No more messages will come: the other side has ended. */
  ended(): void;
  /** For the people who run the bridge. */
  log(text: string): void;
}

export interface Incoming {
  /** Where answers go: the platform's own name for the place. */
  chat: string;
  /** Who wrote it, as the allow-list names them. */
  from: string;
  text: string;
  attachments?: readonly Attachment[];
  /** The platform's own id of the message: the same one again is not run again. */
  key?: string;
  /** Which session of the chat is meant; the chat's current one when absent. */
  session?: string;
}

/** A message that comes while the bridge is `stopping` is best left unacknowledged, where it comes again then. */
export type Verdict =
  | { accepted: true; id: string; duplicate?: boolean }
  | { accepted: false; why: "sender" | "full" | "stopping" | "invalid"; text: string };

export interface Outgoing {
  /** The same for each attempt to deliver the same message. */
  key: string;
  chat: string;
  text: string;
  /** A piece of a streamed answer, an answer, what the bridge itself has to say, or that a turn is over. */
  kind: "partial" | "reply" | "notice" | "end";
  /** It may have been delivered before. */
  repeated: boolean;
  /** The key of the message that it answers. */
  inReplyTo?: string;
}

export type Delivery =
  | { status: "sent"; /** For `edit`. */ ref?: string }
  /** Certainly not delivered; may be tried again, after so many milliseconds if the platform said so. */
  | { status: "throttled"; retryAfter?: number }
  /** Never will be. */
  | { status: "rejected"; reason: string };
