/** The host's side of the wire: one process for each turn. The side adds events that the wire lacks: `session.ready` and `turn.started`. */
import type { SessionConfig } from "../../../core/config.js";
import { unsaidKeys, type UnsaidKeys } from "../../../core/session-keys.js";
import type { Fault } from "../../../core/errors.js";
import type { Event } from "../../../core/event.js";
import type { Op, OpOf } from "../../../core/op.js";
import type { Side, SideEnv, Step } from "../../dialect.js";
import { refusal, reply, warning } from "../../kit/reply.js";
import { NOTHING } from "../../kit/step.js";
import { TurnReader } from "../../kit/turn-reader.js";
import { HostTurn } from "./read-turns.js";
import { writeLaunch, type Conversation } from "./write-ops.js";
import type { Options } from "../wire/options.js";

export function hostSide(options: Options, env: SideEnv): Side<Event, Op> {
  const conversation: Conversation = { sessionId: "", name: "default", cwd: undefined };
  /** Undefined before an open, or when the open was refused. */
  let session: string | undefined;
  let turn: HostTurn | undefined;
  /** The agent used wire 0.1 in an earlier turn. */
  let spokeLines = false;
  return {
    read(frame) {
      if (turn === undefined || "launch" in frame) return NOTHING;
      const step = "bad" in frame ? { in: turn.unreadable(frame.bad), out: [] } : turn.line(frame.rec);
      for (const event of step.in) if (event.type === "session.updated") conversation.sessionId = event.sessionId ?? "";
      return step;
    },
    write(op) {
      switch (op.type) {
        case "session.open":
          return opened(op);
        case "turn.prompt":
          return prompted(op);
        case "turn.interrupt":
          return interrupted(op);
        case "approval.answer":
          return turn?.answer(op.answers) ?? NOTHING;
        case "session.configure":
        case "session.seed":
        case "session.close":
        case "session.list":
        case "session.watch":
        case "session.rewind":
        case "session.delete":
        case "session.mark":
        case "provider.set":
        case "turn.steer":
        case "host.answer":
        case "command.suggest":
        case "ping":
        case "shutdown":
        case "other":
          return NOTHING;
        default:
          op satisfies never;
          return NOTHING;
      }
    },
    quiet: () => turn?.quiet() ?? NOTHING,
    end(closed) {
      const events = turn?.end(closed) ?? [];
      spokeLines ||= turn?.speaksLines === true;
      turn = undefined;
      return { in: events, out: [] };
    },
  };

  function opened(op: OpOf<"session.open">): Step<Event> {
    const { config = {} } = op;
    const fault = refusalOf(op);
    session = undefined;
    if (fault !== undefined) return { in: [refusal(op, fault)], out: [] };
    session = op.session;
    conversation.sessionId = op.open === "new" ? "" : (op.sessionId ?? "");
    conversation.name = op.name ?? "default";
    conversation.cwd = config.cwd;
    const ready: Event = {
      type: "session.ready",
      session,
      ...(op.id !== undefined && { parent: op.id }),
      sessionId: conversation.sessionId,
      version: options.wire === "auto" ? "0.1" : options.wire,
      config: config.cwd === undefined ? {} : { cwd: config.cwd },
      capabilities: { tool_approval: options.permission },
    };
    const left = unsaidWishes(config);
    const text = `The agent cannot be told by its protocol: ${left.join(", ")}`;
    return { in: left.length === 0 ? [ready] : [ready, warning(text, session, "agentproc")], out: [] };
  }

  function prompted(op: OpOf<"turn.prompt">): Step<Event> {
    if (session === undefined) return { in: [refusal(op, UNOPENED)], out: [] };
    const reader = new TurnReader({ session, turn: op.turn ?? env.stamp().id, ...(op.id !== undefined && { parent: op.id }) });
    const started = reader.start();
    // An agent of wire 0.1 does not ask, and may read its input to the end.
    const isListening = options.permission && !(options.unsure && spokeLines);
    const begun = new HostTurn(reader, options, isListening);
    const asked = writeLaunch(op, conversation, options, isListening);
    if (typeof asked === "string") {
      const fault: Fault = { code: "usage", message: asked, retryable: false };
      return { in: [...started, ...reader.close({ outcome: "failed", reason: asked, fault })], out: [] };
    }
    turn = begun;
    const { launch, first } = asked;
    const lost = unsendable(op);
    const warnings = [
      ...(asked.warning === undefined ? [] : [asked.warning]),
      ...(lost.length === 0 ? [] : [`An agent of this protocol cannot be given ${lost.join(", ")}`]),
    ];
    return {
      in: [...started, ...warnings.flatMap((words) => begun.warn(words))],
      out: [{ launch }, ...(first === undefined ? [] : [{ rec: first }])],
    };
  }

  /** The wire's interrupt is a signal. */
  function interrupted(op: OpOf<"turn.interrupt">): Step<Event> {
    const isMeant = turn !== undefined && (op.turn === undefined || op.turn === turn.id);
    if (turn !== undefined && isMeant) turn.interrupted = true;
    return { in: [reply(op, isMeant ? "ok" : "noop")], out: isMeant ? [{ kill: true }] : [] };
  }
}

const UNOPENED: Fault = { code: "session", message: "There is no session: it could not be opened", retryable: false };

/** The reason for refusing a session: without a requested restriction the agent could do more than it may. */
function refusalOf({ open, sessionId, session, config = {} }: OpOf<"session.open">): Fault | undefined {
  if (open !== "new" && sessionId === undefined) {
    const message = `No session '${session}' is known here: an agent of this protocol names its sessions itself`;
    return { code: "session", message, retryable: false };
  }
  const limits = unsaid(config).restrictions;
  if (limits.length === 0) return undefined;
  const message = `An agent of this protocol cannot be restricted (${limits.join(", ")}); restrict it by its own configuration`;
  return { code: "unsupported", message, retryable: false };
}

function unsendable({ parts, command, overrides }: OpOf<"turn.prompt">): string[] {
  return [
    ...parts.filter((part) => part.type === "resource" && part.text === undefined).map(({ type }) => `a part of type ${type}`),
    ...Object.entries({ command, overrides }).flatMap(([name, value]) => (value === undefined ? [] : [name])),
  ];
}

/** Settings about approvals have no effect here, as this wire asks about nothing. */
const UNASKED: readonly string[] = ["approveTools", "rules"];

function unsaid(config: SessionConfig): UnsaidKeys {
  return unsaidKeys(config, (word) => word === "cwd");
}

function unsaidWishes(config: SessionConfig): string[] {
  const { wishes, bounds } = unsaid(config);
  return [...wishes, ...bounds].filter((key) => !UNASKED.includes(key));
}
