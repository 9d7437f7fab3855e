/** Prior context message by message: the model gets it as its own conversation, and the log keeps it. */
import { expect, test } from "vitest";
import type { OpOf } from "../../src/core/op.js";
import { scratch, start } from "../process/harness.js";
import { modelServer } from "../support/model-server.js";
import { conversation, kill, resume, stored } from "./sessions.js";

const seed: OpOf<"session.seed"> = {
  type: "session.seed",
  session: "s",
  text: "user: Two herons.\nassistant: Seen.",
  messages: [
    { role: "user", text: "Two herons." },
    { role: "assistant", text: "Seen." },
  ],
};

test("the vendor gets real messages, before and after a resume", async () => {
  const server = await modelServer("anthropic", [{ text: ["Two."] }, { text: ["Still two."] }]);
  const env = { ANTHROPIC_API_KEY: server.key, ANTHROPIC_BASE_URL: server.url, PARLEY_HOME: scratch() };
  const args = ["--model", "claude-sonnet-4-6"];
  const host = start({ provider: "anthropic", env, args });
  await host.open();
  host.send(seed);
  expect(await host.next("reply")).toMatchObject({ status: "ok" });
  host.prompt("How many?");
  await host.turnEnded();
  await kill(host);
  const again = start({ provider: "anthropic", env, args });
  again.send({ type: "session.open", session: "s", open: "resume" });
  expect(await again.next("session.ready")).not.toHaveProperty("unfinished");
  again.prompt("And now?");
  await again.turnEnded();
  expect(await again.finish()).toBe(0);
  const told = ["Two herons.", "Seen.", "How many?", "Two.", "And now?"].map((text, at) => ({
    role: at % 2 === 0 ? "user" : "assistant",
    content: [{ type: "text", text }],
  }));
  expect(server.requests[0]?.body).toMatchObject({ messages: told.slice(0, 3) });
  expect(server.requests[1]?.body).toMatchObject({ messages: told });
});

test("killed right behind it: it is kept, and one that ends with the user's words can be gone on from", async () => {
  const home = scratch();
  const host = start({ env: { PARLEY_HOME: home }, responses: [{ say: "never" }] });
  await host.open();
  host.send(seed, { ...seed, messages: [{ role: "user", text: "How many?" }] });
  await host.next("reply", () => host.ofType("reply").length === 2);
  await kill(host);
  const again = await resume(home, [{ expect: { lastUser: "How many?" }, say: "Two." }]);
  expect(await again.next("session.ready")).toMatchObject({ unfinished: "prompt" });
  again.send({ type: "turn.prompt", session: "s", parts: [], continues: true });
  expect(await again.turnEnded()).toMatchObject({ outcome: "completed" });
  again.send(seed);
  expect(await again.next("reply")).toMatchObject({ status: "error", fault: { code: "protocol" } });
  expect(await again.finish()).toBe(0);
  expect(conversation(await stored(home))).toEqual(["user: Two herons.", "assistant: Seen.", "user: How many?", "assistant: Two."]);
});
