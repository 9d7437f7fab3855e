/** Host → agent: the ops of a chat request. */
import { textPart, type Part } from "../../../core/content.js";
import type { SessionConfig } from "../../../core/config.js";
import type { Op, OpOf } from "../../../core/op.js";
import type { SideEnv, Step } from "../../dialect.js";
import { invalid } from "./faults.js";
import { recoverable, type Said } from "./lines.js";
import type { Chat } from "./read-ops.js";
import { commandRef } from "../wire/command-path.js";
import { newTurn, type AgentState, type ClientSession } from "./state.js";
import type { CommandRef } from "../wire/op-records.js";

const TERMINAL = "annotations.terminal";

/** While the session waits for the host's servers, these are only the ops that start them: the request is read again later. */
export function chatSteps(chat: Chat, session: ClientSession, state: AgentState, env: SideEnv): Step<Op> {
  state.active = session;
  if (chat.metadata.required_capabilities?.includes(TERMINAL) === true) session.showsTerminal = true;
  const offers = offered(chat, session, state, env);
  if (session.awaited.size > 0) return { in: offers, out: [] };
  const step = chat.origin === "system" ? fromSystem(chat, session, state, env) : fromUser(chat, session, state, env);
  return { in: [...offers, ...step.in], out: step.out };
}

// --- what a host brings along ---

/** The host's servers and hooks, and the system prompt: part of the session from now on. */
function offered({ metadata, system }: Chat, session: ClientSession, state: AgentState, env: SideEnv): Op[] {
  const known = session.config.mcpServers ?? {};
  const servers = (metadata.host_mcp_servers ?? []).filter((name) => known[name] === undefined);
  const hooks = Object.entries(metadata.host_hooks ?? {}).filter(([event, callback]) => session.config.hostHooks?.[event] !== callback);
  const patch: SessionConfig = {
    ...(servers.length > 0 && { mcpServers: { ...known, ...Object.fromEntries(servers.map((name) => [name, { type: "host" }])) } }),
    ...(hooks.length > 0 && { hostHooks: { ...session.config.hostHooks, ...metadata.host_hooks } }),
    ...(system !== undefined && system !== session.config.system && { system }),
  };
  if (Object.keys(patch).length === 0) return [];
  const id = env.stamp().id;
  state.asked.set(id, { kind: "change", session });
  session.config = { ...session.config, ...patch };
  // A host that cannot answer has no servers either.
  if (!state.isDeaf) for (const name of servers) session.awaited.add(name);
  return [{ type: "session.configure", id, session: session.handle, patch }];
}

// --- the origins ---

/** A command, or guidance for the whole session. */
function fromSystem(chat: Chat, session: ClientSession, state: AgentState, env: SideEnv): Step<Op> {
  if (commandOf(chat) !== undefined) return fromUser(chat, session, state, env);
  if (chat.text.trim() === "") return empty(chat, session, state, env);
  const { id, at } = env.stamp();
  const appendSystem = [session.config.appendSystem, chat.text].filter((text) => text !== undefined && text !== "").join("\n\n");
  session.config = { ...session.config, appendSystem };
  state.asked.set(id, { kind: "guidance", session, promptId: promptIdOf(chat, session), at });
  return { in: [{ type: "session.configure", id, session: session.handle, patch: { appendSystem } }], out: [] };
}

function fromUser(chat: Chat, session: ClientSession, state: AgentState, env: SideEnv): Step<Op> {
  const parts = partsOf(chat);
  const command = commandOf(chat);
  const isNew = command !== undefined || chat.calls.length > 0;
  const { live } = session;
  if (!isNew && live !== undefined && (chat.continues || chat.promptId === live.promptId)) return steer(chat, parts, session, state, env);
  if (!isNew && parts.length === 0 && !chat.continues) return empty(chat, session, state, env);
  return { in: prompt(chat, parts, session, state, env), out: [] };
}

function empty(chat: Chat, session: ClientSession, state: AgentState, env: SideEnv): Step<Op> {
  const said: Said = { at: env.stamp().at, session, promptId: chat.promptId };
  return { in: [], out: [recoverable(state, said, invalid("The request says nothing", "input.parts"))] };
}

/** Steers the running turn. Without text there is nothing to steer: the turn goes on. */
function steer(chat: Chat, parts: Part[], session: ClientSession, state: AgentState, env: SideEnv): Step<Op> {
  if (parts.length === 0) return { in: [], out: [] };
  const id = env.stamp().id;
  state.asked.set(id, { kind: "steer", session, request: chat });
  return { in: [{ type: "turn.steer", id, session: session.handle, parts }], out: [] };
}

export function prompt(chat: Chat, parts: Part[], session: ClientSession, state: AgentState, env: SideEnv): Op[] {
  const id = env.stamp().id;
  const command = commandOf(chat);
  const { model } = chat.overrides;
  const isAt = command?.kind === "at";
  const turn = newTurn(id, promptIdOf(chat, session), model ?? session.config.model, isAt ? command : undefined, hostTools(chat));
  session.turns.set(id, turn);
  state.asked.set(id, { kind: "prompt", session, turn, command: isAt ? undefined : command, firstCall: chat.firstCall });
  const before = history(chat, session, env);
  session.isFresh = false;
  const op: OpOf<"turn.prompt"> = {
    type: "turn.prompt",
    id,
    session: session.handle,
    turn: id,
    parts: command === undefined || isAt ? parts : [],
    ...(chat.origin === "system" && { from: "system" }),
    ...(chat.origin === "user" && { mentions: true }),
    ...(command !== undefined && !isAt && { command: named(command) }),
    ...(chat.calls.length > 0 && { calls: chat.calls }),
    ...(chat.continues && parts.length === 0 && command === undefined && { continues: true }),
    ...(chat.metadata.traceparent != null && { trace: chat.metadata.traceparent }),
    ...overrides(chat, session),
  };
  return [...before, op];
}

/** The session's present model is no override. */
function overrides({ overrides: given }: Chat, { config }: ClientSession): Pick<OpOf<"turn.prompt">, "overrides"> {
  const { model, ...rest } = given;
  const kept = { ...rest, ...(model !== undefined && model !== config.model && { model }) };
  return Object.keys(kept).length === 0 ? {} : { overrides: kept };
}

function hostTools({ overrides: { hostTools: tools = [] } }: Chat): Set<string> {
  return new Set(tools.map(({ name }) => name));
}

/** The earlier messages of a request count only in an empty session. */
function history({ history: said }: Chat, { handle, isFresh }: ClientSession, env: SideEnv): Op[] {
  if (said.length === 0 || !isFresh) return [];
  const text = said.map(({ role, text: words }) => `${role}: ${words}`).join("\n\n");
  return [{ type: "session.seed", id: env.stamp().id, session: handle, text, messages: said }];
}

// --- names and words ---

/** Makes `<session>########<n>`, counting on from the host's last number. A continuation belongs to the turn before. */
export function promptIdOf({ promptId, continues }: Chat, session: ClientSession): string {
  if (promptId === undefined) {
    if (continues && session.lastPrompt !== undefined) return session.lastPrompt;
    return `${session.id}########${++session.prompts}`;
  }
  const number = Number(/########(\d{1,15})$/.exec(promptId)?.[1] ?? 0);
  session.prompts = Math.max(session.prompts, number);
  return promptId;
}

export function partsOf({ text, parts, command }: Chat): Part[] {
  const file: Part[] = command?.kind === "at" ? [{ type: "file", path: command.path.join("/") }] : [];
  const words = command?.kind === "at" ? [text, command.args ?? ""].filter((each) => each !== "").join("\n") : text;
  return [...(words === "" ? [] : [textPart(words)]), ...file, ...parts];
}

/** The command is declared, or read from the text. A path that begins with a slash is no command, nor is a comment. */
function commandOf({ command, text, parts }: Chat): CommandRef | undefined {
  if (command !== undefined) return command;
  if (parts.length > 0) return undefined;
  if (text.trim() === "?") return { kind: "slash", path: ["help"], args: "" };
  const [, name, args] = /^\s*\/([\w:.-]+|\?)(?:\s+([^]*))?$/.exec(text) ?? [];
  return name === undefined ? undefined : commandRef(name, (args ?? "").trim());
}

function named({ path: [name = "", ...more], args }: CommandRef): { name: string; args: string } {
  return { name, args: [...more, args ?? ""].filter((word) => word !== "").join(" ") };
}
