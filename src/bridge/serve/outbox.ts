/**
 * Delivery: sends messages in order, one chat at a time, for as long as it takes. A throttled chat delays no other chat. A message is on
 * disk before it is sent, and is marked when it is delivered.
 */
import { setTimeout as after } from "node:timers/promises";
import { messageOf } from "../../core/errors.js";
import type { Delivery, Outgoing, Platform } from "../platforms/platform.js";
import { retryMs } from "../turn/retry.js";
import type { Told } from "./entry.js";
import type { Journal } from "./journal.js";
import { placeOf } from "./ledger.js";

/** The most chats that are remembered without a message under way. */
const IDLE_LANES = 1000;

export interface OutboxOptions {
  journal: Journal;
  platforms: ReadonlyMap<string, Platform>;
  /** The time for which an undeliverable message is tried. */
  patienceMs: number;
  log(text: string): void;
}

interface Item {
  told: Told;
  repeated: boolean;
}

/** The queue of one chat. */
interface Lane {
  platform: string;
  queue: Item[];
  working: boolean;
  /** The platform wants no message before this time. */
  nextAt: number;
  /** The message that a stream edits. */
  open: { to: string; ref: string; text: string } | undefined;
  /** Callers that wait for an empty queue. */
  waiters: (() => void)[];
}

export class Outbox {
  readonly #options: OutboxOptions;
  readonly #lanes = new Map<string, Lane>();
  readonly #stopped = new AbortController();
  /** The start of delivery; the waiting time of older messages counts from here. */
  #begun: number | undefined;

  constructor(options: OutboxOptions) {
    this.#options = options;
  }

  /** The platforms are open: posted messages are sent from now on. */
  begin(): void {
    this.#begun = Date.now();
    for (const lane of this.#lanes.values()) this.#start(lane);
  }

  /** Queues a message that is in the journal already. `repeated`: an earlier run may have delivered it. */
  post(told: Told, repeated = false): void {
    const lane = this.#lane(told.platform, told.chat);
    lane.queue.push({ told, repeated });
    this.#start(lane);
  }

  /** The messages for a chat that have not arrived. */
  unsent(platform: string, chat: string): readonly Told[] {
    return this.#lanes.get(placeOf(platform, chat))?.queue.map(({ told }) => told) ?? [];
  }

  /** Resolves when the chat has all its messages, and the platform accepts more. */
  async quiet(platform: string, chat: string): Promise<void> {
    const lane = this.#lane(platform, chat);
    await this.#emptied(lane);
    await this.#pause(lane.nextAt - performance.now());
  }

  /** Waits until all messages are delivered, or until the time is over. */
  async drain(ms: number): Promise<void> {
    const all = Promise.all([...this.#lanes.values()].map((lane) => this.#emptied(lane)));
    await Promise.race([all, this.#pause(ms)]);
  }

  /** Stops sending; undelivered messages stay in the journal. */
  stop(): void {
    this.#stopped.abort();
    for (const lane of this.#lanes.values()) wake(lane);
  }

  #lane(platform: string, chat: string): Lane {
    const place = placeOf(platform, chat);
    const known = this.#lanes.get(place);
    if (known !== undefined) return known;
    if (this.#lanes.size >= IDLE_LANES) this.#forgetIdle();
    const lane: Lane = { platform, queue: [], working: false, nextAt: 0, open: undefined, waiters: [] };
    this.#lanes.set(place, lane);
    return lane;
  }

  #forgetIdle(): void {
    for (const [place, { queue, nextAt }] of this.#lanes) if (queue.length === 0 && nextAt < performance.now()) this.#lanes.delete(place);
  }

  #start(lane: Lane): void {
    if (this.#begun === undefined || lane.working || lane.queue.length === 0) return;
    lane.working = true;
    void this.#work(lane);
  }

  /** Delivery was stopped. */
  async #emptied(lane: Lane): Promise<void> {
    while (lane.queue.length > 0 && !this.#stopped.signal.aborted) await new Promise<void>((resolve) => lane.waiters.push(resolve));
  }

  async #work(lane: Lane): Promise<void> {
    const platform = this.#options.platforms.get(lane.platform);
    try {
      for (let item = lane.queue[0]; item !== undefined && platform !== undefined; item = lane.queue[0]) {
        await this.#pause(lane.nextAt - performance.now());
        await this.#options.journal.durable();
        if (!(await this.#deliver(lane, platform, item))) return;
        lane.queue.shift();
        lane.nextAt = performance.now() + (platform.limits.interval ?? 0);
      }
    } catch (error) {
      // The journal has failed, which ends the bridge.
      this.#options.log(`nothing more can be delivered on '${lane.platform}': ${messageOf(error)}`);
    } finally {
      lane.working = false;
      wake(lane);
    }
  }

  /** False when delivery was stopped before the message was delivered. */
  async #deliver(lane: Lane, platform: Platform, item: Item): Promise<boolean> {
    const { journal, patienceMs, log } = this.#options;
    const { told } = item;
    for (let failures = 0; !this.#stopped.signal.aborted; failures++) {
      if (failures === 0 && !item.repeated) journal.write({ kind: "attempted", id: told.id });
      const answer = await this.#attempt(lane, platform, item);
      if (answer.status === "sent") {
        journal.write({ kind: "delivered", id: told.id });
        return true;
      }
      const tried = Date.now() - Math.max(told.at, this.#begun ?? 0);
      const reason = answer.status === "rejected" ? answer.reason : tried > patienceMs ? "it was tried for too long" : "";
      if (reason !== "") {
        log(`a message to '${told.chat}' on '${told.platform}' was not delivered: ${reason}`);
        journal.write({ kind: "delivered", id: told.id, refused: reason });
        return true;
      }
      await this.#pause(retryMs(failures, answer.status === "throttled" ? answer.retryAfter : undefined));
    }
    return false;
  }

  async #attempt(lane: Lane, platform: Platform, item: Item): Promise<Delivery> {
    try {
      return await sendOrEdit(lane, platform, item);
    } catch (error) {
      item.repeated = true;
      this.#options.log(`a message to '${item.told.chat}' on '${item.told.platform}' is tried again: ${messageOf(error)}`);
      return { status: "throttled" };
    }
  }

  async #pause(ms: number): Promise<void> {
    if (ms > 0) await after(ms, undefined, { signal: this.#stopped.signal, ref: true }).catch(() => {});
  }
}

/** A stream continues in its last message as long as that has room. */
async function sendOrEdit(lane: Lane, platform: Platform, { told, repeated }: Item): Promise<Delivery> {
  const message = outgoing(told, repeated);
  const { open } = lane;
  if (platform.edit !== undefined && told.type === "partial" && open !== undefined && open.to === told.to) {
    const text = open.text + told.text;
    if (text.length <= platform.limits.text) {
      const answer = await platform.edit(open.ref, { ...message, text, repeated: false });
      if (answer.status === "sent") open.text = text;
      if (answer.status !== "rejected") return answer;
    }
  }
  const answer = await platform.send(message);
  if (answer.status === "sent") {
    const goesOn = told.type === "partial" && told.to !== undefined && answer.ref !== undefined;
    lane.open = goesOn ? { to: told.to ?? "", ref: answer.ref ?? "", text: told.text } : undefined;
  }
  return answer;
}

function outgoing({ id, chat, text, type, key }: Told, repeated: boolean): Outgoing {
  return { key: id, chat, text, kind: type, repeated, ...(key !== undefined && { inReplyTo: key }) };
}

function wake(lane: Lane): void {
  for (const resolve of lane.waiters.splice(0)) resolve();
}
