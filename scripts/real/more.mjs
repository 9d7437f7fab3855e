/** What a driven program does besides the scenes that all play. A scene that does not go well throws. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect } from "./driven.mjs";
import { REFUSAL, SECRET } from "./model-server.mjs";

const MCP_SERVER = join(import.meta.dirname, "../../test/fixtures/mcp/official.mjs");
const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

export const MORE = {
  async images({ driven, config, saw }) {
    await driven.open({ open: "new", config });
    await driven.send({
      type: "turn.prompt",
      turn: "t",
      parts: [
        { type: "text", text: "#say what it shows" },
        { type: "image", mime: "image/png", data: PIXEL },
      ],
    });
    await completed(driven, "t");
    expect(!noticed(driven, /image/), "it cannot be told an image");
    expect(saw(PIXEL.slice(0, 40)), "the model saw no image");
  },
  async "a denial's reason"({ driven, config, saw }) {
    await asked(driven, { open: "new", config }, "touch no.txt", { decision: "deny", reason: "because of the otters" });
    expect(saw("because of the otters"), "the model was not told why");
  },
  async "changed arguments"({ driven, config, workspace }) {
    const { call, ended } = await asked(driven, { open: "new", config }, "touch first.txt", ({ args = {} }) => {
      expect(JSON.stringify(args).includes("first"), "it does not tell the arguments");
      const changed = Object.entries(args).map(([key, value]) => [
        key,
        typeof value === "string" ? value.replace("first", "second") : value,
      ]);
      return { decision: "allow", args: Object.fromEntries(changed) };
    });
    expect(ended(call)?.status === "ok", `the call was ${ended(call)?.status}: ${ended(call)?.reason}`);
    expect(existsSync(join(workspace, "second.txt")) && !existsSync(join(workspace, "first.txt")), "it ran as it was asked about");
  },
  async "a grant for the tool"({ driven, config, workspace }) {
    await asked(driven, { open: "new", config }, "touch grant1.txt", { decision: "allow", grant: "tool" });
    const turn = driven.prompt("#run {{touch grant2.txt}}");
    const next = await driven.next("its end", (event) => event.turn === turn && /^(approval.requested|turn.ended)$/.test(event.type));
    expect(next.type === "turn.ended", "it asked again");
    expect(existsSync(join(workspace, "grant2.txt")), "the second call did not run");
  },
  async "queued prompts"({ driven, config }) {
    await driven.open({ open: "new", config });
    const turns = ["#think", "#say more"].map((text) => driven.prompt(text));
    for (const turn of turns) await completed(driven, turn);
    const order = driven.events.filter(({ type }) => type === "turn.ended").map(({ turn }) => turn);
    expect(order.join() === turns.join(), `they ended in the order ${order.join()}`);
  },
  async steering({ driven, config, saw }) {
    await driven.open({ open: "new", config });
    const turn = driven.prompt("#run {{touch steer.txt}}");
    const { calls } = await driven.next("a question", (event) => event.type === "approval.requested" && event.turn === turn);
    await driven.send({ type: "turn.steer", id: "steer", parts: [{ type: "text", text: "mind the badgers" }] });
    await driven.send({ type: "approval.answer", answers: calls.map(({ id }) => ({ call: id, decision: "allow" })) });
    await completed(driven, turn);
    const turns = driven.events.filter(({ type }) => type === "turn.started").length;
    expect(turns === 1 && saw("mind the badgers"), "it takes no words during a turn: they are the next prompt");
  },
  async "a fork"({ driven, config, sessionId }) {
    const { sessionId: copy } = await driven.open({ open: "resume", fork: true, sessionId, config });
    expect(copy !== sessionId, "it is no copy");
    expect((await driven.turn("#recall")).text.includes(SECRET), "it did not remember");
  },
  async "a resumed session's past"({ driven, config, sessionId }) {
    await driven.open({ open: "resume", sessionId, after: { seq: -1 }, config });
    await driven.turn("#say more");
    const past = driven.events.filter(({ replay, type }) => replay === true && type === "user.message");
    expect(JSON.stringify(past).includes(SECRET), "it did not tell it");
  },
  async "the list of sessions"({ driven, config, sessionId }) {
    await driven.open({ open: "new", config });
    await driven.send({ type: "session.list", id: "list" });
    const { status, fault, data } = await driven.next("the list", ({ type, parent }) => type === "reply" && parent === "list");
    expect(status === "ok", fault?.message);
    expect(JSON.stringify(data.stored).includes(sessionId), "the session is not in it");
  },
  async commands({ driven, config }) {
    await driven.open({ open: "new", config });
    await driven.turn("#say hello");
    await soon(() => driven.events.some(({ type, commands = [] }) => type === "catalog.updated" && commands.length > 0), "it told none");
  },
  async "plan mode"({ driven, config, workspace }) {
    await driven.open({ open: "new", config: { ...config, mode: "plan" } });
    const turn = driven.prompt("#run {{touch plan.txt}}");
    const next = await driven.next("its end", (event) => event.turn === turn && /^(approval.requested|turn.ended)$/.test(event.type));
    if (next.type === "approval.requested") await driven.send({ type: "turn.interrupt", turn });
    await driven.end(turn);
    expect(!existsSync(join(workspace, "plan.txt")), "it ran");
  },
  async yolo({ driven, config, workspace }) {
    await driven.open({ open: "new", config });
    await driven.send({ type: "session.configure", id: "mode", patch: { mode: "yolo" } });
    const { type, fault } = await driven.next("the mode", ({ parent }) => parent === "mode");
    expect(type === "session.updated", fault?.message);
    const turn = driven.prompt("#do {{touch yolo.txt}}");
    const next = await driven.next("its end", (event) => event.turn === turn && /^(approval.requested|turn.ended)$/.test(event.type));
    expect(next.type === "turn.ended" && existsSync(join(workspace, "yolo.txt")), "it asked, or did not run");
  },
  async "failures of the model's server"({ driven, config }) {
    await driven.open({ open: "new", config });
    const { outcome, reason, fault } = await driven.end(driven.prompt("#fail"));
    expect(outcome === "failed", `the turn was ${outcome}`);
    expect(`${reason} ${fault?.message}`.includes(REFUSAL), `it said ${reason ?? fault?.message}`);
  },
  async "MCP servers of the host"({ driven, config, workspace }) {
    // Several keep the tools of a server back until the model looks for them, so it is the start of the server that is seen.
    const file = join(workspace, "mcp.txt");
    const command = `touch "${file}"; exec "${process.execPath}" "${MCP_SERVER}"`;
    const mcpServers = { calc: { command: "/bin/sh", args: ["-c", command] } };
    await driven.open({ open: "new", config: { ...config, mcpServers } });
    await driven.turn("#say hello");
    await soon(() => existsSync(file), "it started none");
  },
  async "a system prompt"({ driven, config, saw }) {
    await driven.open({ open: "new", config: { ...config, appendSystem: "Answer as a kingfisher." } });
    await driven.turn("#say hello");
    expect(saw("Answer as a kingfisher."), "the model was not told");
  },
};

async function completed(driven, turn) {
  const { outcome, reason } = await driven.end(turn);
  expect(outcome === "completed", `the turn was ${outcome}: ${reason}`);
}

/** A turn with a call that is asked about and answered so. */
async function asked(driven, open, command, answer) {
  await driven.open(open);
  const turn = driven.prompt(`#run {{${command}}}`);
  const told = await driven.next("a question", (event) => event.turn === turn && /^(approval.requested|turn.ended)$/.test(event.type));
  expect(told.type === "approval.requested", "nobody was asked");
  const [call] = told.calls;
  const given = typeof answer === "function" ? answer(call) : answer;
  await driven.send({ type: "approval.answer", answers: [{ call: call.id, ...given }] });
  await driven.end(turn);
  return { call: call.id, ended: (id) => driven.events.find((event) => event.type === "tool.ended" && event.call === id) };
}

async function soon(isSo, otherwise) {
  for (let left = 100; left > 0 && !isSo(); left--) await new Promise((resolve) => setTimeout(resolve, 100));
  expect(isSo(), otherwise);
}

function noticed(driven, words) {
  return driven.events.some(({ type, text }) => type === "notice" && /cannot be told/.test(text) && words.test(text));
}
