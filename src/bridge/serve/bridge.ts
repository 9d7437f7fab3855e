/**
 * The long-running bridge: platforms on one side, agents on the other, the journal between them. It takes up the open work of an earlier
 * run, and ends in order.
 */
import type { Platform } from "../platforms/platform.js";
import type { Runner } from "../turn/turn.js";
import { Approvals } from "./approvals.js";
import { approversOf, type Approvers } from "./approvers.js";
import { Chats } from "./chats.js";
import type { BridgeConfig, PlatformConfig } from "./config.js";
import { Conversations } from "./conversations.js";
import { Intake } from "./intake.js";
import type { OpenMessage } from "./ledger.js";
import { Journal } from "./journal.js";
import { Outbox } from "./outbox.js";
import { isAllowed } from "./refused-senders.js";
import { runTurn } from "./turn-run.js";
import { MessageWriter } from "./message-writer.js";
import * as words from "./words.js";

const HOUR_MS = 3_600_000;

/** The configuration of a bridge, and its surroundings. */
export interface ServeOptions {
  env: Readonly<Record<string, string | undefined>>;
  /** A profile of the configuration; platforms with the same profile share a runner. */
  openRunner(profile: string, folder: string): Promise<Runner>;
  log(text: string): void;
}

/** A bridge that runs, and its end. */
export interface RunningBridge {
  /** Settles when every platform has ended, or with the error of a part that broke. */
  readonly over: Promise<unknown>;
  /** Refuses new messages, ends running turns, tells their chats, and delivers as much as it can; the journal keeps the rest. */
  close(): Promise<void>;
}

/** Throws when a platform, a profile or the journal cannot be opened; then nothing stays open, and no turn has begun. */
export async function startBridge(config: BridgeConfig, options: ServeOptions): Promise<RunningBridge> {
  const { limits } = config;
  const { log } = options;
  let over: (failure?: unknown) => void = () => {};
  const ended = new Promise<unknown>((resolve) => {
    over = resolve;
  });
  const { journal, runners, platforms } = await openAll(config, options, over);
  const outbox = new Outbox({ journal, platforms, patienceMs: limits.retryHours * HOUR_MS, log });
  const writer = new MessageWriter(journal, outbox, platforms);
  const approvals = new Approvals(limits.approvalSeconds, approversIn(config.platforms));
  const room = { journal, outbox, writer, approvals, platform: (name: string) => platforms.get(name), runner: runnerIn(runners), log };
  const conversations = new Conversations(limits, (message, turn) => runTurn(message, turn, room));
  const intake = new Intake({ journal, outbox, writer, chats: new Chats(journal), conversations, approvals, queue: limits.queue, log });

  const close = async (): Promise<void> => {
    intake.close();
    await atTheEnd(platforms.values(), (platform) => platform.pause());
    await conversations.close();
    await outbox.drain(limits.shutdownSeconds * 1000);
    outbox.stop();
    await atTheEnd(platforms.values(), (platform) => platform.stop());
    await closeAll(runners.values());
    clearInterval(awake);
    await journal.close();
  };
  // The process must live even when no platform keeps a handle open.
  const awake = setInterval(() => {}, HOUR_MS);
  let closing: Promise<void> | undefined;
  const bridge: RunningBridge = { over: ended, close: () => (closing ??= close()) };

  // New messages queue behind old ones, and nothing is sent before every platform is open.
  takeUp({ journal, platforms, outbox, writer, conversations, log });
  const open = new Set(platforms.keys());
  try {
    for (const platform of config.platforms) await begin(platform);
  } catch (error) {
    outbox.stop();
    await bridge.close();
    throw error;
  }
  outbox.begin();
  conversations.begin();
  return bridge;

  async function begin({ name, allow, approvers }: PlatformConfig): Promise<void> {
    const platform = platforms.get(name);
    if (allow.size === 0) log(`nobody may talk on '${name}': its list 'allow' is empty`);
    if (allow.has("*")) log(`everybody may talk on '${name}'`);
    if (allow.size > 0 && approvers.noneBecause !== undefined) log(`nobody may approve on '${name}': ${approvers.noneBecause}`);
    if (approvers.includes("*")) log(`everybody may approve on '${name}'`);
    const tellsRefusals = platform?.limits.tellsRefusals ?? false;
    await platform?.start({
      accept: (message) => intake.accept({ platform: name, allow, tellsRefusals }, message),
      allows: (from) => isAllowed(allow, from),
      ended() {
        open.delete(name);
        approvals.silence(name);
        if (open.size === 0) void conversations.finished().then(() => over());
      },
      log,
    });
  }
}

interface Left {
  journal: Journal;
  platforms: ReadonlyMap<string, Platform>;
  outbox: Outbox;
  writer: MessageWriter;
  conversations: Conversations;
  log(text: string): void;
}

/** Takes up the work of an earlier run: messages that may not have arrived, turns that were cut off, messages whose turn never began. */
function takeUp({ journal, platforms, outbox, writer, conversations, log }: Left): void {
  const { unsent, messages } = journal.ledger;
  const undelivered = [...unsent.values()].filter(({ told }) => platforms.has(told.platform));
  const left = [...messages.values()].filter(({ received }) => platforms.has(received.platform));
  const orphans = unsent.size - undelivered.length + messages.size - left.length;
  if (orphans > 0) log(`${orphans} entries of the journal wait for platforms that are not configured any more`);
  if (undelivered.length + left.length > 0) log(`taken up again: ${left.length} messages to answer, ${undelivered.length} to deliver`);
  for (const { told, attempted } of undelivered) outbox.post(told, attempted);
  for (const message of left) resume(message, writer, conversations);
}

function resume({ received, started }: OpenMessage, writer: MessageWriter, conversations: Conversations): void {
  if (!started) return conversations.add(received);
  writer.answer(received, ...writer.words(received, "notice", words.cutOff(received.text), received));
}

interface Opened {
  journal: Journal;
  /** Both maps are by the platform's name. */
  runners: ReadonlyMap<string, Runner>;
  platforms: ReadonlyMap<string, Platform>;
}

/** Opens everything or nothing. */
async function openAll(config: BridgeConfig, options: ServeOptions, onFailure: (error: unknown) => void): Promise<Opened> {
  const runners = await openRunners(config.platforms, options);
  try {
    const platforms = await openPlatforms(config, options);
    const journal = await Journal.open(config.stateFolder, { onFailure });
    if (journal.unreadable > 0) options.log(`${journal.unreadable} lines of the journal could not be read and are in ${journal.aside} now`);
    return { journal, runners, platforms };
  } catch (error) {
    await closeAll(runners.values());
    throw error;
  }
}

async function openPlatforms({ platforms, filesFolder: files }: BridgeConfig, { env, log }: ServeOptions): Promise<Map<string, Platform>> {
  const opened = new Map<string, Platform>();
  for (const { name, open } of platforms) opened.set(name, await open({ name, env, files, log }));
  return opened;
}

async function openRunners(platforms: readonly PlatformConfig[], { openRunner }: ServeOptions): Promise<Map<string, Runner>> {
  const byProfile = new Map<string, Runner>();
  const byPlatform = new Map<string, Runner>();
  try {
    for (const { name, profile, folder } of platforms) {
      const runner = byProfile.get(profile) ?? (await openRunner(profile, folder));
      byProfile.set(profile, runner);
      byPlatform.set(name, runner);
    }
    return byPlatform;
  } catch (error) {
    await closeAll(byProfile.values());
    throw error;
  }
}

function runnerIn(runners: ReadonlyMap<string, Runner>): (platform: string) => Runner {
  return (platform) => {
    const runner = runners.get(platform);
    if (runner === undefined) throw new Error(`there is no platform '${platform}'`);
    return runner;
  };
}

function approversIn(platforms: readonly PlatformConfig[]): (platform: string) => Approvers {
  const byPlatform = new Map(platforms.map(({ name, approvers }) => [name, approvers]));
  const nobody = approversOf(new Set(), undefined);
  return (platform) => byPlatform.get(platform) ?? nobody;
}

async function closeAll(runners: Iterable<Runner>): Promise<void> {
  await atTheEnd(new Set(runners), (runner) => runner.close());
}

/** A part that fails at its end does not keep another from ending. */
async function atTheEnd<T>(all: Iterable<T>, work: (one: T) => Promise<void>): Promise<void> {
  await Promise.allSettled([...all].map(async (one) => work(one)));
}
