/** A chat platform, as the bridge uses it. An author of a new one needs this file only. */
import type { Attachment } from "../turn/turn.js";

/** A chat platform: receives messages and delivers replies. */
export interface Platform {
  readonly limits: PlatformLimits;
  /**
   * Begins to take messages, and resolves once it does; rejects when it never will (a wrong token, a port in use). A message is
   * acknowledged to the other side (an HTTP answer, a polling offset) only after `inbox.accept` has settled: from then on it is kept.
   */
  start(inbox: Inbox): Promise<void>;
  /**
   * Sends one message into a chat. A thrown error means that it may have arrived: it is tried again later, with `repeated` set. A platform
   * whose other side recognises doubles passes `key` on; a platform for people marks the repetition.
   */
  send(message: Outgoing): Promise<Delivery>;
  /** Puts `message.text` in the place of an earlier message. Without this method a streamed answer is a row of messages. */
  edit?(ref: string, message: Outgoing): Promise<Delivery>;
  /** Shows that somebody types; called repeatedly while a turn runs. Failures are ignored. */
  typing?(chat: string): Promise<void>;
  /** Takes no more messages; `send` still works. */
  pause(): Promise<void>;
  /** Closes the platform after the last send. */
  stop(): Promise<void>;
}

/** The sizes that messages of a platform can have. */
export interface PlatformLimits {
  /** The most UTF-16 units of one message; a longer text becomes several. */
  text: number;
  /** Milliseconds between two messages into one chat; streamed pieces in between are joined. */
  interval?: number;
  /** The platform itself reports a refusal (an HTTP status), so that the bridge sends no message for it. */
  tellsRefusals?: boolean;
  /** The other side is a program, and gets `end` without a text when a turn is over. */
  wantsEnds?: boolean;
}

/** Takes the messages of a chat platform. */
export interface Inbox {
  /** Settles when the message is on disk, or refused. Rejects when it could not be kept: then it must not be acknowledged. */
  accept(message: Incoming): Promise<Verdict>;
  /** Whether a sender is on the list, for a platform that has work to do before it accepts a message. */
  allows(from: string): boolean;
  /** The other side has ended: no more messages will come. */
  ended(): void;
  /** Writes a line for the people who run the bridge. */
  log(text: string): void;
}

/** A message of a person. */
export interface Incoming {
  /** The receiver of answers: the platform's own name for the place. */
  chat: string;
  /** The sender, as the allow-list names senders. */
  from: string;
  text: string;
  attachments?: readonly Attachment[];
  /** The platform's own id of the message: a message with a known id does not run again. */
  key?: string;
  /** The session of the chat for this message; the current one when absent. */
  session?: string;
}

/** A platform should leave a message unacknowledged while the bridge is `stopping`, so that it comes again. */
export type Verdict =
  | { accepted: true; id: string; duplicate?: boolean }
  | { accepted: false; why: "sender" | "full" | "stopping" | "invalid"; text: string };

/** A message to a person. */
export interface Outgoing {
  /** The key is the same for each attempt to deliver the message. */
  key: string;
  chat: string;
  text: string;
  /** A piece of a streamed answer, an answer, a notice of the bridge itself, or the end of a turn. */
  kind: "partial" | "reply" | "notice" | "end";
  /** The message may have been delivered before. */
  repeated: boolean;
  /** The key of the answered message. */
  inReplyTo?: string;
}

/** A message on its way to a chat. */
export type Delivery =
  | { status: "sent"; /** For `edit`. */ ref?: string }
  /** The platform's id of the message, for `edit`. */
  | { status: "throttled"; retryAfter?: number }
  /** The message can never be delivered. */
  | { status: "rejected"; reason: string };
