/** Recognises the errors by which vendors and servers report a conversation longer than the model's window. */

/** Names of errors. */
const NAMES: ReadonlySet<unknown> = new Set(["context_length_exceeded", "exceed_context_size_error", "request_too_large"]);

/** Texts of errors without a name; they come in many versions, with numbers. */
const WORDS = new RegExp(
  [
    "prompt is too long", // Anthropic, and Claude on Bedrock and Vertex
    "exceed(s|ed)? (the )?context (limit|window|length)", // Anthropic, with max_tokens added; OpenAI
    "exceeds the context window", // OpenAI, responses
    "maximum context length", // OpenAI, OpenRouter, vLLM, Mistral
    "maximum prompt length", // xAI
    "input is too long", // Bedrock
    "too many input tokens", // Bedrock
    "exceeds the maximum number of tokens", // Gemini
    "exceeds the available context size", // llama-server
    "context size has been exceeded", // llama-server, while it answers
  ].join("|"),
  "i",
);

/** The statuses for a request that is too long; within a stream there is none. */
const STATUS: ReadonlySet<number | undefined> = new Set([400, 413, 422, undefined]);

export function isOverflow(status: number | undefined, said: { message: string; names: readonly unknown[] }): boolean {
  return status === 413 || said.names.some((name) => NAMES.has(name)) || (STATUS.has(status) && WORDS.test(said.message));
}
