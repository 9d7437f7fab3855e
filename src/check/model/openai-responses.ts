/** OpenAI's responses: how an answer is streamed. */
import { argumentPieces, callId, modelIn, type Frame, type Played, type Reply } from "./script.js";

export function playResponses(reply: Reply, count: number, body: unknown): Played {
  const response = {
    id: `resp_${count}`,
    object: "response",
    created_at: 1_700_000_000,
    model: modelIn(body),
    output: [],
    error: null,
  };
  const items = [...reasoningItem(reply, count), ...searchItem(reply), ...messageItem(reply, count), ...callItems(reply, count)];
  const output = items.flatMap((frames, output_index) => frames.map((frame) => ({ output_index, ...frame })));
  const isWhole = reply.stop === undefined;
  const end = {
    type: reply.failed === true ? "response.failed" : isWhole ? "response.completed" : "response.incomplete",
    response: {
      ...response,
      status: reply.failed === true ? "failed" : isWhole ? "completed" : "incomplete",
      incomplete_details: isWhole ? null : { reason: reply.stop },
      usage: usageOf(reply),
    },
  };
  const pending = { ...response, status: "in_progress", incomplete_details: null, usage: null };
  const opening = [
    { type: "response.created", response: pending },
    { type: "response.in_progress", response: pending },
  ];
  const numbered = [...opening, ...output, end].map((data, sequence_number): Frame => ({
    event: data.type,
    data: { ...data, sequence_number },
  }));
  return { opening: numbered.slice(0, 2), output: numbered.slice(2, -1), ending: numbered.slice(-1) };
}

type Streamed = { type: string } & Record<string, unknown>;

/** Each piece of thinking is a summary part of its own. */
function reasoningItem({ thinking, signature }: Reply, count: number): Streamed[][] {
  if (thinking === undefined && signature === undefined) return [];
  const item_id = `rs_${count}`;
  const parts = (thinking ?? []).flatMap((text, summary_index): Streamed[] => [
    { type: "response.reasoning_summary_part.added", item_id, summary_index, part: { type: "summary_text", text: "" } },
    { type: "response.reasoning_summary_text.delta", item_id, summary_index, delta: text },
    { type: "response.reasoning_summary_text.done", item_id, summary_index, text },
    { type: "response.reasoning_summary_part.done", item_id, summary_index, part: { type: "summary_text", text } },
  ]);
  const item = { id: item_id, type: "reasoning" };
  const summary = (thinking ?? []).map((text) => ({ type: "summary_text", text }));
  return [
    [
      // The content of this item is not final yet.
      { type: "response.output_item.added", item: { ...item, encrypted_content: "gAAAA-unfinished", summary: [] } },
      ...parts,
      { type: "response.output_item.done", item: { ...item, encrypted_content: signature ?? null, summary } },
    ],
  ];
}

function searchItem({ searched }: Reply): Streamed[][] {
  if (searched === undefined) return [];
  const item = { type: "web_search_call", id: "ws_1", status: "completed" };
  const action = { type: "search", query: searched.query, sources: [{ type: "url", url: searched.url }] };
  return [
    [
      { type: "response.output_item.added", item: { ...item, status: "in_progress" } },
      { type: "response.web_search_call.completed", item_id: item.id },
      { type: "response.output_item.done", item: { ...item, action } },
    ],
  ];
}

function messageItem({ text, refusal, searched }: Reply, count: number): Streamed[][] {
  if (text === undefined && refusal === undefined) return [];
  const item_id = `msg_${count}`;
  const at = { item_id, content_index: 0 };
  const item = { id: item_id, type: "message", role: "assistant" };
  const pieces: Streamed[] = [
    ...(text ?? []).map((delta) => ({ type: "response.output_text.delta", ...at, delta, logprobs: [], obfuscation: "x" })),
    ...(refusal ?? []).map((delta) => ({ type: "response.refusal.delta", ...at, delta })),
  ];
  const whole =
    text === undefined
      ? { type: "refusal", refusal: (refusal ?? []).join("") }
      : { type: "output_text", text: text.join(""), annotations: searched === undefined ? [] : [citationOf(searched)] };
  return [
    [
      { type: "response.output_item.added", item: { ...item, status: "in_progress", content: [] } },
      { type: "response.content_part.added", ...at, part: { type: "output_text", text: "", annotations: [] } },
      ...pieces,
      ...(searched === undefined
        ? []
        : [{ type: "response.output_text.annotation.added", ...at, annotation_index: 0, annotation: citationOf(searched) }]),
      ...(text === undefined ? [] : [{ type: "response.output_text.done", ...at, text: text.join(""), logprobs: [] }]),
      ...(refusal === undefined ? [] : [{ type: "response.refusal.done", ...at, refusal: refusal.join("") }]),
      { type: "response.content_part.done", ...at, part: whole },
      { type: "response.output_item.done", item: { ...item, status: "completed", content: [whole] } },
    ],
  ];
}

function citationOf({ url, title }: NonNullable<Reply["searched"]>): Record<string, unknown> {
  return { type: "url_citation", start_index: 0, end_index: 1, url, title };
}

function callItems({ calls = [] }: Reply, count: number): Streamed[][] {
  return calls.map((call, index): Streamed[] => {
    const item_id = `fc_${count}_${index}`;
    const pieces = argumentPieces(call);
    const item = { id: item_id, type: "function_call", call_id: callId(call, count, index), name: call.name };
    return [
      { type: "response.output_item.added", item: { ...item, status: "in_progress", arguments: "" } },
      ...pieces.map((delta) => ({ type: "response.function_call_arguments.delta", item_id, delta, obfuscation: "x" })),
      { type: "response.function_call_arguments.done", item_id, arguments: pieces.join("") },
      { type: "response.output_item.done", item: { ...item, status: "completed", arguments: pieces.join("") } },
    ];
  });
}

function usageOf({ usage = {} }: Reply): Record<string, unknown> {
  const { input = 10, cacheRead = 0, output = 5, reasoning = 0 } = usage;
  return {
    input_tokens: input + cacheRead,
    input_tokens_details: { cached_tokens: cacheRead },
    output_tokens: output + reasoning,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: input + cacheRead + output + reasoning,
  };
}
