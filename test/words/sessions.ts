/** Stored sessions of the command, looked at from beside it: what the conversation is, and how to go on with it. */
import type { SessionConfig } from "../../src/core/config.js";
import { plainText } from "../../src/core/content.js";
import type { Message } from "../../src/engine/models/model.js";
import { jsonlStore } from "../../src/engine/store/jsonl/store.js";
import type { StoredSession } from "../../src/engine/store/store.js";
import { type NativeHost, scratch, start } from "../process/harness.js";

export async function stored(home: string, id = "s"): Promise<StoredSession> {
  const store = jsonlStore(home, { keep: 100, redact: (value) => value });
  const { session, log } = await store.open(id);
  await log.close();
  return session;
}

/** A line a message. */
export function conversation({ messages }: Pick<StoredSession, "messages">): string[] {
  return messages.flatMap(lines);
}

export function callsOf({ messages }: Pick<StoredSession, "messages">): string[] {
  return messages.flatMap((message) =>
    message.role === "assistant" ? message.blocks.flatMap((block) => (block.type === "call" ? [block.call.id] : [])) : [],
  );
}

function lines(message: Message): string[] {
  if (message.role === "user") return [`user: ${plainText(message.parts)}`];
  if (message.role === "tool") return [`results: ${message.results.map(({ failed }) => (failed ? "failed" : "ok")).join(" ")}`];
  const calls = message.blocks.flatMap((block) => (block.type === "call" ? [block.call.name] : []));
  const said = message.blocks.flatMap((block) => (block.type === "text" ? [`assistant: ${block.text}`] : []));
  return [...said, ...(calls.length === 0 ? [] : [`calls: ${calls.join(" ")}`])];
}

export async function kill(host: NativeHost): Promise<void> {
  host.child.kill("SIGKILL");
  await host.exited;
}

export async function resume(home: string, responses: unknown[], cwd?: string, config: SessionConfig = {}): Promise<NativeHost> {
  const host = start({ cwd: cwd ?? scratch(), env: { PARLEY_HOME: home }, responses });
  // The model of the first run was a script of its own.
  const model = host.child.spawnargs[host.child.spawnargs.indexOf("--model") + 1];
  host.send({ type: "session.open", session: "s", open: "resume", config: { model, provider: "rehearsal", ...config } });
  await host.next("session.ready");
  return host;
}
