/** Anthropic's Messages API: how an answer is streamed. */
import { argumentPieces, callId, modelIn, type Frame, type Played, type Reply } from "./script.js";

export function playAnthropic(reply: Reply, count: number, body: unknown): Played {
  const blocks = [...thinkingBlocks(reply), ...searchBlocks(reply), ...textBlocks(reply), ...callBlocks(reply, count)];
  const { input = 10, cacheRead = 0, cacheWrite = 0, output = 5, reasoning } = reply.usage ?? {};
  const paid = { input_tokens: input, cache_creation_input_tokens: cacheWrite, cache_read_input_tokens: cacheRead };
  const message = {
    id: `msg_${count}`,
    type: "message",
    role: "assistant",
    model: modelIn(body),
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { ...paid, output_tokens: 1, service_tier: "standard" },
  };
  const stop = reply.stop ?? ((reply.calls ?? []).length > 0 ? "tool_use" : "end_turn");
  const usage = {
    ...paid,
    output_tokens: output + (reasoning ?? 0),
    ...(reasoning !== undefined && { output_tokens_details: { thinking_tokens: reasoning } }),
  };
  return {
    opening: [anthropicFrame("message_start", { message }), anthropicFrame("ping", {})],
    output: streamed(blocks),
    ending: [
      anthropicFrame("message_delta", { delta: { stop_reason: stop, stop_sequence: null }, usage }),
      anthropicFrame("message_stop", {}),
    ],
  };
}

interface Block {
  start: Record<string, unknown>;
  deltas: Record<string, unknown>[];
}

function thinkingBlocks({ thinking, signature, redacted }: Reply): Block[] {
  const open: Block[] =
    thinking === undefined
      ? []
      : [
          {
            start: { type: "thinking", thinking: "", signature: "" },
            deltas: [
              ...thinking.map((piece) => ({ type: "thinking_delta", thinking: piece })),
              ...(signature === undefined ? [] : [{ type: "signature_delta", signature }]),
            ],
          },
        ];
  return redacted === undefined ? open : [...open, { start: { type: "redacted_thinking", data: redacted }, deltas: [] }];
}

function searchBlocks({ searched }: Reply): Block[] {
  if (searched === undefined) return [];
  const { query, url, title } = searched;
  const found = { type: "web_search_result", url, title, encrypted_content: "c2VhbGVk", page_age: null };
  return [
    {
      start: { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: {} },
      deltas: ["", JSON.stringify({ query })].map((piece) => ({ type: "input_json_delta", partial_json: piece })),
    },
    { start: { type: "web_search_tool_result", tool_use_id: "srvtoolu_1", content: [found] }, deltas: [] },
  ];
}

function textBlocks({ text }: Reply): Block[] {
  if (text === undefined) return [];
  return [{ start: { type: "text", text: "" }, deltas: text.map((piece) => ({ type: "text_delta", text: piece })) }];
}

function callBlocks({ calls = [] }: Reply, count: number): Block[] {
  return calls.map((call, at) => ({
    start: { type: "tool_use", id: callId(call, count, at), name: call.name, input: {} },
    deltas: ["", ...argumentPieces(call)].map((piece) => ({ type: "input_json_delta", partial_json: piece })),
  }));
}

/** One block after another: this vendor streams even parallel calls so. */
function streamed(blocks: readonly Block[]): Frame[] {
  return blocks.flatMap(({ start, deltas }, index) => [
    anthropicFrame("content_block_start", { index, content_block: start }),
    ...deltas.map((delta) => anthropicFrame("content_block_delta", { index, delta })),
    anthropicFrame("content_block_stop", { index }),
  ]);
}

export function anthropicFrame(type: string, data: Record<string, unknown>): Frame {
  return { event: type, data: { type, ...data } };
}
