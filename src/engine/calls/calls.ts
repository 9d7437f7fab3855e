/** The calls of one response: checked, approved, run side by side where that is safe, and answered each exactly once. */
import { relative } from "node:path";
import { textPart, type Part } from "../../core/content.js";
import { messageOf, ParleyError } from "../../core/errors.js";
import type { Call, Category, EventOf } from "../../core/event.js";
import { categoryOf } from "../../core/names.js";
import type { Answer } from "../../core/op.js";
import { sameJson } from "../../core/json-object.js";
import type { JudgedCall, Verdict } from "../permissions/permissions.js";
import { CallContext } from "./context.js";
import { callProblem } from "./problem.js";
import type { CallResult, ModelCall } from "../models/model.js";
import { compactOutput } from "./compact-output.js";
import { capText } from "../workspace/output.js";
import type { Hooks } from "../extensions/hooks/hooks.js";
import { Interrupted, untilAborted, type Run } from "../turn/run.js";
import type { Tool, ToolResult } from "../tools/tool.js";
import type { TracedSpan } from "../trace/trace.js";

/** A call that can run, and what was decided about it. */
interface Prepared {
  kind: "ready";
  call: ModelCall;
  tool: Tool;
  judged: JudgedCall;
  verdict: Verdict;
  /** What the model must know: its arguments are not what it wrote. */
  changedByHook: boolean;
  /** What people look at, where they are asked. */
  preview?: Part[];
}

/** A call that cannot run; the model is told why. */
interface Refused {
  kind: "refused";
  call: ModelCall;
  /** Absent: the turn was interrupted before the call was looked at. */
  why?: string;
}

/** What judging a call takes of a run. */
interface Judging {
  state: Pick<Run["state"], "workspace">;
  redactor: Run["redactor"];
}

type Status = EventOf<"tool.ended">["status"];
interface Ended {
  status: Status;
  parts: Part[];
  reason?: string;
}

export async function runCalls(run: Run, calls: readonly ModelCall[]): Promise<CallResult[]> {
  const room = run.budget.call(calls.length);
  const prepared = await prepareAll(run, calls, room);
  for (const item of prepared) await run.emit({ type: "tool.requested", call: describe(item) });
  const questions = run.signal.aborted
    ? []
    : prepared.filter((item): item is Prepared => item.kind === "ready" && item.verdict.decision === "ask");
  const answers = await requestApproval(run, questions);
  const results = await Promise.all(prepared.map((item) => finish(run, item, answers.get(item.call.id))));
  // One sync for all that acted. The model need not wait for it: what acts next does, with its own.
  if (prepared.some((item) => item.kind === "ready" && item.tool.category !== "info")) void run.persist();
  return results;
}

// --- before: what is this call, and may it run? ---

/** So many are judged at once. */
const TOGETHER = 16;

/** `room` of them are within the turn's budget. Between two groups of them the host is heard, so that it can interrupt. */
async function prepareAll(run: Run, calls: readonly ModelCall[], room: number): Promise<(Prepared | Refused)[]> {
  const prepared: (Prepared | Refused)[] = [];
  for (let from = 0; from < calls.length; from += TOGETHER) {
    if (from > 0) await new Promise((resolve) => setImmediate(resolve));
    const group = calls.slice(from, from + TOGETHER);
    prepared.push(...(await Promise.all(group.map((call, at) => prepare(run, call, from + at < room)))));
  }
  return prepared;
}

async function prepare(run: Run, call: ModelCall, withinBudget: boolean): Promise<Prepared | Refused> {
  if (run.signal.aborted) return { kind: "refused", call };
  if (!withinBudget) {
    const why = `${call.name} was not run: a turn has ${run.budget.toolCalls} tool calls at most (maxToolCalls)`;
    return { kind: "refused", call, why };
  }
  if (call.raw !== undefined && run.tools.has(call.name))
    return {
      kind: "refused",
      call,
      why: `The arguments of ${call.name} are not a JSON object: ${capText(run.redactor.text(call.raw), 200)}`,
    };
  const found = callProblem(call, run.tools, run.state.permissions.mode);
  if ("why" in found) return { kind: "refused", call, why: found.why };
  const { tool } = found;
  try {
    const judged = await judgedCall(run, tool, call.args);
    const hooked = await pastHooks(run, call, tool, judged);
    const ready = { kind: "ready" as const, call, tool, judged, changedByHook: false };
    if ("blocked" in hooked) return { ...ready, verdict: { decision: "deny", reason: hooked.blocked } };
    const { judged: final, changed: changedByHook } = hooked;
    const verdict = await run.state.permissions.judge(final);
    const preview = verdict.decision === "ask" ? await previewOf(run, tool, final.args) : [];
    return { ...ready, call: { ...call, args: final.args }, judged: final, verdict, changedByHook, ...(preview.length > 0 && { preview }) };
  } catch (error) {
    return { kind: "refused", call, why: messageOf(error) };
  }
}

/** A call that will fail has nothing to show; it says so itself when it runs. */
async function previewOf(run: Run, tool: Tool, args: Record<string, unknown>): Promise<Part[]> {
  return (await tool.preview?.(args, run.state.workspace, run.redactor).catch(() => [])) ?? [];
}

/** Changed arguments must hold before the tool's own schema, like the model's. */
async function pastHooks(run: Run, call: ModelCall, tool: Tool, judged: JudgedCall): ReturnType<Hooks["beforeTool"]> {
  const rejudge = (args: Record<string, unknown>): Promise<JudgedCall> => {
    const problem = tool.problem(args);
    if (problem !== undefined) throw new ParleyError({ code: "tool", message: problem });
    return judgedCall(run, tool, args);
  };
  return (await run.hooks?.beforeTool(call, judged, rejudge, run)) ?? { judged, changed: false };
}

/** A call as the permissions judge it. */
export async function judgedCall(run: Judging, tool: Tool, args: Record<string, unknown>): Promise<JudgedCall> {
  const places = await Promise.all(tool.paths(args).map(({ path }) => run.state.workspace.resolve(path)));
  const { root } = run.state.workspace;
  return {
    tool: tool.name,
    wholeName: tool.wholeName?.(args),
    category: tool.category,
    args,
    paths: places.map(({ path, inside, named }) => ({
      path,
      ...(inside && { relative: relative(root, path) }),
      named: { path: named, relative: relative(root, named) },
    })),
    // Redacted before it is cut to a line: half a secret would not be known again.
    title: tool.title(run.redactor.value(args)),
    outside: places.find((place) => !place.inside)?.path,
    hosted: tool.hosted === true,
    grants: tool.grants?.(args) ?? [],
    asksAlways: tool.asksAlways === true,
  };
}

function describe(item: Prepared | Refused): Call {
  const { id, name, args } = item.call;
  if (item.kind === "refused") return { id, name, args, category: categoryOf(name) };
  const paths = item.judged.paths.map(({ path }) => path);
  const { preview } = item;
  return {
    id,
    name,
    args,
    category: item.tool.category,
    title: item.judged.title,
    ...(paths.length > 0 && { paths }),
    ...(preview !== undefined && { preview }),
  };
}

/** In a question: with what a yes may cover beyond it. */
function asked(item: Prepared): Call {
  const grant = item.verdict.decision === "ask" ? item.verdict.grant : undefined;
  return { ...describe(item), ...(grant !== undefined && { covers: grant.covers }) };
}

/** One request for all that must be asked; the answers come one by one. */
async function requestApproval(run: Run, questions: readonly Prepared[]): Promise<Map<string, Promise<Answer>>> {
  if (questions.length === 0) return new Map();
  const { approvals, answerSeconds } = run.state;
  const answers = new Map(questions.map(({ call }) => [call.id, approvals.wait(call.id, answerSeconds)]));
  const messages = questions.flatMap(({ verdict }) => (verdict.decision === "ask" ? [verdict.message] : []));
  await run.emit({
    type: "approval.requested",
    calls: questions.map(asked),
    message: messages.join("\n"),
    deadline: Date.now() + answerSeconds * 1000,
  });
  return answers;
}

// --- after: run it, and say what came of it ---

async function finish(run: Run, item: Prepared | Refused, answer: Promise<Answer> | undefined): Promise<CallResult> {
  const span = run.trace?.tool(tracedCall(run, item), item.kind === "ready" ? item.verdict.decision : undefined);
  const ended = item.kind === "refused" ? refusal(run, item) : await settle(run, item, answer, span);
  span?.endTool(ended.status);
  // The model's provider is a wire too.
  const output = run.redactor.value(ended.parts);
  const { id: call, name } = item.call;
  await run.emit({ type: "tool.ended", call, status: ended.status, output, ...(ended.reason !== undefined && { reason: ended.reason }) });
  return { call, name, parts: output, failed: ended.status !== "ok" };
}

function tracedCall({ tools }: Run, { call: { id, name } }: Prepared | Refused): { id: string; name?: string; category?: Category } {
  const tool = tools.get(name);
  return tool === undefined ? { id } : { id, name, category: tool.category };
}

async function settle(run: Run, item: Prepared, answer: Promise<Answer> | undefined, span: TracedSpan | undefined): Promise<Ended> {
  let line = run.state.locks.queueFor(writtenPaths(item.tool, item.judged));
  try {
    const permit = await untilAborted(run.signal, permission(run, item, answer, span));
    if ("denied" in permit) return denial(permit.denied);
    if (permit.changed) {
      line.leave();
      line = run.state.locks.queueFor(writtenPaths(item.tool, permit.judged));
    }
    await untilAborted(run.signal, line.turn);
    return await withWords(run, item, permit, await execute(run, item, permit, span));
  } catch (error) {
    if (error instanceof Interrupted) return cancelled(run.signal);
    // A tool that could not even be started is an error of the turn as well; one that ran and failed is only a result.
    if (error instanceof ParleyError && error.fault.code === "launch")
      await run.emit({ type: "error", fault: { ...error.fault, code: "tool" } });
    return failure(messageOf(error));
  } finally {
    line.leave();
  }
}

function writtenPaths(tool: Tool, { args, paths }: JudgedCall): string[] {
  return tool.paths(args).flatMap(({ write }, index) => (write ? [paths[index]?.path ?? ""] : []));
}

/** What hooks have to say about a call that ran goes with its result, for the model and the host. */
async function withWords(run: Run, { call, changedByHook }: Prepared, { judged }: Permit, ended: Ended): Promise<Ended> {
  const change = changedByHook
    ? `A hook changed the arguments of this call to: ${capText(JSON.stringify(run.redactor.value(judged.args)), CHANGED_CHARS)}`
    : "";
  const words = (await run.hooks?.afterTool(call, judged, ended, run)) ?? "";
  const added = [change, words].filter((text) => text !== "").map(textPart);
  return { ...ended, parts: [...ended.parts, ...added] };
}

const CHANGED_CHARS = 2000;

interface Permit {
  /** What may run, as it was judged: the model's arguments or the host's. */
  judged: JudgedCall;
  changed: boolean;
  /** The host's yes, where it was asked. */
  answer?: Answer;
}

async function permission(
  run: Run,
  item: Prepared,
  answer: Promise<Answer> | undefined,
  span: TracedSpan | undefined,
): Promise<Permit | { denied: string }> {
  const { permissions } = run.state;
  if (item.verdict.decision === "deny") return { denied: item.verdict.reason };
  const unchanged = { judged: item.judged, changed: false };
  if (answer === undefined) return unchanged;
  const asking = span?.approval(item.tool.name);
  const given = await answer;
  asking?.endApproval(run.signal.aborted ? { decision: "void" } : given);
  if (given.decision === "deny") return { denied: given.reason ?? "" };
  // A yes to what is always asked covers this call alone.
  if (item.tool.asksAlways !== true)
    permissions.grant(given, item.judged, item.verdict.decision === "ask" ? item.verdict.grant : undefined);
  // What comes back as it was shown is no change: a secret in it was not shown.
  if (given.args === undefined || sameJson(given.args, run.redactor.value(item.judged.args))) return { ...unchanged, answer: given };
  const problem = item.tool.problem(given.args);
  if (problem !== undefined)
    throw new ParleyError({ code: "tool", message: `The host changed the arguments of ${item.tool.name} to invalid ones: ${problem}` });
  const hooked = await pastHooks(run, item.call, item.tool, await judgedCall(run, item.tool, given.args));
  if ("blocked" in hooked) return { denied: hooked.blocked };
  const verdict = await permissions.judge(hooked.judged);
  if (verdict.decision === "deny") return { denied: verdict.reason };
  // What would only be asked about has the host's yes, if it is what the host said yes to.
  if (verdict.decision === "ask" && hooked.changed) return { denied: "a hook changed the arguments that were approved" };
  return { judged: hooked.judged, changed: true, answer: given };
}

async function execute(run: Run, item: Prepared, permit: Permit, span: TracedSpan | undefined): Promise<Ended> {
  const release = await run.state.locks.enter(item.tool.access);
  const { args, paths } = permit.judged;
  const judged = paths.map(({ path }) => path);
  const context = new CallContext(run, item.call.id, judged, permit.answer?.grant, span);
  try {
    if (run.signal.aborted) throw new Interrupted();
    await run.emit({ type: "tool.started", call: item.call.id, ...(permit.changed && { args }) });
    // What only reads may be read again; what acts must be known to have been started.
    if (item.tool.category !== "info") await run.persist();
    if (run.signal.aborted) throw new Interrupted();
    const work = item.tool.run(args, context);
    const result = await (item.tool.endsItself === true ? work : untilAborted(run.signal, work));
    if (run.signal.aborted) throw new Interrupted();
    return { status: result.failed === true ? "failed" : "ok", parts: shortened(result, item.tool, run) };
  } finally {
    context.close();
    release();
  }
}

/** What is read must be told exactly: it may be edited next. Redacted before the cut: half a secret would not be known again. */
function shortened({ parts }: ToolResult, tool: Tool, { state, outputCompaction, redactor }: Run): Part[] {
  const level = tool.name === "Read" ? "off" : outputCompaction;
  return parts.map((part) =>
    part.type === "text" || part.type === "terminal"
      ? { ...part, text: capText(redactor.text(compactOutput(part.text, level)), state.outputChars) }
      : part,
  );
}

function refusal({ signal }: Run, { why }: Refused): Ended {
  return why === undefined ? cancelled(signal) : failure(why);
}

function failure(why: string): Ended {
  return { status: "failed", parts: [{ type: "text", text: why }] };
}

/** A turn that is out of time says so; else it was the user. */
function cancelled({ reason }: AbortSignal): Ended {
  if (reason instanceof ParleyError) return { status: "cancelled", parts: [textPart(reason.message)], reason: reason.message };
  return { status: "cancelled", parts: [textPart("Interrupted by the user")], reason: "interrupted" };
}

function denial(reason: string): Ended {
  return { status: "denied", parts: [{ type: "text", text: `Tool denied: ${reason === "" ? "no reason given" : reason}` }], reason };
}
