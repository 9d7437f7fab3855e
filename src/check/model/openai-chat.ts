/** OpenAI's chat completions: how an answer is streamed. */
import { argumentPieces, callId, interleaved, modelIn, type Frame, type Played, type Reply } from "./script.js";

/** How a server says what it thinks: the deltas for an answer's thinking. */
type ThinkingDeltas = (reply: Reply) => Record<string, unknown>[];

export function playChat(reply: Reply, count: number, body: unknown, thinking: ThinkingDeltas, usage = chatUsage(reply)): Played {
  const head = {
    id: `chatcmpl-${count}`,
    object: "chat.completion.chunk",
    created: 1_700_000_000,
    model: modelIn(body),
    system_fingerprint: "fp_1",
  };
  const chunk = (delta: Record<string, unknown>, finish_reason: string | null = null): Frame => ({
    data: { ...head, choices: [{ index: 0, delta, logprobs: null, finish_reason }], usage: null },
  });
  const stop = reply.stop ?? ((reply.calls ?? []).length > 0 ? "tool_calls" : "stop");
  return {
    opening: [chunk({ role: "assistant", content: reply.thinking === undefined ? "" : null })],
    output: [
      ...thinking(reply).map((delta) => chunk(delta)),
      ...(reply.text ?? []).map((piece) => chunk({ content: piece })),
      ...(reply.refusal ?? []).map((piece) => chunk({ refusal: piece })),
      ...callDeltas(reply, count).map((delta) => chunk({ tool_calls: [delta] })),
    ],
    ending: [chunk({}, stop), ...(reply.uncounted === true ? [] : [{ data: { ...head, choices: [], usage } }]), { data: "[DONE]" }],
  };
}

/** Some servers name it `reasoning`. */
export function contentThinking({ thinking = [], thinkingName = "reasoning_content" }: Reply): Record<string, unknown>[] {
  return thinking.map((piece) => ({ [thinkingName]: piece }));
}

/** Parallel calls are streamed side by side. */
function callDeltas({ calls = [] }: Reply, count: number): Record<string, unknown>[] {
  return interleaved(
    calls.map((call, index) => [
      { index, id: callId(call, count, index), type: "function", function: { name: call.name, arguments: "" } },
      ...argumentPieces(call).map((piece) => ({ index, function: { arguments: piece } })),
    ]),
  );
}

/** The vendor's counts include each other: cached input in input, reasoning in output. */
export function chatUsage({ usage = {} }: Reply): Record<string, unknown> {
  const { input = 10, cacheRead = 0, output = 5, reasoning = 0 } = usage;
  return {
    prompt_tokens: input + cacheRead,
    completion_tokens: output + reasoning,
    total_tokens: input + cacheRead + output + reasoning,
    prompt_tokens_details: { cached_tokens: cacheRead, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: reasoning,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}
