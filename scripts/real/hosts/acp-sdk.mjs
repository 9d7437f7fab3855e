/** The client of the ACP SDK, with `parley acp` as its agent. */
import { spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";
import { expect, given, isThere, killAgent, play } from "./play.mjs";

const sdk = await import(given.package);

let updates = [];
let wanted = "allow_once";
const one = connected();
await one.agent.request("initialize", {
  protocolVersion: sdk.PROTOCOL_VERSION,
  clientCapabilities: {},
  clientInfo: { name: "host", version: "1" },
});
const { sessionId } = await one.agent.request("session/new", { cwd: given.workspace, mcpServers: [] });

await play({
  async text() {
    const { stopReason, usage } = await prompt(one, `#say the word is ${given.secret}`);
    expect(said() === "hello", `it said ${JSON.stringify(said())}`);
    expect(stopReason === "end_turn" && usage?.inputTokens === 11, `it ended with ${stopReason}, ${JSON.stringify(usage)}`);
  },
  async thinking() {
    await prompt(one, "#think");
    expect(said("agent_thought_chunk").includes("birds"), `its thoughts were ${JSON.stringify(said("agent_thought_chunk"))}`);
  },
  async "tool allowed"() {
    await toolTurn("allow_once", "allow.txt", "completed");
    expect(isThere("allow.txt"), "the file is not there");
  },
  async "tool denied"() {
    await toolTurn("reject_once", "deny.txt", "failed");
    expect(!isThere("deny.txt"), "the file is there");
  },
  async interrupted() {
    const turn = prompt(one, "#slow");
    await told(({ sessionUpdate }) => sessionUpdate === "agent_message_chunk");
    await one.agent.notify("session/cancel", { sessionId });
    const { stopReason } = await turn;
    expect(stopReason === "cancelled", `it ended with ${stopReason}`);
    await prompt(one, "#say more");
    expect(said() === "hello", `and then it said ${JSON.stringify(said())}`);
  },
  async resumed() {
    one.child.stdin.end();
    await one.exited;
    const again = connected();
    await again.agent.request("initialize", { protocolVersion: sdk.PROTOCOL_VERSION, clientCapabilities: {} });
    updates = [];
    await again.agent.request("session/load", { sessionId, cwd: given.workspace, mcpServers: [] });
    expect(said("user_message_chunk").includes(given.secret), "it did not tell the past");
    await prompt(again, "#recall");
    expect(said().includes(given.secret), `it said ${JSON.stringify(said())}`);
    again.child.stdin.end();
    await again.exited;
  },
  async killed() {
    const doomed = connected();
    await doomed.agent.request("initialize", { protocolVersion: sdk.PROTOCOL_VERSION, clientCapabilities: {} });
    await doomed.agent.request("session/load", { sessionId, cwd: given.workspace, mcpServers: [] });
    const turn = prompt(doomed, "#slow").then(
      ({ stopReason }) => stopReason,
      () => "failed",
    );
    await told(({ sessionUpdate }) => sessionUpdate === "agent_message_chunk");
    killAgent();
    expect((await turn) === "failed", "its prompt did not fail");
  },
});

function connected() {
  const [command, ...args] = given.acp;
  const child = spawn(command, args, { cwd: given.workspace, stdio: ["pipe", "pipe", "inherit"] });
  const exited = new Promise((resolve) => child.once("close", resolve));
  const { agent } = sdk
    .client({ name: "host" })
    .onNotification("session/update", ({ params }) => void updates.push(params.update))
    .onRequest("session/request_permission", ({ params }) => {
      const { optionId } = params.options.find(({ kind }) => kind === wanted);
      return { outcome: { outcome: "selected", optionId } };
    })
    .connect(sdk.ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout)));
  return { agent, child, exited };
}

function prompt({ agent }, text) {
  updates = [];
  return agent.request("session/prompt", { sessionId, prompt: [{ type: "text", text }] });
}

async function toolTurn(kind, file, status) {
  wanted = kind;
  await prompt(one, `#run {{touch ${file}}}`);
  const ended = updates.findLast(({ toolCallId }) => toolCallId !== undefined)?.status;
  expect(ended === status, `the call was ${ended}`);
}

function said(kind = "agent_message_chunk") {
  return updates.flatMap(({ sessionUpdate, content }) => (sessionUpdate === kind ? [content.text] : [])).join("");
}

async function told(isIt) {
  while (!updates.some(isIt)) await new Promise((resolve) => setTimeout(resolve, 20));
}
