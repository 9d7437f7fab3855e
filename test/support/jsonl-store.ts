/** Sessions in a store of JSON lines. */
import type { Message } from "../../src/engine/models/model.js";
import { jsonlStore } from "../../src/engine/store/jsonl/store.js";
import type { KeptSession, SessionLog, SessionStore } from "../../src/engine/store/store.js";

export async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

export function open(home: string): SessionStore {
  return jsonlStore(home, { keep: 1000, redact: (value) => value });
}

export function create(store: SessionStore, id: string): Promise<SessionLog> {
  return store.create({ id, cwd: "/w", name: undefined, config: {} });
}

export async function reopened(home: string): Promise<KeptSession> {
  const { session, log } = await open(home).open("s");
  await log.close();
  return session;
}

export function kept(messages: Message[]): KeptSession {
  return { id: "s", cwd: "/w", name: undefined, config: {}, messages, lastTurn: undefined, seen: {}, seq: 1 };
}

export function said(text: string): Message {
  return { role: "user", parts: [{ type: "text", text }] };
}

/** More than a snapshot waits for. */
export function bigMessages(): Message[] {
  return [said("z".repeat(300_000))];
}

export function padding(): { kind: "message"; message: Message } {
  return { kind: "message", message: said("p".repeat(300_000)) };
}

export function asked(text: string) {
  return { kind: "event" as const, event: { type: "user.message" as const, parts: [{ type: "text" as const, text }] } };
}

export function line(entry: unknown): string {
  return `${JSON.stringify(entry)}\n`;
}
