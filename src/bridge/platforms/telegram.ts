/** Telegram, by long polling of its bot API. An update is confirmed (by the offset of the next call) only after it is on disk. */
import { setTimeout as after } from "node:timers/promises";
import * as v from "valibot";
import { messageOf as wordsOf, ParleyError } from "../../core/errors.js";
import { retryMs } from "../turn/retry.js";
import { kindOf, type PlatformContext } from "./kind.js";
import type { Delivery, Inbox, Outgoing, Platform } from "./platform.js";
import { telegramApi, type ApiAnswer, type TelegramApi } from "./telegram-api.js";
import { fetchFiles } from "./telegram-files.js";
import { addressOf, messageOf, Updates } from "./telegram-update.js";

/** Telegram accepts 4096; the mark of a repeated message must fit, too. */
const TEXT_LIMIT = 4000;

const Settings = v.strictObject({
  type: v.literal("telegram", "be telegram"),
  /** The variable with the bot's token, which stands in no file. */
  tokenEnv: v.optional(v.pipe(v.string("be a text"), v.nonEmpty("be the name of a variable")), "TELEGRAM_BOT_TOKEN"),
  baseUrl: v.optional(
    v.pipe(v.string("be a URL"), v.check(isBaseUrl, "be an http or https URL, without a name and a password")),
    "https://api.telegram.org",
  ),
  pollSeconds: v.optional(v.pipe(v.number("be a number"), v.minValue(0, "be 0 or more"), v.maxValue(50, "be 50 or less")), 50),
  intervalMs: v.optional(v.pipe(v.number("be a number"), v.minValue(0, "be 0 or more"), v.maxValue(60_000, "be 60000 or less")), 1000),
});
type Settings = v.InferOutput<typeof Settings>;

export const telegramKind = kindOf({
  settings: Settings,
  secrets: ({ tokenEnv }) => [tokenEnv],
  open: (settings, context) => Promise.resolve(telegram(settings, tokenIn(settings, context), context)),
});

function telegram(settings: Settings, token: string, context: PlatformContext): Platform {
  const api = telegramApi(settings.baseUrl, token);
  const ended = new AbortController();
  let polling: Promise<void> = Promise.resolve();
  return {
    limits: { text: TEXT_LIMIT, interval: settings.intervalMs },
    async start(inbox) {
      const me = await api.call("getMe", {}).catch(unanswered);
      if (!me.ok && (me.code === 401 || me.code === 404)) throw wrongToken(settings.tokenEnv, me.description);
      polling = poll(settings.pollSeconds, { api, inbox, context, username: usernameIn(me), signal: ended.signal });
    },
    async send(message) {
      if (message.text.trim() === "") return { status: "sent" };
      return delivery(await api.call("sendMessage", { ...addressOf(message.chat), text: shown(message) }));
    },
    async edit(ref, message) {
      const { chat_id } = addressOf(message.chat);
      const answer = await api.call("editMessageText", { chat_id, message_id: Number(ref), text: shown(message) });
      return !answer.ok && answer.description.includes("message is not modified") ? { status: "sent", ref } : delivery(answer);
    },
    async typing(chat) {
      await api.call("sendChatAction", { ...addressOf(chat), action: "typing" });
    },
    async pause() {
      ended.abort();
      await polling;
    },
    stop: () => Promise.resolve(),
  };
}

const Me = v.looseObject({ username: v.string() });

function usernameIn(me: ApiAnswer): string | undefined {
  return me.ok && v.is(Me, me.result) ? me.result.username : undefined;
}

interface Polling {
  api: TelegramApi;
  inbox: Inbox;
  context: PlatformContext;
  /** The bot's own name; undefined when it is unknown. */
  username: string | undefined;
  signal: AbortSignal;
}

async function poll(seconds: number, polling: Polling): Promise<void> {
  const { api, signal } = polling;
  const { log, name } = polling.context;
  const timeoutMs = (seconds + 15) * 1000;
  let offset: number | undefined;
  for (let failures = 0; !signal.aborted;) {
    const params = { timeout: seconds, allowed_updates: ["message"], ...(offset !== undefined && { offset }) };
    const answer = await api.call("getUpdates", params, { timeoutMs, signal }).catch(unanswered);
    if (signal.aborted) return;
    const updates = answer.ok ? v.safeParse(Updates, answer.result) : undefined;
    if (updates?.success !== true) {
      const why = answer.ok ? "an answer without updates" : answer.description;
      if (failures === 0) log(`'${name}' cannot poll and tries again: ${why}${conflictHint(answer)}`);
      await after(retryMs(failures++, answer.ok ? undefined : answer.retryAfter), undefined, { signal }).catch(() => {});
      continue;
    }
    failures = 0;
    // The API answers now, even if it did not at the start.
    if (updates.output.length > 0) polling.username ??= usernameIn(await api.call("getMe", {}, { signal }).catch(unanswered));
    for (const { update_id: id, message } of updates.output) {
      // An update that was not kept because the bridge ends is not confirmed, and comes again.
      if (!(await take(id, message, polling))) return;
      offset = id + 1;
    }
  }
}

async function take(id: number, update: unknown, { api, inbox, context, username, signal }: Polling): Promise<boolean> {
  const message = messageOf(update, username);
  if (message === undefined) return true;
  const { chat, from, files } = message;
  const { attachments, missing } = inbox.allows(from) ? await fetchFiles(files, api, context, signal) : { attachments: [], missing: [] };
  if (signal.aborted) return false;
  const text = [message.text, ...missing].filter((part) => part !== "").join("\n");
  try {
    const verdict = await inbox.accept({ chat, from, text, attachments, key: String(id) });
    return verdict.accepted || verdict.why !== "stopping";
  } catch {
    return false;
  }
}

/** The URL must have no password, because a log may show it. */
function isBaseUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password } = new URL(text);
  return (protocol === "https:" || protocol === "http:") && username === "" && password === "";
}

/** The API has no key to recognise doubles, so the text marks a repetition. */
function shown({ text, repeated }: Outgoing): string {
  return repeated ? `(again) ${text}` : text;
}

const Sent = v.looseObject({ message_id: v.number() });

function delivery(answer: ApiAnswer): Delivery {
  if (answer.ok) {
    const sent = v.safeParse(Sent, answer.result);
    return { status: "sent", ...(sent.success && { ref: String(sent.output.message_id) }) };
  }
  const { code, description, retryAfter } = answer;
  // A withdrawn token may be restored; Telegram's refusal of a chat or a text is final.
  if (code === 429 || code === 401 || code === 404) return { status: "throttled", ...(retryAfter !== undefined && { retryAfter }) };
  if (code >= 500) throw new Error(`Telegram answered ${code}: ${description}`);
  return { status: "rejected", reason: `${code} ${description}` };
}

function unanswered(error: unknown): ApiAnswer {
  return { ok: false, code: 0, description: wordsOf(error) };
}

function conflictHint(answer: ApiAnswer): string {
  return !answer.ok && answer.code === 409 ? " (another program polls for the same bot, or a webhook is set for it: end that)" : "";
}

function tokenIn({ tokenEnv }: Settings, { env, name }: PlatformContext): string {
  const token = env[tokenEnv] ?? "";
  if (/^[\w:-]+$/.test(token)) return token;
  const why = token === "" ? "is not set" : "holds something else";
  throw new ParleyError({
    code: "config",
    message: `The token of '${name}' belongs into the variable ${tokenEnv}, which ${why}`,
    retryable: false,
  });
}

function wrongToken(variable: string, description: string): ParleyError {
  return new ParleyError({ code: "config", message: `Telegram refused the token in ${variable}: ${description}`, retryable: false });
}
