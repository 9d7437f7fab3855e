/** Usage of a turn, which is in the answer to its prompt. */
import * as v from "valibot";
import type { Usage } from "../../../core/event.js";
import { isRecord } from "../../../core/values/json-object.js";

const count = v.nullish(v.number());

export const WireUsage = v.looseObject({
  inputTokens: v.number(),
  outputTokens: v.number(),
  totalTokens: count,
  cachedReadTokens: count,
  cachedWriteTokens: count,
  thoughtTokens: count,
});

/** Writes disjoint counts and their sum. */
export function writeUsage({ input, output, cacheRead, cacheWrite, reasoning }: Usage): v.InferOutput<typeof WireUsage> {
  return {
    totalTokens: input + output + (cacheRead ?? 0) + (cacheWrite ?? 0) + (reasoning ?? 0),
    inputTokens: input,
    outputTokens: output,
    ...(cacheRead !== undefined && { cachedReadTokens: cacheRead }),
    ...(cacheWrite !== undefined && { cachedWriteTokens: cacheWrite }),
    ...(reasoning !== undefined && { thoughtTokens: reasoning }),
  };
}

/** Reads counts. If the sum shows that input includes the cache or output the thoughts, they are subtracted. */
export function readUsage(given: unknown): Usage | undefined {
  if (!v.is(WireUsage, given)) return undefined;
  const { inputTokens: input, outputTokens: output, totalTokens } = given;
  const cacheRead = given.cachedReadTokens ?? 0;
  const cacheWrite = given.cachedWriteTokens ?? 0;
  const reasoning = given.thoughtTokens ?? 0;
  const total = totalTokens ?? input + output + cacheRead + cacheWrite + reasoning;
  const beyond = total - input - output;
  const isCacheInside = cacheRead + cacheWrite > 0 && (beyond === 0 || beyond === reasoning);
  const isThoughtInside = reasoning > 0 && (beyond === 0 || beyond === cacheRead + cacheWrite);
  return {
    input: Math.max(0, input - (isCacheInside ? cacheRead + cacheWrite : 0)),
    output: Math.max(0, output - (isThoughtInside ? reasoning : 0)),
    ...(cacheRead > 0 && { cacheRead }),
    ...(cacheWrite > 0 && { cacheWrite }),
    ...(reasoning > 0 && { reasoning }),
  };
}

const Quota = v.looseObject({
  quota: v.looseObject({ token_count: v.looseObject({ input_tokens: v.number(), output_tokens: v.number() }) }),
});

/** The usage in an answer to a prompt. Gemini CLI has it only in `_meta.quota`. */
export function usageOfResult(result: unknown): Usage | undefined {
  if (!isRecord(result)) return undefined;
  const told = readUsage(result["usage"]);
  const meta = result["_meta"];
  if (told !== undefined || !v.is(Quota, meta)) return told;
  const { input_tokens: input, output_tokens: output } = meta.quota.token_count;
  return { input, output };
}

/** reasonix tells what its turn has used so far in a notification of its own, in which the prompt includes the cache's share. */
export const STATUS_UPDATE = "_reasonix.io/session/status_update";
export const StatusUpdate = v.looseObject({
  sessionId: v.string(),
  status: v.looseObject({
    usage: v.looseObject({
      turn: v.looseObject({ promptTokens: v.number(), completionTokens: v.number(), cacheHitTokens: count, reasoningTokens: count }),
    }),
  }),
});

export function usageOfStatus({ status }: v.InferOutput<typeof StatusUpdate>): Usage | undefined {
  const { promptTokens, completionTokens, cacheHitTokens, reasoningTokens } = status.usage.turn;
  return readUsage({
    inputTokens: promptTokens,
    outputTokens: completionTokens,
    totalTokens: promptTokens + completionTokens,
    cachedReadTokens: cacheHitTokens,
    thoughtTokens: reasoningTokens,
  });
}
