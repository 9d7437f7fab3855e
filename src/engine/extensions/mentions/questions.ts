/** Mentions that need an approval: the host sees each as a call of Read, and is asked about all at once. */
import { textPart } from "../../../core/content.js";
import type { Call, EventOf } from "../../../core/event.js";
import { sameJson } from "../../../core/values/json-object.js";
import type { JudgedCall } from "../../permissions/permissions.js";
import type { Emit } from "../../turn/turn.js";
import type { ExtensionServices } from "../../session/control.js";

export interface Question {
  judged: JudgedCall;
  /** The text of the question. */
  message: string;
  /** Attaches it, or returns the reason against it. */
  attach(): Promise<string | undefined>;
  /** Leaves it out. */
  refuse(why: string): unknown;
}

export interface Asking {
  session: Pick<ExtensionServices, "approvals" | "callIds" | "permissions" | "answerSeconds" | "redactor">;
  emit: Emit;
  signal: AbortSignal;
}

type End = Pick<EventOf<"tool.ended">, "status" | "reason" | "output">;

/** Settles when all are answered and attached, or the turn is interrupted: every call has ended then. */
export async function askToAttach(questions: readonly Question[], asking: Asking): Promise<void> {
  const { session, emit, signal } = asking;
  if (questions.length === 0 || signal.aborted) return;
  const asked = questions.map((question) => ({ id: session.callIds.own(""), question }));
  /** Calls that the host has seen and that have not ended. */
  const open = new Set<string>();
  const end = (id: string, how: End): Promise<void> | undefined =>
    open.delete(id) ? emit({ type: "tool.ended", call: id, ...how }) : undefined;
  // The calls end at once, as no event of a turn may come after its end.
  const stop = (): void => {
    for (const id of open) void end(id, { status: "cancelled", reason: "interrupted" });
  };
  signal.addEventListener("abort", stop, { once: true });
  try {
    const calls = asked.map(({ id, question }) => described(id, question.judged));
    for (const call of calls) {
      if (signal.aborted) return;
      open.add(call.id);
      await emit({ type: "tool.requested", call });
    }
    if (signal.aborted) return;
    const answers = asked.map(({ id }) => session.approvals.wait(id, session.answerSeconds));
    const message = questions.map((question) => question.message).join("\n");
    await emit({ type: "approval.requested", calls, message, deadline: Date.now() + 1000 * session.answerSeconds });
    // Attachments keep the order of the prompt, whatever the order of answers and the time to read each file.
    for (const [at, { id, question }] of asked.entries()) await settle(id, question, answers[at]);
  } finally {
    signal.removeEventListener("abort", stop);
  }

  async function settle(id: string, question: Question, answer: ReturnType<typeof session.approvals.wait> | undefined): Promise<void> {
    const given = await answer;
    if (given === undefined || !open.has(id)) return;
    // The host cannot change the file. Arguments that come back as shown are unchanged.
    const isChanged = given.args !== undefined && !sameJson(given.args, session.redactor.value(question.judged.args));
    if (given.decision === "deny" || isChanged) {
      const reason = isChanged ? "another file was allowed in its place" : given.reason || "denied";
      question.refuse(reason);
      await end(id, { status: "denied", reason, output: [textPart(`Not attached: ${reason}`)] });
      return;
    }
    const text = await session.permissions.grants.add(given, question.judged);
    if (text !== undefined) await emit({ type: "notice", level: "warning", kind: "permissions", text });
    await emit({ type: "tool.started", call: id });
    const why = await question.attach();
    const output = [textPart(why === undefined ? "Attached to the prompt" : `Not attached: ${why}`)];
    await end(id, { status: why === undefined ? "ok" : "failed", output });
  }
}

function described(id: string, { tool: name, args, category, title, paths }: JudgedCall): Call {
  return { id, name, args, category, title, paths: paths.map(({ path }) => path) };
}
