/** The user's own words through a compaction: which messages of the user stay, word for word, however often a conversation is summed up. */
import type { Message, UserMessage } from "../../models/model.js";
import { isOfUser } from "../../session/history.js";
import { estimate, fitted } from "./cut.js";

/** Tokens of the user's messages that stay beside the first. */
const USER_TOKENS = 20_000;
/** The share of the allowed size that the first message may have, and that the others may have together. */
const SHARE = 0.25;
/** A message is not cut to less. */
const LEAST_TOKENS = 50;

/**
 * The messages of the user in `head` that stay in front of `tail`, in their order: always the first, which holds the task, and the newest
 * for which there is room. A message that is longer than its room loses its middle.
 */
export function keptWords(head: readonly Message[], tail: readonly Message[], allowed: number): UserMessage[] {
  const [first, ...later] = head.filter(isOfUser);
  if (first === undefined) return [];
  const share = Math.max(LEAST_TOKENS, Math.floor(SHARE * allowed));
  const kept: UserMessage[] = [];
  let room = Math.min(USER_TOKENS, share) - estimate(tail.filter(isOfUser));
  for (const message of later.toReversed()) {
    if (room < LEAST_TOKENS) break;
    const words = fitted(message, room);
    kept.unshift(words);
    room -= estimate([words]);
  }
  return [fitted(first, share), ...kept];
}
