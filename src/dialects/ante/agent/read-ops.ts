/** Client → daemon, read: operations become ops. */
import type { Mode, SessionConfig } from "../../../core/config.js";
import { textPart } from "../../../core/content.js";
import type { Answer, Op } from "../../../core/op.js";
import type { SideEnv } from "../../dialect.js";
import { echo } from "../../kit/issues.js";
import { nameOf, readId, wireId } from "../wire/ids.js";
import type { Refusal } from "./operations.js";
import { readSpec, readThinking } from "../wire/spec.js";
import type { AgentState, Operation } from "./state.js";
import type { WireSessionConfig } from "../wire/records.js";

/** The ops for an operation; a refusal if it has no effect now. */
export function opsOf(operation: Operation, state: AgentState, env: SideEnv): Op[] | Refusal {
  const { id } = operation;
  switch (operation.name) {
    case "StartSession":
      return [start(operation.fields, id, state, env)];
    case "ResumeSession":
      return resume(operation.fields.session_id, id, state, env);
    case "Shutdown":
      state.leaver = id;
      return [{ type: "shutdown", id, when: "now" }];
    case "RegisterLocalProvider":
      return [register(operation.fields, id, state)];
    case "RestoreLocalProvider":
      return restore(id, state);
    default:
  }
  const session = state.live?.handle;
  if (session === undefined)
    return operation.name === "Interrupt" ? [] : { problem: `${operation.name}: there is no session; send StartSession first`, id };
  switch (operation.name) {
    case "UserInput":
      return [{ type: "turn.prompt", id, session, turn: env.stamp().id, parts: [textPart(operation.fields)] }];
    case "SlashCommand": {
      const { name, args } = operation.fields;
      const command = { name, args: args ?? "", of: "skill" as const };
      return [{ type: "turn.prompt", id, session, turn: env.stamp().id, parts: [], command }];
    }
    case "Steer":
      return [{ type: "turn.steer", id, session, parts: [textPart(operation.fields)] }];
    case "Interrupt":
      return [interrupt(id, session, state.live?.turn)];
    case "UpdateSession":
      return [{ type: "session.configure", id, session, patch: readSpec(operation.fields.model) }];
    case "ApprovalResponse":
      return answer(operation.fields, id, session, state.live?.turn);
    default:
      operation satisfies never;
      return [];
  }
}

// --- sessions ---

function start(fields: WireSessionConfig, id: string, state: AgentState, env: SideEnv): Op {
  const session = env.stamp().id;
  const pinned = fields.provider === "local" ? state.local?.config : undefined;
  const config = { ...state.defaults, ...sessionConfig(fields), ...pinned };
  state.opening = { handle: session, op: id, resumes: false, config, early: [] };
  return { type: "session.open", id, session, open: "new", config };
}

const MODES: Readonly<Record<NonNullable<WireSessionConfig["policy"]>, Mode>> = {
  default: "default",
  strict: "default",
  Ask: "default",
  Deny: "default",
  auto: "auto_edit",
  yolo: "yolo",
  Auto: "yolo",
};

function sessionConfig(fields: WireSessionConfig): SessionConfig {
  const policy = fields.policy ?? fields.permission_mode;
  return {
    model: fields.model,
    provider: fields.provider,
    streaming: fields.streaming ?? true,
    ...(policy != null && { mode: MODES[policy] }),
    // The vocabulary has no such mode, and a resumed session must keep the policy.
    ...(policy === "Deny" && { policy }),
    ...(fields.system_prompt != null && { system: fields.system_prompt }),
    ...(fields.append_system_prompt != null && { appendSystem: fields.append_system_prompt }),
    ...(fields.allowed_tools != null && { allowedTools: fields.allowed_tools }),
    ...(fields.disallowed_tools != null && { disallowedTools: fields.disallowed_tools }),
    ...(fields.cwd != null && { cwd: fields.cwd }),
    ...(fields.thinking != null && { thinking: readThinking(fields.thinking) }),
  };
}

/**
 * Resumes a session with its stored config. A live session must end first, so our side asks whether its log still
 * exists.
 */
function resume(sessionId: string, id: string, state: AgentState, env: SideEnv): Op[] | Refusal {
  const read = readId(sessionId);
  if ("problem" in read) return { problem: `Failed to resume session: session_id '${echo(sessionId)}': ${read.problem}`, id };
  const name = nameOf(read.id);
  const isLive = state.live !== undefined && nameOf(state.live.id) === name;
  if (isLive && state.live?.isKept === false)
    return { problem: "Failed to resume session: this session is not saved, so it goes on as it is", id };
  state.opening = { handle: name, op: id, resumes: true, config: {}, early: [] };
  if (!isLive) return [resumption(name, id)];
  const asks = env.stamp().id;
  state.opening.asks = asks;
  return [{ type: "session.list", id: asks }];
}

export function resumption(name: string, id: string): Op {
  return { type: "session.open", id, session: name, open: "resume", sessionId: name, after: { seq: -1 } };
}

// --- the local provider ---

type Register = Extract<Operation, { name: "RegisterLocalProvider" }>["fields"];

function register({ port, model }: Register, id: string, state: AgentState): Op {
  const config = model == null ? {} : readSpec(model);
  state.local = {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    model: model == null ? undefined : (model.name ?? model.id ?? undefined),
    config,
  };
  return setLocal(id, state.local);
}

function setLocal(id: string, { baseUrl, model }: NonNullable<AgentState["local"]>): Op {
  return { type: "provider.set", id, name: "local", baseUrl, ...(model !== undefined && { model }) };
}

/** The live session is the one to resume. */
function restore(id: string, state: AgentState): Op[] | Refusal {
  if (state.local === undefined)
    return { problem: "RestoreLocalProvider: no local provider was registered; send RegisterLocalProvider first", id };
  const again = setLocal(id, state.local);
  if (state.live === undefined) return [again];
  const patch = { ...state.local.config, provider: "local", model: state.local.model ?? "default" };
  return [again, { type: "session.configure", id, session: state.live.handle, patch }];
}

// --- turns ---

/** The wire's interrupt names no turn: it is for the last turn that the client was told, else the running one. */
function interrupt(id: string, session: string, turn: string | undefined): Op {
  return { type: "turn.interrupt", id, session, ...(turn !== undefined && { turn }), reason: "turn cancelled" };
}

/** `Abort` ends the turn as well. */
function answer(
  { turn_id, responses }: Extract<Operation, { name: "ApprovalResponse" }>["fields"],
  id: string,
  session: string,
  turn: string | undefined,
): Op[] | Refusal {
  const read = readId(turn_id);
  if ("problem" in read) return { problem: `turn_id '${echo(turn_id)}': ${read.problem}`, id };
  if (turn === undefined || read.id !== wireId("step", turn))
    return { problem: `No approval is pending for the turn ${read.id}`, id, isHarmless: true };
  const answers = responses.map(([call, decision]): Answer => {
    if (decision === "Accept") return { call, decision: "allow", grant: "call" };
    if (decision === "AcceptForSession") return { call, decision: "allow", grant: "tool" };
    return { call, decision: "deny", reason: "skipped by the user" };
  });
  // Open approvals are void with their turn.
  if (responses.some(([, decision]) => decision === "Abort"))
    return [{ type: "turn.interrupt", id, session, turn, reason: "aborted by the user" }];
  return [{ type: "approval.answer", id, session, answers }];
}
