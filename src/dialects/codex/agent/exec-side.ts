/** `codex exec --json`: one prompt from the command line, its turn as lines, and an exit code. It asks no questions. */
import * as v from "valibot";
import { textPart } from "../../../core/content.js";
import type { Event, EventOf, Usage } from "../../../core/event.js";
import type { Answer, Op } from "../../../core/op.js";
import { addUsage } from "../../../core/usage.js";
import { isRecord } from "../../../core/values/json-object.js";
import type { Launch } from "../../../core/wire.js";
import type { Out, Side, SideEnv, Step } from "../../dialect.js";
import { agentSideOf } from "../../kit/agent-side.js";
import { NOTHING } from "../../kit/step.js";
import type { ExecRecord } from "../wire/exec.js";
import { writeExecUsage } from "../wire/usage.js";
import { ExecItems } from "./exec-items.js";
import { schemaOf, STRUCTURED, structuredTools } from "./schema.js";

/** The record by which our own command hands over the prompt. */
const ExecPrompt = v.strictObject({ prompt: v.string() });

export function execSide(env: SideEnv): Side<Op, Event> {
  const session = env.stamp().id;
  const items = new ExecItems();
  let schema: Record<string, unknown> | undefined;
  let usage: Usage | undefined;
  let structured: { value: unknown } | undefined;
  let failure: string | undefined;
  /** Only the first refusal is reported: the later ones are its consequences. */
  let isRefused = false;
  let isOver = false;
  return agentSideOf(
    {
      launch: launched,
      read: asksPrompt,
      bad: () => NO_LINES,
      write,
      // After the prompt stdin may end: the turn goes on, and this side answers its questions.
      isHolding: () => !isOver,
    },
    env,
  );

  function asksPrompt(rec: unknown): Step<Op> {
    if (!v.is(ExecPrompt, rec)) return NO_LINES;
    const tools = schema === undefined ? {} : { overrides: { hostTools: structuredTools(schema) } };
    const parts = [textPart(rec.prompt)];
    return { in: [{ type: "turn.prompt", id: env.stamp().id, session, turn: env.stamp().id, parts, ...tools }], out: [] };
  }

  function launched({ argv, open, cwd }: Launch): Step<Op> {
    const given = valuesOf(argv, "--json-schema").at(-1);
    schema = given === undefined ? undefined : schemaOf(JSON.parse(given));
    const { open: how = "new", config, ...more } = open ?? {};
    return {
      in: [
        { type: "session.open", id: env.stamp().id, session, open: how, ...more, config: { ...(cwd !== undefined && { cwd }), ...config } },
      ],
      out: [],
    };
  }

  function write(event: Event): Step<Op> {
    if (event.replay === true) return NOTHING;
    switch (event.type) {
      case "session.ready":
        return line({ type: "thread.started", thread_id: event.sessionId ?? session });
      case "turn.started":
        return line({ type: "turn.started" });
      case "approval.requested":
        return { in: [denied(event)], out: [] };
      case "host.request":
        return requested(event);
      case "usage":
        if (event.scope === "call") usage = addUsage(usage, event.usage);
        return NOTHING;
      case "error":
        failure = event.fault.message;
        return event.turn === undefined ? line(...items.failure(event.fault.message)) : NOTHING;
      case "turn.ended":
        return ended(event);
      case "closed":
        return event.reason === undefined || isOver ? NOTHING : { in: [], out: [{ exit: 1, reason: event.reason }] };
      case "reply":
        return event.status === "error" ? refused(event) : NOTHING;
      default:
        return line(...items.of(event));
    }
  }

  function line(...recs: ExecRecord[]): Step<Op> {
    return { in: [], out: recs.map((rec): Out => ({ rec })) };
  }

  function denied({ calls }: EventOf<"approval.requested">): Op {
    const reason = "nobody can be asked while codex exec runs; --sandbox says what may run unasked";
    const answers = calls.map(({ id }): Answer => ({ call: id, decision: "deny", reason }));
    return { type: "approval.answer", id: env.stamp().id, session, answers };
  }

  /** Answers a request to the host. The result for the schema ends the turn; all other requests are refused. */
  function requested({ request, kind, data, turn }: EventOf<"host.request">): Step<Op> {
    const isResult = kind === "tool" && isRecord(data) && data["name"] === STRUCTURED;
    const head = { id: env.stamp().id, session, request };
    if (!isResult) return { in: [{ type: "host.answer", ...head, ok: false, data: { message: "codex exec has nobody to ask" } }], out: [] };
    structured = { value: data["args"] ?? {} };
    const stop: Op = {
      type: "turn.interrupt",
      id: env.stamp().id,
      session,
      ...(turn !== undefined && { turn }),
      reason: "the result was handed over",
    };
    return { in: [{ type: "host.answer", ...head, ok: true, data: "The result was handed over" }, stop], out: [] };
  }

  function ended(event: EventOf<"turn.ended">): Step<Op> {
    const last = structured === undefined ? items.rest() : [...items.rest(), ...items.message(JSON.stringify(structured.value))];
    if (structured !== undefined || (event.outcome === "completed" && (schema === undefined || items.endsInJson)))
      return over(...last, { type: "turn.completed", usage: writeExecUsage(event.usage ?? usage ?? { input: 0, output: 0 }) });
    // An interrupted turn ends without a line of its own.
    if (event.outcome === "interrupted") return over(...last);
    const reason = event.fault?.message ?? failure ?? event.reason ?? "The turn failed";
    const message = event.outcome === "completed" ? "The model ended without a result that has the schema" : reason;
    const { out } = line(...last, { type: "error", message }, { type: "turn.failed", error: { message } });
    return { in: [], out: [...out, { exit: 1 }] };
  }

  function over(...recs: ExecRecord[]): Step<Op> {
    isOver = true;
    return line(...recs);
  }

  function refused({ to, fault }: EventOf<"reply">): Step<Op> {
    if (isRefused || (to !== "session.open" && to !== "turn.prompt")) return NOTHING;
    isRefused = true;
    return { in: [], out: [{ exit: 1, reason: fault?.message ?? `The agent refused the ${to}` }] };
  }
}

const NO_LINES: Step<Op> = { in: [], out: [{ exit: 1, reason: "codex exec takes one prompt, and no lines" }] };

function valuesOf(argv: readonly string[], flag: string): string[] {
  return argv.flatMap((word, at) => (argv[at - 1] === flag ? [word] : []));
}
