/** Executes a prepared call: it waits for its approval and its turn, runs, and ends exactly once. */
import { textPart, type Part } from "../../core/content.js";
import { messageOf, ParleyError } from "../../core/errors.js";
import type { Category, EventOf } from "../../core/event.js";
import { sameJson } from "../../core/values/json-object.js";
import type { Answer } from "../../core/op.js";
import type { CallResult } from "../models/model.js";
import type { JudgedCall } from "../permissions/permissions.js";
import type { Tool, ToolResult } from "../tools/tool.js";
import type { TracedSpan } from "../trace/trace.js";
import { Interrupted, untilAborted } from "../turn/interrupt.js";
import type { Turn } from "../turn/turn.js";
import { capText } from "../workspace/output.js";
import { compactOutput } from "./compact-output.js";
import { CallContext } from "./context.js";
import { judgedCall, pastHooks, type Prepared, type Refused } from "./prepare.js";

type Status = EventOf<"tool.ended">["status"];
interface Ended {
  status: Status;
  parts: Part[];
  reason?: string;
}

export async function finishCall(turn: Turn, item: Prepared | Refused, answer: Promise<Answer> | undefined): Promise<CallResult> {
  const span = turn.trace?.tool(tracedCall(turn, item), item.kind === "ready" ? item.verdict.decision : undefined);
  const ended = item.kind === "refused" ? refusal(turn, item) : await settle(turn, item, answer, span);
  span?.endTool(ended.status);
  // The model's provider is a wire, too, and gets redacted text.
  const output = turn.session.redactor.value(ended.parts);
  const { id: call, name } = item.call;
  await turn.emit({ type: "tool.ended", call, status: ended.status, output, ...(ended.reason !== undefined && { reason: ended.reason }) });
  return { call, name, parts: output, failed: ended.status !== "ok" };
}

function tracedCall({ tools }: Turn, { call: { id, name } }: Prepared | Refused): { id: string; name?: string; category?: Category } {
  const tool = tools.get(name);
  return tool === undefined ? { id } : { id, name, category: tool.category };
}

async function settle(turn: Turn, item: Prepared, answer: Promise<Answer> | undefined, span: TracedSpan | undefined): Promise<Ended> {
  let line = turn.session.fileOrder.queueFor(writtenPaths(item.tool, item.judged));
  try {
    const permit = await untilAborted(turn.signal, permission(turn, item, answer, span));
    if ("denied" in permit) return denial(permit.denied);
    if (permit.changed) {
      line.leave();
      line = turn.session.fileOrder.queueFor(writtenPaths(item.tool, permit.judged));
    }
    await untilAborted(turn.signal, line.turn);
    return await withWords(turn, item, permit, await execute(turn, item, permit, span));
  } catch (error) {
    if (error instanceof Interrupted) return cancelled(turn.signal);
    // A tool that could not start is also an error of the turn; one that ran and failed is only a result.
    if (error instanceof ParleyError && error.fault.code === "launch")
      await turn.emit({ type: "error", fault: { ...error.fault, code: "tool" } });
    return failure(messageOf(error));
  } finally {
    line.leave();
  }
}

function writtenPaths(tool: Tool, { args, paths }: JudgedCall): string[] {
  return tool.paths(args).flatMap(({ write }, index) => (write ? [paths[index]?.path ?? ""] : []));
}

/** Adds the words of hooks to the result of a call, for the model and the host. */
async function withWords(turn: Turn, { call, changedByHook }: Prepared, { judged }: Permit, ended: Ended): Promise<Ended> {
  const change = changedByHook
    ? `A hook changed the arguments of this call to: ${capText(JSON.stringify(turn.session.redactor.value(judged.args)), CHANGED_CHARS)}`
    : "";
  const words = (await turn.hooks?.afterTool(call, judged, ended, turn)) ?? "";
  const added = [change, words].filter((text) => text !== "").map(textPart);
  return { ...ended, parts: [...ended.parts, ...added] };
}

const CHANGED_CHARS = 2000;

interface Permit {
  /** The judged call, with the model's arguments or the host's. */
  judged: JudgedCall;
  changed: boolean;
  /** The host's yes, if it was asked. */
  answer?: Answer;
}

async function permission(
  turn: Turn,
  item: Prepared,
  answer: Promise<Answer> | undefined,
  span: TracedSpan | undefined,
): Promise<Permit | { denied: string }> {
  if (item.verdict.decision === "deny") return { denied: item.verdict.reason };
  const unchanged = { judged: item.judged, changed: false };
  if (answer === undefined) return unchanged;
  const asking = span?.approval(item.tool.name);
  const given = await answer;
  asking?.endApproval(turn.signal.aborted ? { decision: "void" } : given);
  if (given.decision === "deny") return { denied: given.reason ?? "" };
  // A yes to a call that is always asked about covers this call alone.
  if (item.tool.asksAlways !== true && item.judged.needs === undefined) await grant(turn, item, given);
  // Arguments that come back as shown are unchanged: the host saw masks in place of secrets.
  if (given.args === undefined || sameJson(given.args, turn.session.redactor.value(item.judged.args)))
    return { ...unchanged, answer: given };
  const problem = item.tool.problem(given.args);
  if (problem !== undefined)
    throw new ParleyError({ code: "tool", message: `The host changed the arguments of ${item.tool.name} to invalid ones: ${problem}` });
  const hooked = await pastHooks(turn, item.call, item.tool, await judgedCall(turn.session, item.tool, given.args, turn.shell));
  if ("blocked" in hooked) return { denied: hooked.blocked };
  const verdict = await turn.session.permissions.judge(hooked.judged);
  if (verdict.decision === "deny") return { denied: verdict.reason };
  // The host's yes holds for a call that would only be asked about, unless a hook has changed what the host approved.
  if (verdict.decision === "ask" && hooked.changed) return { denied: "a hook changed the arguments that were approved" };
  return { judged: hooked.judged, changed: true, answer: given };
}

async function grant({ session, emit }: Turn, { judged, verdict }: Prepared, given: Answer): Promise<void> {
  const text = await session.permissions.grants.add(given, judged, verdict.decision === "ask" ? verdict.grant : undefined);
  if (text !== undefined) await emit({ type: "notice", level: "warning", kind: "permissions", text });
}

async function execute(turn: Turn, item: Prepared, permit: Permit, span: TracedSpan | undefined): Promise<Ended> {
  const release = await turn.access.enter(item.tool.access);
  const { args, paths } = permit.judged;
  const judged = paths.map(({ path }) => path);
  const context = new CallContext(turn, item.call.id, permit.judged, permit.answer?.grant, span);
  try {
    if (turn.signal.aborted) throw new Interrupted();
    await turn.emit({ type: "tool.started", call: item.call.id, ...(permit.changed && { args }) });
    // A call that only reads may run again after a crash. The start of a call that acts must be in the log first.
    if (item.tool.category !== "info") await turn.session.events.recorder.sync();
    if (turn.signal.aborted) throw new Interrupted();
    const result = await run(turn, item.tool, args, context);
    if (turn.signal.aborted) throw new Interrupted();
    const parts = shortened(result, item.tool, turn);
    if (result.failed === true) return { status: "failed", parts };
    return { status: "ok", parts: [...parts, ...(await nestedInstructions(turn, item.tool, judged))] };
  } finally {
    context.close();
    release();
  }
}

/** Changes that a command makes to files of this turn belong to the turn. */
async function run(turn: Turn, tool: Tool, args: Record<string, unknown>, context: CallContext): Promise<ToolResult> {
  const { signal, changes, session } = turn;
  const follow = ["exec", "mcp"].includes(tool.category) ? await changes?.watch(session.workspace) : undefined;
  try {
    const work = tool.run(args, context);
    return await (tool.endsItself === true ? work : untilAborted(signal, work));
  } finally {
    await follow?.();
  }
}

/**
 * Read's output stays exact, because the model may edit the text next. Text is redacted before it is cut: half a secret would not be found.
 */
function shortened({ parts }: ToolResult, tool: Tool, { config, session }: Turn): Part[] {
  const level = tool.name === "Read" ? "off" : (config.outputCompaction ?? "off");
  return parts.map((part) =>
    part.type === "text" || part.type === "terminal"
      ? { ...part, text: capText(session.redactor.text(compactOutput(part.text, level)), session.outputChars) }
      : part,
  );
}

/** The first file read in a folder adds the instructions of that folder. */
async function nestedInstructions({ session, history }: Turn, tool: Tool, paths: readonly string[]): Promise<Part[]> {
  if (tool.name !== "Read") return [];
  const found = await Promise.all(paths.map((path) => session.extensions.instructionsFor(path, history.briefing.nested)));
  return found.flat().map((text) => textPart(session.redactor.text(text)));
}

function refusal({ signal }: Turn, { why }: Refused): Ended {
  return why === undefined ? cancelled(signal) : failure(why);
}

function failure(why: string): Ended {
  return { status: "failed", parts: [{ type: "text", text: why }] };
}

/** The reason of an interrupt: the turn's time limit, else the user. */
function cancelled({ reason }: AbortSignal): Ended {
  if (reason instanceof ParleyError) return { status: "cancelled", parts: [textPart(reason.message)], reason: reason.message };
  return { status: "cancelled", parts: [textPart("Interrupted by the user")], reason: "interrupted" };
}

function denial(reason: string): Ended {
  return { status: "denied", parts: [{ type: "text", text: `Tool denied: ${reason === "" ? "no reason given" : reason}` }], reason };
}
