/**
 * A model's server on loopback for an agent that is graded: it speaks the wires that agents know, and answers from a script. A prompt is
 * found by its word, so that calls for a title or a summary take nobody's answer, and a retry gets the same one.
 */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { parseJson } from "../../core/values/parse-json.js";
import { playAnthropic } from "./anthropic.js";
import { playGemini } from "./gemini.js";
import { contentThinking, playChat } from "./openai-chat.js";
import { playResponses } from "./openai-responses.js";
import type { Frame, Played, Reply } from "./script.js";
import { callOf, type Wanted } from "./tools.js";

/** One answer of the model: text, then calls; or an error. */
interface ModelStep extends Pick<Reply, "text" | "thinking" | "error"> {
  wants?: readonly Wanted[];
  /** The answer stays open behind its text until the agent leaves. */
  isEndless?: true;
}

/** A request that belongs to a scripted prompt. */
interface Asked {
  word: string;
  /** The request as JSON text. */
  text: string;
}

export interface ScriptedModel {
  readonly url: string;
  readonly env: Readonly<Record<string, string>>;
  readonly asked: readonly Asked[];
  /** The purpose of a tool that the agent does not offer its model. */
  readonly lacks: string | undefined;
  /** A prompt with this word gets these answers, each after the results of the calls before it. */
  script(word: string, steps: readonly ModelStep[]): void;
  close(): Promise<void>;
}

interface Wire {
  path: RegExp;
  /** The sign of a tool's result in a request. */
  result: string;
  play(reply: Reply, count: number, body: unknown): Played;
  errorOf(status: number, message: string): unknown;
}

const openaiError = (status: number, message: string): unknown => ({
  error: { message, type: status === 429 ? "rate_limit_error" : "invalid_request_error", param: null, code: null },
});
const ANTHROPIC_ERRORS: Readonly<Record<number, string>> = { 401: "authentication_error", 429: "rate_limit_error" };

const WIRES: readonly Wire[] = [
  {
    path: /\/messages(\?|$)/,
    result: '"type":"tool_result"',
    play: playAnthropic,
    errorOf: (status, message) => ({ type: "error", error: { type: ANTHROPIC_ERRORS[status] ?? "api_error", message } }),
  },
  {
    path: /\/chat\/completions(\?|$)/,
    result: '"role":"tool"',
    play: (reply, count, body) => playChat(reply, count, body, contentThinking),
    errorOf: openaiError,
  },
  { path: /\/responses(\?|$)/, result: '"type":"function_call_output"', play: playResponses, errorOf: openaiError },
  {
    path: /:streamGenerateContent/,
    result: '"functionResponse"',
    play: playGemini,
    errorOf: (code, message) => ({ error: { code, message, status: code === 429 ? "RESOURCE_EXHAUSTED" : "UNAUTHENTICATED" } }),
  },
];

const REQUEST_BYTES = 64 * 1024 * 1024;
const PLAIN: ModelStep = { text: ["ok"] };

export async function scriptedModel(): Promise<ScriptedModel> {
  const scripts = new Map<string, readonly ModelStep[]>();
  const asked: Asked[] = [];
  let count = 0;
  let lacks: string | undefined;
  const server = createServer((request, response) => void answer(request, response).catch(() => response.destroy()));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`;
  return {
    url,
    env: variables(url),
    asked,
    get lacks() {
      return lacks;
    },
    script: (word, steps) => void scripts.set(word, steps),
    async close() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const text = await bodyOf(request);
    const wire = WIRES.find(({ path }) => path.test(request.url ?? ""));
    const body = parseJson(text)?.json;
    if (request.method !== "POST" || wire === undefined || body === undefined)
      return sendJson(response, 404, openaiError(404, "There is nothing here"));
    const step = stepFor(text, wire);
    if (step.error !== undefined) return sendJson(response, step.error.status, wire.errorOf(step.error.status, step.error.message ?? ""));
    const calls = (step.wants ?? []).flatMap((wanted) => {
      const call = callOf(wanted, body);
      if (call === undefined) lacks = wanted.kind;
      return call ?? [];
    });
    const { text: said = calls.length > 0 ? undefined : ["ok"], thinking } = step;
    const reply: Reply = { ...(thinking && { thinking, signature: "c2lnbmVk" }), ...(said && { text: said }), calls };
    const { opening, output, ending } = wire.play(reply, ++count, body);
    response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" });
    for (const frame of [...opening, ...output, ...(step.isEndless === true ? [] : ending)]) response.write(eventText(frame));
    if (step.isEndless !== true) response.end();
  }

  /** The last word in the request tells the prompt, and the results behind it tell how far its turn is. */
  function stepFor(text: string, { result }: Wire): ModelStep {
    const [found] = [...scripts.keys()]
      .map((word) => ({ word, at: text.lastIndexOf(word) }))
      .filter(({ at }) => at !== -1)
      .toSorted((a, b) => b.at - a.at);
    if (found === undefined) return PLAIN;
    asked.push({ word: found.word, text });
    let results = text.slice(found.at).split(result).length - 1;
    const steps = scripts.get(found.word) ?? [];
    for (const step of steps) {
      const calls = step.wants?.length ?? 0;
      if (results < calls || calls === 0) return step;
      results -= calls;
    }
    return PLAIN;
  }
}

function variables(url: string): Record<string, string> {
  const key = "sk-parley-check-0123456789";
  return {
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: key,
    OPENAI_BASE_URL: `${url}/v1`,
    OPENAI_API_KEY: key,
    GOOGLE_GEMINI_BASE_URL: url,
    GEMINI_API_KEY: key,
  };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    const bytes = Buffer.from(chunk);
    size += bytes.length;
    if (size > REQUEST_BYTES) throw new Error("The request is too long");
    chunks.push(bytes);
  }
  return Buffer.concat(chunks).toString();
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  // An agent that tries again is told not to wait.
  response.writeHead(status, { "content-type": "application/json", ...(status === 429 && { "retry-after": "900" }) });
  response.end(JSON.stringify(body));
}

function eventText(frame: Frame): string {
  if ("bytes" in frame) return "";
  const text = typeof frame.data === "string" ? frame.data : JSON.stringify(frame.data);
  return `${frame.event === undefined ? "" : `event: ${frame.event}\n`}data: ${text}\n\n`;
}
