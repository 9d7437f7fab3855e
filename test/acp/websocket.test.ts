/** `parley acp --ws`: an agent for each connection. */
import { spawn } from "node:child_process";
import { expect, it, onTestFinished } from "vitest";
import { acp } from "../../src/dialects/acp/index.js";
import { connect } from "../../src/link/connect.js";
import { dialSocket } from "../../src/transports/ws.js";
import { environment, PARLEY, scratch, until } from "../process/harness.js";
import { Listener } from "../support/wires.js";

it("serves several clients, and leaves when it is told to", async () => {
  const cwd = scratch();
  const child = spawn(process.execPath, [PARLEY, "acp", "--ws", "127.0.0.1:0", "--provider", "rehearsal"], { cwd, env: environment() });
  const exited = new Promise<number | null>((resolve) => child.once("close", (code) => resolve(code)));
  onTestFinished(() => void child.kill("SIGKILL"));
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  await until(() => /listening on (\S+)/.test(stderr));
  const url = /listening on (\S+)/.exec(stderr)?.[1] ?? "";
  const clients = ["one", "two"].map((word) => {
    const agent = connect(acp, () => dialSocket(url, { framing: "json" }));
    const listener = new Listener(agent);
    void agent.send({ type: "session.open", id: "open", session: word, open: "new", config: { cwd } });
    void agent.send({ type: "turn.prompt", id: "p", session: word, turn: word, parts: [{ type: "text", text: `say ${word} here` }] });
    return { agent, listener, word };
  });
  for (const { agent, listener, word } of clients) {
    await until(() => listener.types.includes("turn.ended"));
    const said = listener.heard.all.flatMap((event) => (event.type === "text.done" ? [event.text] : []));
    expect(said.join("")).toBe(`${word} here`);
    await agent.close();
    expect(listener.violations).toEqual([]);
  }
  child.kill("SIGTERM");
  expect(await exited).toBe(143);
});
