/** Agents of which nobody said whether they ask: when their input ends, in the words of the host's side. */
import { describe, expect, test } from "vitest";
import { textPart } from "../../src/core/content.js";
import type { Event } from "../../src/core/event.js";
import { agentproc } from "../../src/dialects/agentproc/index.js";
import type { Out, Side } from "../../src/dialects/dialect.js";
import type { Op } from "../../src/core/op.js";
import type { Launch, Transport } from "../../src/core/wire.js";
import { openSession } from "../../src/host/session.js";
import { connect } from "../../src/link/connect.js";
import { spawnTransport } from "../../src/transports/process.js";

const REQUEST = '{"type":"permission_request","request_id":"r1","tool_name":"Bash","input":{}}';

function opened(): { side: Side<Event, Op>; prompt(): Out[] } {
  let ids = 0;
  const side = agentproc({ wire: "auto", permission: true, unsure: true }).hostSide({ stamp: () => ({ id: `i${++ids}`, at: 0 }) });
  side.write({ type: "session.open", id: "o", session: "s", open: "new" });
  return { side, prompt: () => side.write({ type: "turn.prompt", id: "p", session: "s", parts: [{ type: "text", text: "hi" }] }).out };
}

describe("an agent that may ask, as far as anybody knows", () => {
  test("gets the input of all wires, and is offered permission on 0.4 alone", () => {
    const [started, first] = opened().prompt();
    expect(started).toMatchObject({ launch: { env: { AGENT_MESSAGE: "hi", AGENT_PROTOCOL_VERSION: "0.1" } } });
    expect(started).not.toHaveProperty("launch.env.AGENT_PERMISSION");
    expect(started).not.toHaveProperty("launch.input");
    expect(first).toMatchObject({ rec: { type: "turn", permission: true } });
  });

  test("of 0.1 has the end of its input with its first line, and from the next turn's beginning", () => {
    const { side, prompt } = opened();
    prompt();
    expect(side.read({ rec: "" }).out).toEqual([]);
    expect(side.read({ rec: "a line" }).out).toEqual([{ end: true }]);
    expect(side.read({ rec: "another" }).out).toEqual([]);
    expect(side.quiet?.()).toEqual({ in: [], out: [] });
    side.end({ code: 0, signal: null });
    expect(prompt()).toMatchObject([{ launch: { input: expect.stringContaining('"type":"turn"') } }]);
  });

  test("of 0.4 keeps it open until its last word", () => {
    const { side, prompt } = opened();
    prompt();
    expect(side.read({ rec: REQUEST }).out).toEqual([]);
    expect(side.quiet?.()).toEqual({ in: [], out: [] });
    side.write({ type: "approval.answer", session: "s", answers: [{ call: "r1", decision: "allow" }] });
    expect(side.read({ rec: '{"type":"result","text":"x"}' }).out).toEqual([{ end: true }]);
  });

  test("that says nothing has it after a while; what it asks then is told, and denied by the closed input", () => {
    const { side, prompt } = opened();
    prompt();
    expect(side.quiet?.()).toMatchObject({
      in: [{ type: "notice", level: "warning", text: expect.stringContaining("input") }],
      out: [{ end: true }],
    });
    expect(side.read({ rec: REQUEST })).toMatchObject({
      in: [{ type: "notice", text: expect.stringContaining("nobody answers") }],
      out: [],
    });
    side.end({ code: 0, signal: null });
    // It may only have been slow.
    const [started, first] = prompt();
    expect(started).not.toHaveProperty("launch.input");
    expect(first).toMatchObject({ rec: { permission: true } });
  });
});

test.each([
  ["0.1", "cat >/dev/null; echo eof"],
  ["0.4", `cat >/dev/null; echo '{"type":"result","text":"eof"}'`],
])("an agent of %s that reads its input to the end before it speaks goes on", async (_wire, script) => {
  const dialect = agentproc({ wire: "auto", permission: true, unsure: true });
  const dial = (launch: Launch): Promise<Transport> =>
    spawnTransport({ ...launch, argv: ["sh", "-c", script] }, { framing: dialect.framing });
  const session = await openSession(connect(dialect, dial, { quietSeconds: 0.1 }));
  const said: string[] = [];
  for await (const event of session.prompt([textPart("hi")])) if (event.type === "text.done") said.push(event.text);
  await session.close();
  expect(said).toEqual(["eof"]);
});
