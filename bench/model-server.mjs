/**
 * The scripted model: OpenAI's chat completions as server-sent events, on loopback, in a process of its own. What it says is chosen by
 * the last user message (scenarios.mjs) and built beforehand, so that it costs next to nothing while somebody is measured.
 * Prints its port. `GET /timings` tells, and forgets, when each request had arrived and when the first and the last byte went out.
 */
import { createServer } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import { now } from "./clock.mjs";
import { parseScenario } from "./scenarios.mjs";

let timings = [];
let calls = 0;
const scenarios = new Map();

const server = createServer((request, response) => {
  if (request.url === "/timings") return tellTimings(response);
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    const timing = { arrived: now(), first: 0, last: 0 };
    timings.push(timing);
    answer(JSON.parse(Buffer.concat(chunks).toString()), response, timing).catch((error) => {
      response.destroy(error);
      process.stderr.write(`${error.stack}\n`);
    });
  });
});
server.listen(0, "127.0.0.1", () => process.stdout.write(`${server.address().port}\n`));
process.stdin.on("end", () => process.exit(0)).resume();

function tellTimings(response) {
  response.end(JSON.stringify(timings));
  timings = [];
}

async function answer({ messages }, response, timing) {
  const asked = messages.findLastIndex(({ role }) => role === "user");
  const scenario = prepared(textOf(messages[asked].content));
  const round = messages.slice(asked).filter(({ role }) => role === "tool").length;
  const frames = round < scenario.rounds ? callFrames(scenario.tool) : scenario.frames;
  const { socket } = response;
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  timing.first = now();
  socket.cork();
  // Written past the response, which would merge them: model servers send each event as an HTTP chunk of its own.
  response.flushHeaders();
  for (const [index, frame] of frames.entries()) {
    if (index > 0) {
      socket.uncork();
      await wait(scenario.gap);
      socket.cork();
    }
    socket.write(frame);
  }
  response.end();
  socket.uncork();
  timing.last = now();
}

/** The frames of a text are made once; without a gap they are one. */
function prepared(prompt) {
  let scenario = scenarios.get(prompt);
  if (scenario === undefined) {
    const { pieces, gap, tool, rounds } = parseScenario(prompt);
    const texts = pieces.map((content, index) => event({ delta: index === 0 ? { role: "assistant", content } : { content } }));
    const frames = [...texts, `${event({ delta: {}, finish_reason: "stop" })}${ending()}`];
    scenario = { gap, tool, rounds, frames: (gap > 0 ? frames : [frames.join("")]).map((frame) => Buffer.from(frame)) };
    scenarios.set(prompt, scenario);
  }
  return scenario;
}

/** The name first, then the arguments, as OpenAI does it. */
function callFrames({ name, args }) {
  const start = { index: 0, id: `call_${++calls}`, type: "function", function: { name, arguments: "" } };
  const rest = { index: 0, function: { arguments: JSON.stringify(args) } };
  return [
    event({ delta: { role: "assistant", content: null, tool_calls: [start] } }) +
      event({ delta: { tool_calls: [rest] } }) +
      event({ delta: {}, finish_reason: "tool_calls" }) +
      ending(),
  ];
}

function event(choice) {
  return record({ choices: [{ index: 0, finish_reason: null, ...choice }] });
}

function ending() {
  return record({ choices: [], usage: { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 } }) + httpChunk("data: [DONE]\n\n");
}

function record(fields) {
  const head = { id: "chatcmpl-bench", object: "chat.completion.chunk", created: 1_700_000_000, model: "bench" };
  return httpChunk(`data: ${JSON.stringify({ ...head, ...fields })}\n\n`);
}

function httpChunk(text) {
  return `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
}

/** A message's content is a string or a list of parts. */
function textOf(content) {
  return typeof content === "string" ? content : content.map(({ text }) => text ?? "").join("");
}
