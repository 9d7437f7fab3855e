/** Host → agent, written: ops become chat requests, request events and control responses. */
import type { SessionConfig } from "../../../core/config.js";
import { plainText, type Part } from "../../../core/content.js";
import type { Event, EventOf } from "../../../core/event.js";
import type { Answer, Op, OpOf } from "../../../core/op.js";
import { withoutCommand, withoutMentions } from "../../../core/text/plain-words.js";
import type { Out, SideEnv, Step } from "../../dialect.js";
import { refused, replied, reply, warning } from "../../kit/reply.js";
import { NOTHING } from "../../kit/step.js";
import { isRecord } from "../../../core/values/json-object.js";
import type { HostedSession, HostState, Question, SentPrompt } from "./state.js";
import { commandRef } from "../wire/command-path.js";
import type { CommandRef, RequestMetadata, WireOptions, WirePart } from "../wire/op-records.js";

export function writeOp(op: Op, state: HostState, env: SideEnv): Step<Event> {
  if (op.type === "ping") return ping(op, state);
  if (op.type === "command.suggest") return suggest(op, state);
  if (op.type === "turn.interrupt" && op.session === undefined) return interruptAll(op, state);
  const session = sessionOf(op, state);
  if (session === undefined) return refused(op, `There is no session '${op.session ?? ""}'`, "session");
  switch (op.type) {
    case "session.configure":
      return configure(op, session);
    case "session.seed":
      session.seed = op.messages?.map(({ role, text }) => ({ role, content: text })) ?? [{ role: "user", content: op.text }];
      return { in: [reply(op, session.count === 0 ? "ok" : "noop")], out: [] };
    case "session.close":
      return close(op, session, state);
    case "turn.prompt":
      return prompt(op, session, env);
    case "turn.steer":
      return steer(op, session);
    case "turn.interrupt":
      return interrupt(op, session, state);
    case "approval.answer":
      return answer(op, session, state);
    case "host.answer":
      return hostAnswer(op, session, state);
    case "session.open":
    case "session.list":
    case "session.watch":
    case "session.rewind":
    case "session.delete":
    case "session.mark":
    case "provider.set":
    case "shutdown":
    case "other":
      return NOTHING;
    default:
      op satisfies never;
      return NOTHING;
  }
}

/** An op without a session is for the only session. */
function sessionOf(op: Op, { sessions }: HostState): HostedSession | undefined {
  if (op.session !== undefined) return sessions.get(op.session);
  return sessions.size === 1 ? sessions.values().next().value : undefined;
}

// --- prompts ---

function prompt(op: OpOf<"turn.prompt">, session: HostedSession, env: SideEnv): Step<Event> {
  if (isUnnamed(session)) {
    session.waiting.push(op);
    return NOTHING;
  }
  const hostTools = op.overrides?.hostTools ?? session.config.hostTools ?? [];
  session.count++;
  const sent: SentPrompt = {
    promptId: `${session.id ?? session.handle}########${session.count}`,
    turn: op.turn ?? env.stamp().id,
    op: op.id,
    command: op.command,
    hostTools: hostTools.map(({ name }) => name),
  };
  session.prompts.push(sent);
  const isFirst = session.isNew && session.count === 1;
  const request = { ...address(sent.promptId, session), ...(isFirst && { session_id: "_new" }), ...asked(op, session) };
  const said = saidBefore(op, session);
  const body = said === undefined ? chatRequest(op) : { messages: [...said, { role: "user", content: promptText(op) }] };
  return { in: lost(op, session, said !== undefined), out: [{ rec: { ...request, ...body } }] };
}

/** The new session has no name yet: a second prompt would ask for another session. */
export function isUnnamed({ isNew, id, prompts }: HostedSession): boolean {
  return isNew && id === undefined && prompts.length > 0;
}

function address(prompt_id: string, { id }: HostedSession): { session_id?: string; prompt_id: string } {
  return { ...(id !== undefined && { session_id: id }), prompt_id };
}

function chatRequest(op: OpOf<"turn.prompt">): object {
  const [call, ...more] = (op.calls ?? []).map(({ id, name, args }) => ({ ...(id !== undefined && { call_id: id }), name, args }));
  const command = op.command === undefined ? null : commandOf(op.command, argsOf(op));
  const parts = op.command === undefined ? op.parts.flatMap(writePart) : [{ type: "text", text: "" }];
  return {
    input: { origin: op.from === "system" ? "system" : "user", parts: plain(parts, op), command },
    ...(op.continues === true && { continuation: true }),
    ...(call !== undefined && { tool_request: more.length === 0 ? call : [call, ...more] }),
  };
}

/** A name of several words is a path already. */
function commandOf({ name }: NonNullable<OpOf<"turn.prompt">["command"]>, args: string): CommandRef {
  return name.includes(" ") ? { kind: "slash", path: name.split(" "), args } : commandRef(name, args);
}

function argsOf({ command, mentions }: OpOf<"turn.prompt">): string {
  const { args = "" } = command ?? {};
  return mentions === true ? args : withoutMentions(args);
}

/** The beginning of a command on this wire. */
const COMMAND = /^\s*[/?]/;

/**
 * Escapes commands and mentions in plain text: the agent attaches mentioned files and runs text that begins like a command.
 * Guidance is taken unchanged.
 */
function plain(
  parts: WirePart[],
  { command, from, mentions = false }: Pick<OpOf<"turn.prompt">, "command" | "from" | "mentions">,
): WirePart[] {
  if (command !== undefined || from === "system") return parts;
  const first = parts.findIndex((part) => "text" in part && part.text.trim() !== "");
  return parts.map((part, at) => {
    if (!("text" in part)) return part;
    const text = mentions ? part.text : withoutMentions(part.text);
    return { ...part, text: at === first ? withoutCommand(text, COMMAND) : text };
  });
}

/** The text of a prompt, where the wire has a text alone. */
function promptText(op: OpOf<"turn.prompt">): string {
  const parts = plain(op.parts.flatMap(writePart), op);
  return parts.flatMap((part) => ("text" in part && part.text !== "" ? [part.text] : [])).join("\n");
}

/** The wire can give earlier messages only as a request of messages, whose last one is the prompt. */
function saidBefore(op: OpOf<"turn.prompt">, session: HostedSession): { role: string; content: string }[] | undefined {
  const { system } = session.config;
  const isPlain = op.command === undefined && op.continues !== true && op.calls === undefined && op.from !== "system";
  if (!isPlain || (session.seed.length === 0 && (system === undefined || session.systemIsSaid))) return undefined;
  const first = system === undefined || session.systemIsSaid ? [] : [{ role: "system", content: system }];
  session.systemIsSaid = true;
  return [...first, ...session.seed.splice(0)];
}

/** The options of this request: the session's, overridden by the prompt's. */
function asked(op: OpOf<"turn.prompt">, { config }: HostedSession): object {
  const { model, temperature, topP, topK, maxTokens, stop } = { ...config, ...op.overrides };
  const tools = toolsOf(config.allowedTools, op.overrides?.tools);
  const options: WireOptions = {
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { top_p: topP }),
    ...(topK !== undefined && { top_k: topK }),
    ...(maxTokens !== undefined && { max_tokens: maxTokens }),
    ...(stop !== undefined && { stop }),
    ...(tools !== undefined && { tool_overrides: tools }),
  };
  const metadata = offered(op, config);
  return {
    ...(model !== undefined && { model }),
    ...(Object.keys(options).length > 0 && { options }),
    ...(Object.keys(metadata).length > 0 && { metadata }),
  };
}

/** A prompt's list never adds a tool that the session's lacks. */
function toolsOf(session: string[] | undefined, prompt: string[] | undefined): string[] | undefined {
  if (session === undefined || prompt === undefined) return prompt ?? session;
  return prompt.filter((tool) => session.includes(tool));
}

/** Tools, servers and hooks of the host. */
function offered(op: OpOf<"turn.prompt">, config: SessionConfig): RequestMetadata {
  const hostTools = op.overrides?.hostTools ?? config.hostTools ?? [];
  const servers = Object.entries(config.mcpServers ?? {}).flatMap(([name, { type }]) => (type === "host" ? [name] : []));
  return {
    ...(hostTools.length > 0 && { host_tools: hostTools }),
    ...(servers.length > 0 && { host_mcp_servers: servers }),
    ...(config.hostHooks !== undefined && { host_hooks: config.hostHooks }),
    ...(op.trace !== undefined && { traceparent: op.trace }),
  };
}

function writePart(part: Part): WirePart[] {
  switch (part.type) {
    case "image":
      return [{ type: "inline_data", inline_data: { mime_type: part.mime, data: part.data, ...shownAs(part.name) } }];
    case "file": {
      if (part.data !== undefined) {
        const mime_type = part.mime ?? "application/octet-stream";
        return [{ type: "inline_data", inline_data: { mime_type, data: part.data, ...shownAs(part.name) } }];
      }
      const file_uri = part.uri ?? part.path;
      // The text of a file has other authors: it mentions nothing.
      if (file_uri === undefined || part.text !== undefined) return [{ type: "text", text: withoutMentions(part.text ?? "") }];
      return [
        { type: "file_data", file_data: { file_uri, ...(part.mime !== undefined && { mime_type: part.mime }), ...shownAs(part.name) } },
      ];
    }
    case "text":
    case "diff":
    case "todo":
    case "plan":
    case "terminal":
    case "resource":
    case "json": {
      const text = plainText([part]);
      return text === "" ? [] : [{ type: "text", text: part.type === "text" ? text : withoutMentions(text) }];
    }
    default:
      return part satisfies never;
  }
}

function shownAs(name: string | undefined): { display_name?: string } {
  return name === undefined ? {} : { display_name: name };
}

const SAYABLE: ReadonlySet<string> = new Set(["model", "temperature", "topP", "topK", "maxTokens", "stop", "tools", "hostTools"]);

/** Warns about parts of the prompt that the wire lacks. */
function lost(op: OpOf<"turn.prompt">, { handle }: HostedSession, isMessages: boolean): Event[] {
  const overrides = Object.entries(op.overrides ?? {}).flatMap(([key, value]) => (value === undefined || SAYABLE.has(key) ? [] : [key]));
  const parts = isMessages ? op.parts.filter((part) => plainText([part]) === "").map((part) => `a part of type ${part.type}`) : [];
  const all = [...overrides, ...parts];
  return all.length === 0 ? [] : [warning(`Qwen cannot be told ${all.join(", ")} with this prompt`, handle, "qwen")];
}

/** Further text for the running turn names its prompt. */
function steer(op: OpOf<"turn.steer">, session: HostedSession): Step<Event> {
  const promptId = session.running?.prompt.promptId ?? session.prompts[0]?.promptId;
  if (promptId === undefined) return replied(op, "noop");
  const input = { origin: "user", parts: plain(op.parts.flatMap(writePart), {}), command: null };
  return { in: [reply(op, "ok")], out: [{ rec: { ...address(promptId, session), input, continuation: true } }] };
}

// --- interrupts ---

function interrupt(op: OpOf<"turn.interrupt">, session: HostedSession, state: HostState): Step<Event> {
  const named = session.prompts.find(({ turn }) => turn === op.turn);
  const meant = op.turn === undefined ? (session.running?.prompt ?? session.prompts[0]) : named;
  if (meant === undefined) return replied(op, "noop");
  return { in: [], out: [cancel(meant.promptId, op.id, session, state)] };
}

/** The first answer counts. */
function interruptAll(op: OpOf<"turn.interrupt">, state: HostState): Step<Event> {
  const running = [...state.sessions.values()].flatMap((session) =>
    session.running === undefined ? [] : [{ session, ...session.running }],
  );
  if (running.length === 0) return replied(op, "noop");
  const cancels = running.map(({ session, prompt: { promptId } }, at) => cancel(promptId, at === 0 ? op.id : undefined, session, state));
  return { in: [], out: cancels };
}

function cancel(promptId: string, op: string | undefined, session: HostedSession, state: HostState): Out {
  state.cancels.push({ promptId, op, session: session.handle });
  return { rec: { type: "control/cancel", ...address(promptId, session), reason: "escape" } };
}

// --- answers ---

function answer(op: OpOf<"approval.answer">, session: HostedSession, state: HostState): Step<Event> {
  const steps = op.answers.flatMap((each) => {
    const found = [...state.questions].find(([, question]) => asksFor(question, session, each.call));
    return found === undefined ? [] : [decided(each, found[0], found[1], state)];
  });
  if (steps.length === 0) return replied(op, "noop");
  return { in: steps.flatMap((step) => step.in), out: steps.flatMap((step) => step.out) };
}

/** Calls of two sessions may have the same name. */
export function asksFor(question: Question, session: HostedSession, call: string): boolean {
  return question.kind === "approval" && question.session === session && question.call === call;
}

/** A call with changed arguments starts with them, as the wire does not repeat them. */
export function decided(given: Answer, request_id: string, { session }: Question, state: HostState): Step<Event> {
  state.questions.delete(request_id);
  const { decision, args, reason } = given;
  const message = reason === undefined ? {} : { message: reason };
  const turn = session.running;
  const call = turn?.reader.byId(given.call);
  if (decision === "deny") {
    turn?.denied.add(given.call);
    return { in: [], out: [response(request_id, { behavior: "deny", ...message })] };
  }
  const changed = args === undefined ? {} : { updated_arguments: args };
  const begun = args === undefined || call === undefined ? [] : (turn?.reader.begin(call.wireId, args) ?? []);
  return { in: begun, out: [response(request_id, { behavior: "approve", ...message, ...changed })] };
}

function response(request_id: string, result: object): Out {
  return { rec: { type: "control_response", request_id, response: { subtype: "success", result } } };
}

function hostAnswer(op: OpOf<"host.answer">, session: HostedSession, state: HostState): Step<Event> {
  const question = state.questions.get(op.request);
  if (question === undefined || question.kind === "approval" || question.session !== session) return replied(op, "noop");
  state.questions.delete(op.request);
  const settled: Event = { type: "host.settled", session: session.handle, request: op.request, ok: op.ok };
  if (question.kind === "tool") return { in: [settled], out: [toolResponse(op, question, session)] };
  if (!op.ok) {
    const error = { message: failureOf(op.data), retryable: false };
    return { in: [settled], out: [{ rec: { type: "control_response", request_id: op.request, response: { subtype: "error", error } } }] };
  }
  const result = question.kind === "mcp" ? { mcp_response: op.data ?? {} } : isRecord(op.data) ? op.data : {};
  return { in: [settled], out: [response(op.request, result)] };
}

/** A tool of the host has run. */
function toolResponse(op: OpOf<"host.answer">, question: Question & { kind: "tool" }, session: HostedSession): Out {
  const { call, name, promptId } = question;
  const outcome = op.ok ? { output: op.data ?? null } : { error: failureOf(op.data) };
  const part = { type: "function_response", function_response: { id: call, name, response: outcome } };
  const input = { origin: "tool_response", parts: [part], command: null };
  return { rec: { ...address(promptId, session), tool_call_id: call, input } };
}

function failureOf(data: unknown): string {
  if (typeof data === "string") return data;
  if (isRecord(data) && typeof data["message"] === "string") return data["message"];
  return "the host gave no reason";
}

// --- the session and the agent ---

/** The wire has no record for a change: the config goes with every request from now on. */
function configure(op: OpOf<"session.configure">, session: HostedSession): Step<Event> {
  if (op.patch.mode === "plan") return refused(op, "Qwen's wire cannot ask for plan mode within a session");
  session.config = { ...session.config, ...op.patch };
  const { handle, id } = session;
  const event: EventOf<"session.updated"> = { type: "session.updated", session: handle, config: op.patch };
  return {
    in: [{ ...event, ...(id !== undefined && { sessionId: id }), ...(op.id !== undefined && { parent: op.id }) }],
    out: [],
  };
}

/** The agent keeps the session: our side stops using it after its turn. */
function close(op: OpOf<"session.close">, session: HostedSession, state: HostState): Step<Event> {
  session.isClosing = true;
  session.waiting.length = 0;
  if (session.prompts.length > 0)
    return { in: [], out: session.prompts.map(({ promptId }) => cancel(promptId, undefined, session, state)) };
  state.sessions.delete(session.handle);
  return { in: [{ type: "session.ended", session: session.handle, ...(op.id !== undefined && { parent: op.id }) }], out: [] };
}

function ping(op: OpOf<"ping">, state: HostState): Step<Event> {
  state.pings.push(op.id ?? "");
  const id = op.session === undefined ? undefined : state.sessions.get(op.session)?.id;
  return { in: [], out: [heartbeat(id)] };
}

export function heartbeat(session_id: string | undefined): Out {
  return { rec: { type: "heartbeat_request", ...(session_id !== undefined && { session_id }) } };
}

/** A prompt id of its own identifies the answer. */
function suggest(op: OpOf<"command.suggest">, state: HostState): Step<Event> {
  const session = sessionOf(op, state);
  const named = session?.id === undefined ? {} : { session_id: session.id };
  const { trigger, text, cursor = text.length, context } = op;
  if (op.cancel === true) {
    const waits = [...state.hints].filter(([, hint]) => hint.trigger === trigger && hint.session === op.session);
    for (const [key] of waits) state.hints.delete(key);
    const over = waits.map(([, hint]): Event => reply(hint, "noop"));
    const out = waits.map(([prompt_id]): Out => ({ rec: { type: "command_hint_cancel", ...named, prompt_id, trigger } }));
    return { in: [...over, reply(op, "ok")], out };
  }
  const prompt_id = `${session?.id ?? "_new"}########preview-${op.id ?? ""}`;
  // A later hint of the same kind drops the earlier one.
  const earlier = [...state.hints].filter(([, hint]) => hint.trigger === trigger && hint.session === op.session);
  for (const [key] of earlier) state.hints.delete(key);
  state.hints.set(prompt_id, op);
  const record = { type: "command_hint_request", ...named, prompt_id, trigger, text, cursor, ...(context !== undefined && { context }) };
  return { in: earlier.map(([, hint]) => reply(hint, "noop")), out: [{ rec: record }] };
}
