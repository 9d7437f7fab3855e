/**
 * The floor: what a coding agent in Node costs when it does nothing but the work. A loop around a model with a read and a bash tool,
 * JSON lines on stdin and stdout; no approvals, no log, no checks, no dependencies. Every figure is told as a ratio to it.
 *
 * It is frozen: ratios compare only as long as the floor is the same, so the benchmark refuses to run when this file does not match
 * floor.sha256. Who has to change it does that in a commit of its own that says why, writes the new sum with
 * `sha256sum floor.mjs > floor.sha256` in this folder, and measures again for docs/performance.md.
 *
 * Usage: node floor.mjs BASE_URL
 *   in   {"prompt":"…"}
 *   out  {"type":"ready"} · {"type":"delta","text":"…"} · {"type":"tool","name":"…","output":"…"} · {"type":"end","text":"…"}
 */
const endpoint = new URL(`${process.argv[2]}/chat/completions`);

const TOOLS = [
  { name: "Read", description: "Reads a file as numbered lines.", field: "file_path", run: readFile },
  { name: "Bash", description: "Runs a shell command.", field: "command", run: runCommand },
];

const tools = TOOLS.map(({ name, description, field }) => ({
  type: "function",
  function: { name, description, parameters: { type: "object", properties: { [field]: { type: "string" } }, required: [field] } },
}));

const history = [];
let line = "";
let pending = "";
let scheduled = false;
let working = Promise.resolve();
let http;

process.stdin.setEncoding("utf8");
process.stdin.on("data", (text) => {
  const lines = (line + text).split("\n");
  line = lines.pop();
  for (const each of lines) working = working.then(() => runTurn(JSON.parse(each).prompt));
});
say({ type: "ready" });

async function runTurn(prompt) {
  history.push({ role: "user", content: prompt });
  for (;;) {
    const message = await ask();
    history.push(message);
    if (message.tool_calls === undefined) return say({ type: "end", text: message.content });
    for (const call of message.tool_calls) {
      const { name, arguments: args } = call.function;
      const output = await TOOLS.find((tool) => tool.name === name).run(JSON.parse(args));
      history.push({ role: "tool", tool_call_id: call.id, content: output });
      say({ type: "tool", name, output });
    }
  }
}

async function ask() {
  http ??= await loadHttp();
  const body = JSON.stringify({ model: "bench", messages: history, tools, stream: true, stream_options: { include_usage: true } });
  const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
  const message = { role: "assistant", content: "" };
  return new Promise((resolve, reject) => {
    const request = http.request(endpoint, { method: "POST", agent: http.agent, headers }, (response) => {
      let rest = "";
      response.setEncoding("utf8");
      response.on("data", (text) => {
        const lines = (rest + text).split("\n");
        rest = lines.pop();
        for (const each of lines) if (each.startsWith("data: {")) take(message, JSON.parse(each.slice(6)));
      });
      response.on("end", () => resolve(message));
      response.on("error", reject);
    });
    request.on("error", reject);
    request.end(body);
  });
}

function take(message, { choices: [choice] }) {
  const { content, tool_calls: calls } = choice?.delta ?? {};
  if (content) {
    message.content += content;
    say({ type: "delta", text: content });
  }
  for (const { index, ...piece } of calls ?? []) {
    message.tool_calls ??= [];
    const call = message.tool_calls[index];
    if (call === undefined) message.tool_calls[index] = piece;
    else call.function.arguments += piece.function.arguments;
  }
}

async function loadHttp() {
  const { Agent, request } = await import("node:http");
  return { request, agent: new Agent({ keepAlive: true }) };
}

async function readFile({ file_path: path }) {
  const fs = await import("node:fs/promises");
  const lines = (await fs.readFile(path, "utf8")).split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines.map((text, index) => `${String(index + 1).padStart(6)}\t${text}`).join("\n");
}

async function runCommand({ command }) {
  const { spawn } = await import("node:child_process");
  const child = spawn("bash", ["-c", command], { stdio: ["ignore", "pipe", "pipe"] });
  const output = { STDOUT: "", STDERR: "" };
  child.stdout.setEncoding("utf8").on("data", (text) => (output.STDOUT += text));
  child.stderr.setEncoding("utf8").on("data", (text) => (output.STDERR += text));
  const code = await new Promise((resolve) => child.on("close", resolve));
  const sections = Object.entries(output).flatMap(([name, text]) => (text === "" ? [] : [`${name}:\n${text.trimEnd()}`]));
  return [`Exit code: ${code}`, ...sections].join("\n");
}

/** The lines of one tick are one write. */
function say(record) {
  pending += `${JSON.stringify(record)}\n`;
  if (scheduled) return;
  scheduled = true;
  setImmediate(flush);
}

function flush() {
  scheduled = false;
  process.stdout.write(pending);
  pending = "";
}
