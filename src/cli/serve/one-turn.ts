/**
 * The engine for a process of one turn. The prompt waits until servers and extensions are loaded, because no later turn could use them. A
 * session that is no longer stored begins anew, because the bridge has no other id. Events without a word on the wire go to stderr.
 */
import type { Agent } from "../../core/agent.js";
import { textPart } from "../../core/content.js";
import type { Event } from "../../core/event.js";
import type { Op, OpOf } from "../../core/op.js";
import type { Dialect } from "../../dialects/index.js";
import type { Settings } from "../../settings/settings.js";
import { isStored } from "../../engine/store/jsonl/store.js";

export function oneTurn(engine: Agent, settings: Settings, { personOf }: Dialect): Agent {
  let name: string | undefined;
  let whole = (): void => {};
  const surroundings = new Promise<void>((resolve) => {
    whole = resolve;
  });
  /** Settles when the prompt is sent; the end of input must not overtake it. */
  let sent: Promise<void> = Promise.resolve();
  return { send, events: heard(), close: () => engine.close() };

  async function send(op: Op): Promise<void> {
    if (op.type === "session.open") {
      name = op.name;
      return engine.send(opening(op, settings));
    }
    if (op.type === "turn.prompt") {
      // We do not wait here: the sender of the prompt must read events meanwhile.
      sent = surroundings.then(() => engine.send(inContext(op, name, personOf?.(op))));
      return;
    }
    if (op.type !== "shutdown" || op.when === "now") return engine.send(op);
    void sent.then(() => engine.send(op));
  }

  async function* heard(): AsyncIterable<Event> {
    for await (const event of engine.events) {
      if (isWhole(event, settings)) whole();
      aside(event);
      yield event;
    }
  }
}

function opening(op: OpOf<"session.open">, { home, sessions }: Settings): Op {
  const { sessionId, ...rest } = op;
  if (op.open !== "resume" || sessionId === undefined || sessionId === "latest") return op;
  if (sessions.enabled && isStored(home, sessionId)) return op;
  console.error(`parley: no session '${sessionId}' is stored; a new one begins`);
  return { ...rest, open: "new" };
}

/** Whether everything around the session is loaded: servers of the config or the session may still connect after `session.ready`. */
function isWhole(event: Event, { mcpServers }: Settings): boolean {
  if (event.type === "catalog.updated") return event.whole;
  if (event.type === "reply") return event.to === "session.open";
  return event.type === "session.ready" && Object.keys({ ...mcpServers, ...event.config?.mcpServers }).length === 0;
}

/** The person and the conversation stand before the message. */
function inContext(op: OpOf<"turn.prompt">, name: string | undefined, from: string | undefined): Op {
  const lines = [...(from === undefined ? [] : [`From: ${plain(from)}`]), ...(name === undefined ? [] : [`Conversation: ${plain(name)}`])];
  if (lines.length === 0) return op;
  return { ...op, parts: [textPart(`<message_context>\n${lines.join("\n")}\n</message_context>`), ...op.parts] };
}

/** Makes others' words harmless: they can neither end the context nor begin a line. */
function plain(words: string): string {
  return words.replaceAll(/[\p{Cc}\u2028\u2029]/gu, " ").replaceAll(/[<>]/g, "");
}

function aside(event: Event): void {
  if (event.type === "error") console.error(`parley: ${event.fault.message}`);
  if (event.type === "notice" && (event.level === "warning" || event.level === "error")) console.error(`parley: ${event.text}`);
}
