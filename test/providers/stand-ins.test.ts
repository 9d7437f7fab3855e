/** The provider packages make of an answer with our streams what they make of it as published. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { LanguageModelV3 } from "@ai-sdk/provider";
import fc from "fast-check";
import { rolldown } from "rolldown";
import { afterAll, beforeAll, expect, test } from "vitest";
import * as ours from "../fixtures/packages.js";

type Packages = Omit<typeof ours, "ReadableStream" | "Response">;
type Fetch = typeof globalThis.fetch;

let folder: string;
let published: Packages;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "parley-stand-ins-"));
  const input = fileURLToPath(new URL("../fixtures/packages.ts", import.meta.url));
  const bundle = await rolldown({
    input,
    platform: "node",
    resolve: { extensionAlias: { ".js": [".ts", ".js"] } },
    onLog: () => {},
  });
  const file = join(folder, "packages.mjs");
  await bundle.write({ file, format: "esm" });
  await bundle.close();
  published = await import(pathToFileURL(file).href);
});

afterAll(() => rm(folder, { recursive: true, force: true }));

const WIRES: Record<string, { model(packages: Packages, fetch: Fetch): LanguageModelV3; event: fc.Arbitrary<object> }> = {
  compatible: {
    model: (packages, fetch) =>
      packages.createOpenAICompatible({ name: "c", baseURL: "http://127.0.0.1/v1", includeUsage: true, fetch })("m"),
    event: chatEvent(["content", "reasoning", "reasoning_content"]),
  },
  "openai chat": {
    model: (packages, fetch) => packages.createOpenAI({ apiKey: "k", baseURL: "http://127.0.0.1/v1", fetch }).chat("m"),
    event: chatEvent(["content"]),
  },
  "openai responses": {
    model: (packages, fetch) => packages.createOpenAI({ apiKey: "k", baseURL: "http://127.0.0.1/v1", fetch }).responses("m"),
    event: responsesEvent(),
  },
  anthropic: {
    model: (packages, fetch) => packages.createAnthropic({ apiKey: "k", baseURL: "http://127.0.0.1/v1", fetch })("m"),
    event: anthropicEvent(),
  },
};

test.each(Object.entries(WIRES))("%s", async (_name, { model, event }) => {
  const line = fc.oneof(
    { weight: 30, arbitrary: event.map((data) => `data: ${JSON.stringify(data)}\n\n`) },
    {
      weight: 4,
      arbitrary: event.map((data) => `event: x\r\ndata:${JSON.stringify(data, null, " ").replaceAll("\n", "\r\ndata:")}\r\n\r\n`),
    },
    fc.constantFrom(": a comment\n\n", "data: [DONE]\n\n", "data: {\n\n", 'data: {"__proto__":{"content":"a"}}\n\n', "odd\n"),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(line, { maxLength: 15 }), fc.array(fc.nat(400), { maxLength: 8 }), async (lines, cuts) => {
      const chunks = cutAt(new TextEncoder().encode(lines.join("")), cuts);
      const theirs = await partsOf(
        model(published, () => Promise.resolve(new Response(streamOf(ReadableStream<Uint8Array>, chunks), EVENTS))),
      );
      // Ours lack what the packages do not use.
      const answer = new ours.Response(streamOf(ours.ReadableStream, chunks), EVENTS) as unknown as Response;
      expect(await partsOf(model(ours, () => Promise.resolve(answer)))).toEqual(theirs);
    }),
  );
});

const EVENTS = { headers: { "content-type": "text/event-stream" } };

/** Of a stream that fails Node's may lose what was not read yet: then only the failure counts. */
async function partsOf(model: LanguageModelV3): Promise<unknown> {
  try {
    const { stream } = await model.doStream({
      prompt: [{ role: "user", content: [{ type: "text", text: "hi" }] }],
      includeRawChunks: true,
    });
    const parts: unknown[] = [];
    for await (const part of stream) parts.push(part.type === "error" ? { error: comparable(part.error) } : part);
    return parts;
  } catch (error) {
    return comparable(error);
  }
}

/** There are two classes of each error now. */
function comparable(error: unknown): unknown {
  return error instanceof Error ? { name: error.name, message: error.message } : error;
}

function streamOf<S>(
  Stream: new (source: { start(controller: { enqueue(chunk: Uint8Array): void; close(): void }): void }) => S,
  chunks: Uint8Array[],
): S {
  return new Stream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
}

function cutAt(bytes: Uint8Array, sizes: readonly number[]): Uint8Array[] {
  const chunks: Uint8Array[] = [];
  let at = 0;
  for (const size of sizes) chunks.push(bytes.subarray(at, (at += size)));
  return [...chunks, bytes.subarray(at)];
}

function text(): fc.Arbitrary<string> {
  return fc.oneof(fc.string({ unit: "grapheme", maxLength: 30 }), fc.constantFrom("a", "", '","content":"b', "\\", "\u2028\n"));
}

function chatEvent(names: readonly string[]): fc.Arbitrary<object> {
  const chunk = (choice: object, more = {}): object => ({ id: "1", created: 1, model: "m", choices: [{ index: 0, ...choice }], ...more });
  const piece = fc.tuple(fc.constantFrom(...names), text()).map(([name, said]) => chunk({ delta: { [name]: said }, finish_reason: null }));
  const call = text().map((said) => chunk({ delta: { tool_calls: [{ index: 0, function: { arguments: said } }] } }));
  const begun = chunk({ delta: { tool_calls: [{ index: 0, id: "call", type: "function", function: { name: "Read", arguments: "" } }] } });
  return fc.oneof(
    { weight: 10, arbitrary: piece },
    { weight: 4, arbitrary: call },
    fc.tuple(text(), text()).map(([said, obfuscation]) => chunk({ delta: { content: said } }, { obfuscation })),
    fc.constantFrom(
      begun,
      chunk({ delta: { role: "assistant", content: "" } }),
      chunk({ delta: { content: 5 } }),
      chunk({ delta: {}, finish_reason: "stop" }),
      { id: "1", choices: [], usage: { prompt_tokens: 1, completion_tokens: 2 } },
      { error: { message: "no", type: "x" } },
      { choices: "none" },
    ),
  );
}

function anthropicEvent(): fc.Arbitrary<object> {
  const start = (index: number, block: object): object => ({ type: "content_block_start", index, content_block: block });
  const delta = (index: number, piece: object): object => ({ type: "content_block_delta", index, delta: piece });
  return fc.oneof(
    { weight: 8, arbitrary: text().map((said) => delta(0, { type: "text_delta", text: said })) },
    { weight: 4, arbitrary: text().map((said) => delta(1, { type: "thinking_delta", thinking: said })) },
    { weight: 4, arbitrary: text().map((said) => delta(2, { type: "input_json_delta", partial_json: said })) },
    text().map((type) => ({ type })),
    fc.constantFrom(
      { type: "message_start", message: { id: "1", model: "m", role: "assistant", usage: { input_tokens: 1, output_tokens: 2 } } },
      start(0, { type: "text", text: "" }),
      start(1, { type: "thinking", thinking: "" }),
      start(2, { type: "tool_use", id: "call", name: "Read", input: {} }),
      delta(0, { type: "text_delta", text: 5 }),
      { type: "ping" },
      { type: "content_block_stop", index: 2 },
      { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 3 } },
      { type: "error", error: { type: "overloaded_error", message: "no" } },
    ),
  );
}

function responsesEvent(): fc.Arbitrary<object> {
  const delta = (type: string, piece: object): object => ({ type, item_id: "i", output_index: 0, ...piece });
  return fc.oneof(
    { weight: 8, arbitrary: text().map((said) => delta("response.output_text.delta", { content_index: 0, delta: said })) },
    fc.tuple(text(), fc.nat()).map(([said, at]) => delta("response.output_text.delta", { delta: said, sequence_number: at })),
    text().map((said) => delta("response.function_call_arguments.delta", { delta: said })),
    text().map((type) => ({ type, text: "a", arguments: "b" })),
    text().map((said) => ({ type: "other", text: said })),
    fc.constantFrom(
      { type: "response.created", response: { id: "1", created_at: 1, model: "m" } },
      { type: "response.output_item.added", output_index: 0, item: { type: "message", id: "i" } },
      { type: "response.output_item.done", output_index: 0, item: { type: "message", id: "i" } },
      { type: "response.completed", response: { usage: { input_tokens: 1, output_tokens: 2 } } },
      { type: "error", sequence_number: 1, error: { type: "x", code: "y", message: "no" } },
    ),
  );
}
