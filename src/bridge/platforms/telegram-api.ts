/** Telegram's bot API: one call and its result. The token is in the address of every call, so no address is ever shown. */
import * as v from "valibot";
import { reasonOf } from "./fetch-error.js";

const Answer = v.looseObject({
  ok: v.boolean(),
  result: v.optional(v.unknown()),
  error_code: v.optional(v.number()),
  description: v.optional(v.string()),
  parameters: v.optional(v.looseObject({ retry_after: v.optional(v.number()) })),
});

export type ApiAnswer =
  | { ok: true; result: unknown }
  /** `code` is an HTTP status; `retryAfter` in milliseconds. */
  | { ok: false; code: number; description: string; retryAfter?: number };

export interface TelegramApi {
  /** Rejects without an answer of Telegram: the call may have had its effect. */
  call(method: string, params: Record<string, unknown>, options?: { timeoutMs?: number; signal?: AbortSignal }): Promise<ApiAnswer>;
  /** The bytes of a file that the API named; rejects above `most`. */
  download(path: string, most: number, signal: AbortSignal): Promise<Buffer>;
}

const ANSWER_MS = 15_000;

export function telegramApi(baseUrl: string, token: string): TelegramApi {
  const root = baseUrl.replace(/\/+$/, "");
  const ask = (address: string, init: RequestInit, timeoutMs: number, given?: AbortSignal): Promise<Response> => {
    const timeout = AbortSignal.timeout(timeoutMs);
    const signal = given === undefined ? timeout : AbortSignal.any([given, timeout]);
    return fetch(address, { ...init, redirect: "error", signal }).catch((error: unknown) => {
      // The cause is left out: it may contain the address.
      throw new Error(`Telegram did not answer: ${withoutToken(reasonOf(error), token)}`);
    });
  };
  return {
    async call(method, params, { timeoutMs = ANSWER_MS, signal } = {}) {
      const init = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(params) };
      const response = await ask(`${root}/bot${token}/${method}`, init, timeoutMs, signal);
      return answerIn(response.status, await response.text());
    },
    async download(path, most, signal) {
      const response = await ask(`${root}/file/bot${token}/${path}`, {}, ANSWER_MS * 4, signal);
      if (!response.ok || response.body === null) throw new Error(`Telegram answered ${response.status}`);
      const chunks: Uint8Array[] = [];
      let size = 0;
      for await (const chunk of response.body) {
        size += chunk.length;
        if (size > most) throw new Error(`it is larger than ${most} bytes`);
        chunks.push(chunk);
      }
      return Buffer.concat(chunks);
    },
  };
}

function answerIn(status: number, text: string): ApiAnswer {
  const answer = v.safeParse(Answer, parsed(text));
  if (!answer.success) throw new Error(`Telegram did not answer, somebody else did (HTTP ${status})`);
  const { ok, result, error_code: code, description, parameters } = answer.output;
  if (ok) return { ok, result };
  const seconds = parameters?.retry_after;
  return {
    ok,
    code: code ?? status,
    description: description ?? `HTTP ${status}`,
    ...(seconds !== undefined && { retryAfter: seconds * 1000 }),
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function withoutToken(text: string, token: string): string {
  return text.replaceAll(token, "[token]");
}
