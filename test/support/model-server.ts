/**
 * A model's server on loopback: it speaks a vendor's wire, answers from a script, keeps every request, and refuses what the vendor
 * would refuse, unknown fields included.
 *
 *   const server = await modelServer("anthropic", [{ text: ["Hel", "lo"] }, { error: { status: 429, retryAfter: 0 } }]);
 *   server.url, server.key      where it is, and the key that it takes
 *   server.requests[0].body     what was asked
 */
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import { onTestFinished } from "vitest";
import { anthropicWire, vertexClaudeWire } from "./model-server-anthropic.js";
import { bedrockClaudeWire } from "./model-server-bedrock-claude.js";
import { bedrockConverseWire } from "./model-server-bedrock-converse.js";
import { geminiWire, vertexGeminiWire } from "./model-server-gemini.js";
import { localWire, openaiChatWire, plainWire } from "./model-server-openai-chat.js";
import { openaiResponsesWire } from "./model-server-openai-responses.js";
import { openrouterWire } from "./model-server-openrouter.js";
import type { Frame, Reply, ScriptedError, WireSpec } from "./model-server-script.js";
import { tokenServer, type TokenServer } from "./token-server.js";
import { xaiWire } from "./model-server-xai.js";

export type { Reply } from "./model-server-script.js";

const WIRES = {
  anthropic: anthropicWire,
  "openai-chat": openaiChatWire,
  "openai-responses": openaiResponsesWire,
  local: localWire,
  gemini: geminiWire,
  "vertex-gemini": vertexGeminiWire,
  "vertex-claude": vertexClaudeWire,
  "bedrock-claude": bedrockClaudeWire,
  "bedrock-converse": bedrockConverseWire,
  plain: plainWire,
  xai: xaiWire,
  openrouter: openrouterWire,
} satisfies Record<string, WireSpec>;
export type WireName = keyof typeof WIRES;

interface ModelRequestSeen {
  path: string;
  headers: IncomingHttpHeaders;
  body: unknown;
  /** Whether the client stayed to the end of the answer. */
  ended: Promise<"answered" | "left">;
}

export interface ModelServer {
  /** The root, as a user would give it. */
  url: string;
  key: string;
  /** Where the key is had, on a wire that asks for a token. */
  tokens: TokenServer | undefined;
  requests: ModelRequestSeen[];
  /** Resolves when so many requests have arrived. */
  received(count: number): Promise<void>;
  /** Lets the answer go on that is held back. */
  release(): void;
  close(): Promise<void>;
}

export async function modelServer(wireName: WireName, script: readonly Reply[]): Promise<ModelServer> {
  const wire: WireSpec = WIRES[wireName];
  const key = `sk-test-${wireName}-0123456789`;
  const tokens = wire.asksForToken === true ? await tokenServer([key]) : undefined;
  const requests: ModelRequestSeen[] = [];
  const issued = new Set<string>();
  const replies = [...script];
  let watchers: (() => void)[] = [];
  let release: () => void = () => {};

  const server = createServer((request, response) => void answer(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The server has no port");
  onTestFinished(close);
  return { url: `http://127.0.0.1:${address.port}`, key, tokens, requests, received, release: () => release(), close };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const left = new Promise<void>((resolve) => response.once("close", resolve));
    const bytes = await bytesOf(request);
    const body: unknown = JSON.parse(bytes.toString());
    const ended = left.then(() => (response.writableFinished ? ("answered" as const) : ("left" as const)));
    requests.push({ path: request.url ?? "", headers: request.headers, body, ended });
    const count = requests.length;
    for (const wake of watchers.splice(0)) wake();

    const refusal = refusalOf(request, bytes, body);
    if (refusal !== undefined) return sendError(response, refusal);
    const reply = replies.shift();
    if (reply === undefined) return sendError(response, { status: 400, message: `The script has no answer to request ${count}` });
    if (reply.hold === "start") await Promise.race([held(), left]);
    if (reply.error !== undefined) return sendError(response, reply.error);
    if (reply.cut === "connection") return void request.socket.destroy();
    if (reply.signature !== undefined) issued.add(reply.signature);
    if (reply.redacted !== undefined) issued.add(reply.redacted);
    await stream(reply, count, body, response, left);
  }

  function refusalOf({ method = "", url: path = "", headers }: IncomingMessage, bytes: Buffer, body: unknown): ScriptedError | undefined {
    if (method !== "POST" || !isAt(path, body)) return { status: 404, type: "not_found_error", message: `There is no ${method} ${path}` };
    const denial = wire.denial?.({ method, path, headers, bytes }, key);
    if (denial !== undefined) return denial;
    const given = wire.keyIn(headers);
    if (given !== null && given !== key) return { status: 401, type: "authentication_error", message: `invalid key ${given}` };
    const problem = wire.problem(body, issued, path);
    return problem === undefined ? undefined : { status: 400, type: "invalid_request_error", message: problem };
  }

  function isAt(path: string, body: unknown): boolean {
    return typeof wire.path === "string" ? path === wire.path : wire.path(path, body);
  }

  async function stream(reply: Reply, count: number, body: unknown, response: ServerResponse, left: Promise<void>): Promise<void> {
    const { opening, output, ending } = wire.play(reply, count, body);
    response.writeHead(200, { "content-type": wire.contentType ?? "text/event-stream; charset=utf-8", "cache-control": "no-cache" });
    await write(response, opening);
    if (reply.cut === "before") return cut(reply, response);
    await write(response, output);
    if (reply.hold === "end") await Promise.race([held(), left]);
    if (reply.cut === "after") return cut(reply, response);
    await write(response, reply.broken === undefined ? ending : [wire.errorFrame(reply.broken)]);
    response.end();
  }

  function sendError(
    response: ServerResponse,
    { status, type = "api_error", message = "Scripted error", retryAfter, body }: ScriptedError,
  ): void {
    response.writeHead(status, {
      "content-type": body === undefined ? "application/json" : "text/plain",
      ...(retryAfter !== undefined && { "retry-after": String(retryAfter) }),
      ...wire.errorHeaders?.({ type, message }),
    });
    response.end(body ?? JSON.stringify(wire.errorBody({ status, type, message })));
  }

  function held(): Promise<void> {
    return new Promise((resolve) => {
      release = resolve;
    });
  }

  async function received(count: number): Promise<void> {
    while (requests.length < count) await new Promise<void>((resolve) => watchers.push(resolve));
  }

  async function close(): Promise<void> {
    await tokens?.close();
    if (!server.listening) return;
    const closed = once(server, "close");
    server.close();
    server.closeAllConnections();
    await closed;
  }
}

async function bytesOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks);
}

async function write(response: ServerResponse, frames: readonly Frame[]): Promise<void> {
  for (const frame of frames) {
    if (response.destroyed) return;
    await new Promise<void>((resolve) => response.write("bytes" in frame ? frame.bytes : eventText(frame), () => resolve()));
  }
}

function eventText({ event, data }: Exclude<Frame, { bytes: unknown }>): string {
  const text = typeof data === "string" ? data : JSON.stringify(data);
  return `${event === undefined ? "" : `event: ${event}\n`}data: ${text}\n\n`;
}

/** What was written has been handed over, so the client gets it before it notices. */
function cut({ cleanly }: Reply, response: ServerResponse): void {
  if (cleanly === true) response.end();
  else response.socket?.destroy();
}
