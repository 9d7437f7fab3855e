/** The two that are measured: how each is started, spoken to and understood. Everything else treats them alike. */
import { fileURLToPath } from "node:url";

/** `turn` is what one turn's lines say: its deltas in order, its final text, the tools' outputs; it throws when they break the grammar. */
export function floorSubject(baseUrl) {
  return {
    name: "floor",
    argv: [pathOf("floor.mjs"), baseUrl],
    opening: () => undefined,
    ready: '"ready"',
    prompt: (text) => ({ prompt: text }),
    delta: '"delta"',
    end: '"end"',
    turn: floorTurn,
  };
}

export function parleySubject(baseUrl) {
  const model = ["--provider", "local", "--base-url", baseUrl, "--model", "bench"];
  return {
    name: "parley",
    argv: [pathOf("../dist/parley.js"), "serve", "--dialect", "native", "--auto-approve", ...model],
    opening: (session) => ({ type: "session.open", session, open: "new" }),
    ready: '"session.ready"',
    prompt: (text, session) => ({ type: "turn.prompt", session, parts: [{ type: "text", text }] }),
    delta: '"text.delta"',
    end: '"turn.ended"',
    turn: parleyTurn,
  };
}

function pathOf(file) {
  return fileURLToPath(new URL(file, import.meta.url));
}

function floorTurn(records) {
  const turn = { deltas: [], text: undefined, tools: [] };
  for (const record of records) {
    if (turn.text !== undefined) throw new Error(`The floor wrote ${record.type} after the end of its turn`);
    if (record.type === "delta") turn.deltas.push(record.text);
    else if (record.type === "tool") turn.tools.push({ name: record.name, output: record.output });
    else if (record.type === "end") turn.text = record.text;
  }
  return turn;
}

/** Exactly one start and one end, the end last and a success; every call requested, started and ended once, in that order. */
function parleyTurn(all) {
  // The catalogue is told behind the session's ready, and may come with the first turn.
  const records = all.filter(({ type }) => type !== "catalog.updated");
  const turn = { deltas: [], text: "", tools: [] };
  const calls = new Map();
  if (records[0]?.type !== "turn.started") throw new Error(`Parley began a turn with ${records[0]?.type}`);
  for (const [index, record] of records.entries()) {
    switch (record.type) {
      case "turn.started":
        if (index > 0) throw new Error("Parley started a turn inside another");
        break;
      case "text.delta":
        turn.deltas.push(record.text);
        break;
      case "text.done":
        turn.text = record.text;
        break;
      case "tool.requested":
        if (calls.has(record.call.id)) throw new Error(`Parley requested ${record.call.id} twice`);
        calls.set(record.call.id, { name: record.call.name, state: "requested" });
        break;
      case "tool.started":
        step(calls, record.call, "requested", "started");
        break;
      case "tool.ended":
        if (record.status !== "ok")
          throw new Error(`Parley's ${calls.get(record.call)?.name} ended as ${record.status}: ${JSON.stringify(record.output)}`);
        step(calls, record.call, "started", "ended");
        turn.tools.push({ name: calls.get(record.call).name, output: record.output.map(({ text }) => text).join("") });
        break;
      case "error":
        throw new Error(`Parley told of an error: ${record.fault.message}`);
      case "turn.ended":
        if (record.outcome !== "completed") throw new Error(`Parley's turn ended as ${record.outcome}: ${record.reason}`);
        if (index !== records.length - 1) throw new Error(`Parley wrote ${records[index + 1].type} after the end of its turn`);
        break;
      default:
    }
  }
  for (const [id, { state }] of calls) if (state !== "ended") throw new Error(`Parley left the call ${id} ${state}`);
  return turn;
}

function step(calls, id, from, to) {
  const call = calls.get(id);
  if (call?.state !== from) throw new Error(`Parley said ${to} of the call ${id}, which was ${call?.state ?? "never requested"}`);
  call.state = to;
}
