/** Permissions asked in a chat: each has a short name, the approvers of one chat, and a deadline, at which it is denied. */
import { randomInt } from "node:crypto";
import { timerMs } from "../../core/limits.js";
import type { PermissionAnswer, PermissionRequest } from "../turn/turn.js";
import type { Approvers } from "./approvers.js";
import type { Where } from "./message-writer.js";
import * as words from "./words.js";

/** Letters and digits without those that look alike. */
const LETTERS = "abcdefghjkmnpqrstuvwxyz23456789";
const NAME_LENGTH = 4;

const NOBODY_THERE: PermissionAnswer = { behavior: "deny", message: words.NOBODY_THERE };

interface Pending extends Where {
  settle(answer: PermissionAnswer): void;
}

/** A chat, and a person in it. */
export interface Speaker extends Where {
  from: string;
}

export class Approvals {
  readonly #seconds: number;
  readonly #approvers: (platform: string) => Approvers;
  readonly #pending = new Map<string, Pending>();
  /** Platforms that have ended, from which no answer will come. */
  readonly #silent = new Set<string>();

  constructor(seconds: number, approvers: (platform: string) => Approvers) {
    this.#seconds = seconds;
    this.#approvers = approvers;
  }

  /** `signal` voids the request when the agent is gone. `tell` writes to the chat. */
  async ask(where: Where, request: PermissionRequest, signal: AbortSignal, tell: (text: string) => void): Promise<PermissionAnswer> {
    if (this.#silent.has(where.platform)) return NOBODY_THERE;
    const approvers = this.#approvers(where.platform);
    if (approvers.noneBecause !== undefined && !signal.aborted) {
      tell(words.nobodyApproves(request, approvers.noneBecause));
      return { behavior: "deny", message: words.nobodyMay(approvers.noneBecause) };
    }
    const name = this.#freeName();
    const ms = Math.max(0, Math.min((request.deadline ?? Infinity) - Date.now(), timerMs(this.#seconds)));
    return new Promise((resolve) => {
      const settle = (answer: PermissionAnswer): void => {
        if (!this.#pending.delete(name)) return;
        clearTimeout(timer);
        signal.removeEventListener("abort", onAbort);
        resolve(answer);
      };
      const onAbort = (): void => settle({ behavior: "deny", message: words.TURN_IS_OVER });
      const timer = setTimeout(() => {
        tell(words.askedInVain(name));
        settle({ behavior: "deny", message: words.NOBODY_ANSWERED });
      }, ms);
      this.#pending.set(name, { ...where, settle });
      signal.addEventListener("abort", onAbort);
      if (signal.aborted) return onAbort();
      tell(words.asked(name, request, ms, approvers));
    });
  }

  /** The platform has ended: its open and later requests are denied. */
  silence(platform: string): void {
    this.#silent.add(platform);
    for (const pending of this.#pending.values()) if (pending.platform === platform) pending.settle(NOBODY_THERE);
  }

  /** Returns the reply to an answer. An answer of another person changes nothing; the name of another chat's request counts as unknown. */
  answer({ platform, chat, from }: Speaker, name: string, answer: PermissionAnswer): string {
    const approvers = this.#approvers(platform);
    if (!approvers.includes(from)) return words.noApprover(from, approvers);
    if (name === "") return words.whichRequest(this.#names(platform, chat));
    const pending = this.#pending.get(name.toLowerCase());
    if (pending === undefined || pending.platform !== platform || pending.chat !== chat) return words.noSuchRequest(name);
    pending.settle(answer);
    return words.answered(name.toLowerCase(), answer.behavior);
  }

  #names(platform: string, chat: string): string[] {
    return [...this.#pending].filter(([, pending]) => pending.platform === platform && pending.chat === chat).map(([name]) => name);
  }

  #freeName(): string {
    for (;;) {
      const name = Array.from({ length: NAME_LENGTH }, () => LETTERS.charAt(randomInt(LETTERS.length))).join("");
      if (!this.#pending.has(name)) return name;
    }
  }
}
