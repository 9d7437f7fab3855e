/**
 * A model server on loopback that follows words in the prompt, on four vendors' wires: OpenAI's chat completions and responses, Anthropic's
 * messages and Gemini's contents. `#say WORDS`, `#think`, `#run {{COMMAND}}` (out of a sandbox, where there is one), `#do {{COMMAND}}`, `#slow` (until the reader goes away), `#recall` (a word that
 * an earlier prompt of the conversation had) and `#fail` (a request that is refused).
 */
import { createServer } from "node:http";

export const SECRET = "heron";
export const REFUSAL = "there are no herons here";
const ORDER = /#(say|think|run|do|slow|recall|fail)\b(?: \{\{(.*?)\}\})?/g;
const PIECES_OF_SLOW = 600;
const PIECE_MS = 100;

let count = 0;

/** The server's root, and its end. */
export async function startModelServer() {
  const heard = [];
  const server = createServer((request, response) => void handle(request, response, heard).catch(() => response.destroy()));
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    /** Whether any request had these words. */
    saw: (words) => heard.some((body) => body.includes(words)),
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

async function handle(request, response, heard) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const { pathname, search } = new URL(request.url, "http://localhost");
  if (request.method === "GET") return json(response, { object: "list", data: [{ id: "model", object: "model" }], models: [] });
  const wire = Object.values(WIRES).find(({ path }) => path.test(pathname));
  if (wire === undefined) return json(response, { input_tokens: 10, totalTokens: 10 }, /count/i.test(pathname) ? 200 : 404);
  const text = Buffer.concat(chunks).toString() || "{}";
  heard.push(text);
  const body = JSON.parse(text);
  const answer = planned(wire.said(body), body, wire.tools(body));
  if (answer.refusal !== undefined) return json(response, wire.refusal(answer.refusal), 400);
  const isStreamed = body.stream === true || /stream/i.test(pathname + search);
  if (!isStreamed) return json(response, wire.whole(answer, body));
  response.writeHead(200, { "content-type": "text/event-stream" });
  await wire.stream(answer, body, response);
  response.end();
}

function json(response, value, status = 200) {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(value));
}

/** What the last order in the conversation wants next. */
function planned(said, body, tools) {
  const at = said.findLastIndex(({ who, text }) => who === "user" && text.match(ORDER) !== null);
  const [, order, argument] = [...(said[at]?.text ?? "").matchAll(ORDER)].at(-1) ?? [];
  const isBehindTool = said.slice(at + 1).some(({ who }) => who === "tool");
  const shell = tools.find(({ name }) => /shell|bash|exec_command/i.test(name));
  if (isBehindTool) return { text: ["The tool ", "has answered."] };
  switch (order) {
    case "run":
    case "do":
      return shell === undefined
        ? { text: ["No shell here."] }
        : { text: ["I run it. "], call: { name: shell.name, args: argsFor(shell, argument, order === "run") } };
    case "think":
      return { thinking: ["Thinking of ", "birds."], text: ["I have ", "thought."] };
    case "slow":
      return { text: ["Slowly"], isSlow: true };
    case "fail":
      return { refusal: REFUSAL };
    case "recall":
      return { text: [JSON.stringify(body).includes(SECRET) ? `The word is ${SECRET}.` : "I remember nothing."] };
    default:
      return { text: ["hel", "lo"] };
  }
}

/** Arguments as the tool's own schema wants them. */
function argsFor({ schema: { properties = {}, required = [] } = {} }, command, isBeyond) {
  const key = ["command", "cmd"].find((name) => name in properties) ?? "command";
  const filler = ({ type }) => (type === "boolean" ? false : type === "number" || type === "integer" ? 1000 : "to test");
  const filled = required.map((name) => [name, filler(properties[name] ?? {})]);
  // Codex asks about a command that wants to leave its sandbox; other programs have other words there.
  const canEscalate = properties.sandbox_permissions?.enum?.includes("require_escalated") ?? "sandbox_permissions" in properties;
  const beyond = isBeyond && canEscalate ? { sandbox_permissions: "require_escalated", justification: "to test" } : {};
  return { ...Object.fromEntries(filled), ...beyond, [key]: properties[key]?.type === "array" ? ["bash", "-lc", command] : command };
}

const textOf = (content) => (typeof content === "string" ? content : (content ?? []).map(({ text = "" }) => text).join(" "));

/** Pieces of a slow answer until the reader has gone. */
async function dripped(response, piece) {
  for (let at = 0; at < PIECES_OF_SLOW && !response.destroyed; at++) {
    piece(` ${at}`);
    await new Promise((resolve) => setTimeout(resolve, PIECE_MS));
  }
}

const sse = (response, data, event) => response.write(`${event === undefined ? "" : `event: ${event}\n`}data: ${JSON.stringify(data)}\n\n`);

const WIRES = {
  chat: {
    refusal: (message) => ({ error: { message, type: "invalid_request_error", code: null, param: null } }),
    path: /\/chat\/completions$/,
    said: ({ messages }) =>
      messages.flatMap(({ role, content }) => (role === "user" || role === "tool" ? [{ who: role, text: textOf(content) }] : [])),
    tools: ({ tools = [] }) => tools.map(({ function: { name, parameters } }) => ({ name, schema: parameters })),
    whole: ({ text }) => ({
      id: "c",
      object: "chat.completion",
      created: 1,
      model: "model",
      choices: [{ index: 0, message: { role: "assistant", content: text.join("") }, finish_reason: "stop" }],
      usage: CHAT_USAGE,
    }),
    async stream({ thinking = [], text, call, isSlow }, _body, response) {
      const head = { id: `c${++count}`, object: "chat.completion.chunk", created: 1, model: "model" };
      const chunk = (delta, finish_reason = null) => sse(response, { ...head, choices: [{ index: 0, delta, finish_reason }] });
      for (const piece of thinking) chunk({ reasoning_content: piece });
      for (const content of text) chunk({ role: "assistant", content });
      if (isSlow) await dripped(response, (content) => chunk({ content }));
      if (call !== undefined) {
        const made = { name: call.name, arguments: JSON.stringify(call.args) };
        chunk({ tool_calls: [{ index: 0, id: `call_${count}`, type: "function", function: made }] });
      }
      chunk({}, call === undefined ? "stop" : "tool_calls");
      sse(response, { ...head, choices: [], usage: CHAT_USAGE });
      response.write("data: [DONE]\n\n");
    },
  },
  responses: {
    refusal: (message) => ({ error: { message, type: "invalid_request_error", code: null, param: null } }),
    path: /\/responses$/,
    said: ({ input }) =>
      input.flatMap(({ type, role, content }) => {
        if (type?.endsWith("_output")) return [{ who: "tool", text: "" }];
        return role === "user" ? [{ who: "user", text: textOf(content) }] : [];
      }),
    tools: ({ tools = [] }) => tools.flatMap(({ name, parameters }) => (name === undefined ? [] : [{ name, schema: parameters }])),
    whole: ({ text }) => ({ id: "r", status: "completed", output: [responseMessage("m", text.join(""))], usage: RESPONSE_USAGE }),
    async stream({ thinking = [], text, call, isSlow }, _body, response) {
      const id = `${++count}`;
      const output = [];
      const tell = (type, data) => sse(response, { type, ...data }, type);
      const begin = (item) => tell("response.output_item.added", { output_index: output.length, item });
      const done = (item) => {
        tell("response.output_item.done", { output_index: output.length, item });
        output.push(item);
      };
      tell("response.created", { response: { id: `r${id}` } });
      if (thinking.length > 0) {
        const item = {
          type: "reasoning",
          id: `rs${id}`,
          summary: [{ type: "summary_text", text: thinking.join("") }],
          encrypted_content: "x",
        };
        const at = { item_id: item.id, output_index: output.length, summary_index: 0 };
        begin({ ...item, summary: [] });
        tell("response.reasoning_summary_part.added", { ...at, part: { type: "summary_text", text: "" } });
        for (const delta of thinking) tell("response.reasoning_summary_text.delta", { ...at, delta });
        done(item);
      }
      const item = responseMessage(`m${id}`, text.join(""));
      const piece = (delta) =>
        tell("response.output_text.delta", { item_id: item.id, output_index: output.length, content_index: 0, delta });
      begin({ ...item, content: [] });
      for (const delta of text) piece(delta);
      if (isSlow) await dripped(response, piece);
      done(item);
      if (call !== undefined)
        done({ type: "function_call", id: `fc${id}`, call_id: `call_${id}`, name: call.name, arguments: JSON.stringify(call.args) });
      tell("response.completed", { response: { id: `r${id}`, output, usage: RESPONSE_USAGE } });
    },
  },
  messages: {
    refusal: (message) => ({ type: "error", error: { type: "invalid_request_error", message } }),
    path: /\/messages$/,
    said: ({ messages }) =>
      messages.flatMap(({ role, content }) => {
        if (role !== "user") return [];
        if (typeof content === "string") return [{ who: "user", text: content }];
        return content.map(({ type, text = "" }) => ({ who: type === "tool_result" ? "tool" : "user", text }));
      }),
    tools: ({ tools = [] }) => tools.map(({ name, input_schema }) => ({ name, schema: input_schema })),
    whole: ({ text }, { model }) => ({
      ...claudeMessage(model),
      content: [{ type: "text", text: text.join("") }],
      stop_reason: "end_turn",
    }),
    async stream({ thinking = [], text, call, isSlow }, { model }, response) {
      let index = -1;
      const tell = (type, data) => sse(response, { type, ...data }, type);
      const begin = (content_block) => tell("content_block_start", { index: ++index, content_block });
      const piece = (delta) => tell("content_block_delta", { index, delta });
      const done = () => tell("content_block_stop", { index });
      tell("message_start", { message: claudeMessage(model) });
      if (thinking.length > 0) {
        begin({ type: "thinking", thinking: "", signature: "" });
        for (const thought of thinking) piece({ type: "thinking_delta", thinking: thought });
        piece({ type: "signature_delta", signature: "c2ln" });
        done();
      }
      begin({ type: "text", text: "" });
      for (const words of text) piece({ type: "text_delta", text: words });
      if (isSlow) await dripped(response, (words) => piece({ type: "text_delta", text: words }));
      done();
      if (call !== undefined) {
        begin({ type: "tool_use", id: `toolu_${count}`, name: call.name, input: {} });
        piece({ type: "input_json_delta", partial_json: JSON.stringify(call.args) });
        done();
      }
      const stop_reason = call === undefined ? "end_turn" : "tool_use";
      tell("message_delta", { delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 7 } });
      tell("message_stop", {});
    },
  },
  gemini: {
    refusal: (message) => ({ error: { code: 400, status: "INVALID_ARGUMENT", message } }),
    path: /generateContent$/i,
    said: ({ contents }) =>
      contents.flatMap(({ role, parts }) =>
        role === "model"
          ? []
          : parts.map(({ text = "", functionResponse }) => ({ who: functionResponse === undefined ? "user" : "tool", text })),
      ),
    tools: ({ tools = [] }) =>
      tools.flatMap(({ functionDeclarations = [] }) =>
        functionDeclarations.map(({ name, parameters, parametersJsonSchema }) => ({ name, schema: parametersJsonSchema ?? parameters })),
      ),
    whole: ({ text }) => geminiChunk([{ text: text.join("") }], "STOP"),
    async stream({ thinking = [], text, call, isSlow }, _body, response) {
      const say = (part) => sse(response, geminiChunk([part]));
      for (const thought of thinking) say({ text: thought, thought: true });
      for (const words of text) say({ text: words });
      if (isSlow) await dripped(response, (words) => say({ text: words }));
      if (call !== undefined) say({ functionCall: { name: call.name, args: call.args } });
      sse(response, geminiChunk([{ text: "" }], "STOP"));
    },
  },
};

const CHAT_USAGE = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 };
const RESPONSE_USAGE = {
  input_tokens: 11,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 7,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 18,
};

function responseMessage(id, text) {
  return { type: "message", id, role: "assistant", content: [{ type: "output_text", text }] };
}

function claudeMessage(model) {
  const usage = { input_tokens: 11, output_tokens: 1, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 };
  return { id: `msg_${++count}`, type: "message", role: "assistant", model, content: [], stop_reason: null, stop_sequence: null, usage };
}

function geminiChunk(parts, finishReason) {
  return {
    candidates: [{ content: { role: "model", parts }, index: 0, ...(finishReason !== undefined && { finishReason }) }],
    usageMetadata: { promptTokenCount: 11, candidatesTokenCount: 7, totalTokenCount: 18 },
  };
}
