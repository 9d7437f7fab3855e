/** The calls of one response before they run: each is checked, judged and, if needed, asked about. */
import { relative } from "node:path";
import type { Part } from "../../core/content.js";
import { messageOf, ParleyError } from "../../core/errors.js";
import type { Call } from "../../core/event.js";
import { categoryOf } from "../../core/names.js";
import type { Answer } from "../../core/op.js";
import type { Hooks } from "../extensions/hooks/hooks.js";
import type { ModelCall } from "../models/model.js";
import type { CallPath } from "../permissions/path-pattern.js";
import type { JudgedCall, Verdict } from "../permissions/permissions.js";
import type { EquivalentCall as JudgedEquivalent } from "../permissions/ruled-call.js";
import type { Needs } from "../sandbox/sandbox.js";
import type { SessionServices } from "../session/services.js";
import type { EquivalentCall, Tool } from "../tools/tool.js";
import type { Turn } from "../turn/turn.js";
import { workspaceFor } from "./workspace-for.js";
import { capText } from "../workspace/output.js";
import type { Workspace } from "../workspace/workspace.js";
import { callProblem } from "./problem.js";

/** A call that can run, and the decision about it. */
export interface Prepared {
  kind: "ready";
  call: ModelCall;
  tool: Tool;
  judged: JudgedCall;
  verdict: Verdict;
  /** A hook changed the arguments; the model must be told. */
  changedByHook: boolean;
  /** The preview for people who are asked about the call. */
  preview?: Part[];
}

/** A call that cannot run; the model is told why. */
export interface Refused {
  kind: "refused";
  call: ModelCall;
  /** Undefined: the turn was interrupted before the call was checked. */
  why?: string;
}

/** The number of calls that are judged at once. */
const TOGETHER = 16;

/** `room` of them are within the turn's budget. The host can interrupt between two groups of them. */
export async function prepareAll(turn: Turn, calls: readonly ModelCall[], room: number): Promise<(Prepared | Refused)[]> {
  const prepared: (Prepared | Refused)[] = [];
  for (let from = 0; from < calls.length; from += TOGETHER) {
    if (from > 0) await new Promise((resolve) => setImmediate(resolve));
    const group = calls.slice(from, from + TOGETHER);
    prepared.push(...(await Promise.all(group.map((call, at) => prepare(turn, call, from + at < room)))));
  }
  return prepared;
}

async function prepare(turn: Turn, call: ModelCall, withinBudget: boolean): Promise<Prepared | Refused> {
  if (turn.signal.aborted) return { kind: "refused", call };
  if (!withinBudget) {
    const { isShare, toolCalls } = turn.budget;
    const most = isShare ? `this sub-agent's share is ${toolCalls} tool calls` : `a turn has ${toolCalls} tool calls at most`;
    const why = `${call.name} was not run: ${most} (maxToolCalls)`;
    return { kind: "refused", call, why };
  }
  if (call.raw !== undefined && turn.tools.has(call.name))
    return {
      kind: "refused",
      call,
      why: `The arguments of ${call.name} are not a JSON object: ${capText(turn.session.redactor.text(call.raw), 200)}`,
    };
  const found = callProblem(call, turn.tools, turn.session.permissions.mode);
  if ("why" in found) return { kind: "refused", call, why: found.why };
  const { tool } = found;
  try {
    const judged = await judgedCall(turn.session, tool, call.args, turn.shell);
    const hooked = await pastHooks(turn, call, tool, judged);
    const ready = { kind: "ready" as const, call, tool, judged, changedByHook: false };
    if ("blocked" in hooked) return { ...ready, verdict: { decision: "deny", reason: hooked.blocked } };
    const { judged: final, changed: changedByHook } = hooked;
    const verdict = await turn.session.permissions.judge(final);
    const preview = verdict.decision === "ask" ? await previewOf(turn, tool, final.args) : [];
    return { ...ready, call: { ...call, args: final.args }, judged: final, verdict, changedByHook, ...(preview.length > 0 && { preview }) };
  } catch (error) {
    return { kind: "refused", call, why: messageOf(error) };
  }
}

/** A call that will fail has no preview; its run reports the problem. */
async function previewOf(turn: Turn, tool: Tool, args: Record<string, unknown>): Promise<Part[]> {
  return (await tool.preview?.(args, workspaceFor(turn), turn.session.redactor).catch(() => [])) ?? [];
}

/** Asks the hooks. Arguments that they change are checked by the tool's schema, like the model's. */
export async function pastHooks(turn: Turn, call: ModelCall, tool: Tool, judged: JudgedCall): ReturnType<Hooks["beforeTool"]> {
  const rejudge = (args: Record<string, unknown>): Promise<JudgedCall> => {
    const problem = tool.problem(args);
    if (problem !== undefined) throw new ParleyError({ code: "tool", message: problem });
    return judgedCall(turn.session, tool, args, turn.shell);
  };
  return (await turn.hooks?.beforeTool(call, judged, rejudge, turn)) ?? { judged, changed: false };
}

/** A call as the permissions see it. The session's own output files count as inside for tools that read. */
export async function judgedCall(
  { workspace, redactor, outputs }: Pick<SessionServices, "workspace" | "redactor"> & Partial<Pick<SessionServices, "outputs">>,
  tool: Tool,
  args: Record<string, unknown>,
  shell?: Turn["shell"],
): Promise<JudgedCall> {
  const named = tool.paths(args);
  const places = await Promise.all(named.map(({ path }) => workspace.resolve(path)));
  const equivalents = tool.equivalents?.(args) ?? [];
  const needs = workspace.sandbox === undefined ? undefined : tool.needs?.(args);
  const written = places.filter((_, at) => named[at]?.write === true).map(({ path }) => path);
  return {
    tool: tool.name,
    wholeName: tool.wholeName?.(args),
    category: tool.category,
    args,
    paths: places.map((place) => callPath(workspace, place)),
    ...(equivalents.length > 0 && { equivalents: await Promise.all(equivalents.map((each) => judgedEquivalent(workspace, tool, each))) }),
    // The title is redacted before it is cut to a line: half a secret would not be found.
    title: tool.title(redactor.value(args)),
    outside: places.find(({ inside, path }) => !inside && !(tool.category === "info" && outputs?.has(path) === true))?.path,
    ...(tool.confined === true &&
      workspace.sandbox !== undefined && { confined: needs?.outside !== true, needs: needsText(needs, written) }),
    ...(tool.name === "Bash" && {
      folder: (typeof args["workdir"] === "string" ? places[0]?.path : undefined) ?? shell?.folder ?? workspace.root,
    }),
    hosted: tool.hosted === true,
    grants: tool.grants?.(args) ?? [],
    asksAlways: tool.asksAlways === true,
  };
}

/** The words of a question about a call that needs more than the sandbox gives. */
function needsText(needs: Pick<Needs, "network" | "outside"> = {}, written: readonly string[]): string | undefined {
  if (needs.outside === true) return "to run outside the sandbox";
  const words = [...(needs.network === true ? ["the network"] : []), ...written.map((path) => `to write to ${path}`)];
  return words.length === 0 ? undefined : words.join(" and ");
}

export function callPath({ root }: Pick<Workspace, "root">, { path, inside, named }: Awaited<ReturnType<Workspace["resolve"]>>): CallPath {
  return { path, ...(inside && { relative: relative(root, path) }), named: { path: named, relative: relative(root, named) } };
}

async function judgedEquivalent(workspace: Workspace, { standsFor }: Tool, call: EquivalentCall): Promise<JudgedEquivalent> {
  const { path, onlyForbids, ...rest } = call;
  const paths = path === undefined ? [] : [callPath(workspace, await workspace.resolve(path))];
  return {
    ...rest,
    paths,
    ...(path !== undefined && standsFor !== undefined && { forbiddenAs: standsFor }),
    ...(onlyForbids !== undefined && { onlyForbids }),
  };
}

export function describe(item: Prepared | Refused): Call {
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

/** The call for the question, with the calls that a wider yes would cover. */
function questionOf(item: Prepared, agent: string | undefined): Call {
  const grant = item.verdict.decision === "ask" ? item.verdict.grant : undefined;
  const title = named(item.judged.title, agent);
  return { ...describe(item), title, ...(grant !== undefined && { covers: grant.covers }) };
}

/** A sub-agent's question begins with its name, on one line. */
function named(words: string, agent: string | undefined): string {
  return agent === undefined ? words : `${agent.replace(/\s+/g, " ")}: ${words}`;
}

/** One request for all calls that need an approval; the answers may come one by one. */
export async function requestApproval(turn: Turn, questions: readonly Prepared[]): Promise<Map<string, Promise<Answer>>> {
  if (questions.length === 0) return new Map();
  const { approvals, answerSeconds } = turn.session;
  const answers = new Map(questions.map(({ call }) => [call.id, approvals.wait(call.id, answerSeconds)]));
  const messages = questions.flatMap(({ verdict }) => (verdict.decision === "ask" ? [named(verdict.message, turn.name)] : []));
  await turn.emit({
    type: "approval.requested",
    calls: questions.map((item) => questionOf(item, turn.name)),
    message: messages.join("\n"),
    deadline: Date.now() + answerSeconds * 1000,
  });
  return answers;
}
