/**
 * Questions to the host: whether a tool may run, a question for the user, a message for one of the host's MCP servers. Permissions are asked for
 * one after another, as hosts answer them; messages to servers go out at once.
 */
import * as v from "valibot";
import type { SessionConfig } from "../../../../core/config.js";
import type { Call, EventOf } from "../../../../core/event.js";
import { sameJson } from "../../../../core/values/json-object.js";
import type { Answer, Op } from "../../../../core/op.js";
import type { Out, SideEnv, Step } from "../../../dialect.js";
import { uuidOf } from "../uuid.js";
import { McpAnswer, Permission, type HostResponse } from "../wire.js";
import { controlRequestLine, takenBack } from "../write-lines.js";

/** The fields of `can_use_tool` that differ from wire to wire. */
export interface QuestionForm {
  /** The wire's name of a tool. */
  toolName: (name: string) => string;
  /** The fields of a permission request beside the tool, the call and the input. */
  permissionFields: (call: Call) => object;
  /** The same fields of a question to the user. */
  questionFields: object;
  /** Converts between the wire's arguments of a call and ours, where they differ. */
  input?: (call: Call) => Record<string, unknown>;
  args?: (tool: string, input: Record<string, unknown>) => Record<string, unknown>;
  /** The wire has a record that cancels a settled question. */
  takesBack?: true;
  /** Reads the reach of a yes, on wires with fields for it. */
  granted?: (answer: Permission, call: Call) => Granted;
}

interface HookCall {
  id: string;
  tool: string;
  input: Record<string, unknown>;
}

interface Granted {
  grant: NonNullable<Answer["grant"]>;
  /** A change of the session that the host makes with its answer. */
  patch?: SessionConfig;
}

/** The data of the answer to a request, from the input that came back. */
type AnswerOf = (input: Record<string, unknown>) => unknown;

interface Question {
  call: string;
  /** The call that a permission is for. */
  asked?: Call;
  tool: string;
  input: Record<string, unknown>;
  fields: object;
  /** The `host.request` that waits for the answer; undefined for a permission. */
  request?: string;
  answers?: AnswerOf;
}

export class Questions {
  readonly #env: SideEnv;
  readonly #form: QuestionForm;
  readonly #waiting: Question[] = [];
  /** The question that the host is being asked. */
  #open: { request_id: string; question: Question } | undefined;
  /** Calls that the host refused, with the reasons, for agents that report only a cancellation or a failure. */
  readonly #refusals = new Map<string, string>();
  /** Open messages to servers: the agent's request by the wire's. */
  readonly #messages = new Map<string, string>();

  constructor(env: SideEnv, form: QuestionForm) {
    this.#env = env;
    this.#form = form;
  }

  permissions(calls: readonly Call[]): Out[] {
    const { toolName, permissionFields, input } = this.#form;
    this.#waiting.push(
      ...calls.map((call) => ({
        call: call.id,
        asked: call,
        tool: toolName(call.name),
        input: input?.(call) ?? call.args ?? {},
        fields: permissionFields(call),
      })),
    );
    return this.#next();
  }

  /** A question of the model to the user: the permission's answer has the user's answers. */
  forUser(
    { request, call = request }: EventOf<"host.request">,
    tool: string,
    input: Record<string, unknown>,
    answers: AnswerOf = wordsForModel,
  ): Out[] {
    this.#waiting.push({ call, tool, input, fields: this.#form.questionFields, request, answers });
    return this.#next();
  }

  /** A hook wants the user to decide about a call, and may give a reason. */
  forHook(request: string, { id: call, tool, input }: HookCall, reason: string, answers: AnswerOf): Out[] {
    const fields = { display_name: tool, ...(reason !== "" && { decision_reason: reason }) };
    this.#waiting.push({ call, tool, input, fields, request, answers });
    return this.#next();
  }

  message({ request }: EventOf<"host.request">, server_name: string, message: unknown): Out[] {
    const request_id = this.#mint();
    this.#messages.set(request_id, request);
    return [controlRequestLine(request_id, { subtype: "mcp_message", server_name, message })];
  }

  /** Settles a question without the host: at the deadline, by an interrupt, or with the turn. */
  settled(isSettled: (question: { call: string; request?: string }) => boolean): Out[] {
    for (let at = this.#waiting.length - 1; at >= 0; at--) {
      const question = this.#waiting[at];
      if (question !== undefined && isSettled(question)) this.#waiting.splice(at, 1);
    }
    if (this.#open === undefined || !isSettled(this.#open.question)) return [];
    const { request_id } = this.#open;
    this.#open = undefined;
    return [...(this.#form.takesBack === true ? [takenBack(request_id)] : []), ...this.#next()];
  }

  /** Whether the host is asked about the call, by this request or by any. */
  askedAbout(request_id = this.#open?.request_id): string | undefined {
    return this.#open?.request_id === request_id ? this.#open?.question.call : undefined;
  }

  settledMessage(request: string): void {
    for (const [request_id, asked] of this.#messages) if (asked === request) this.#messages.delete(request_id);
  }

  /** An answer to no question, or to a settled one, changes nothing. */
  answered({ response }: HostResponse, address: () => { id: string; session: string }): Step<Op> {
    const { request_id } = response;
    const message = this.#messages.get(request_id);
    if (message !== undefined) {
      this.#messages.delete(request_id);
      return { in: [{ type: "host.answer", ...address(), request: message, ...messageAnswer(response) }], out: [] };
    }
    if (this.#open?.request_id !== request_id) return { in: [], out: [] };
    const { question } = this.#open;
    this.#open = undefined;
    const { ops, refusal, stops } = decided(question, response, address, this.#form);
    if (refusal !== undefined && (stops || question.request !== undefined)) this.#refusals.set(question.call, refusal);
    // The turn ends: its waiting questions are dropped.
    if (stops) this.#waiting.splice(0);
    return { in: ops, out: this.#next() };
  }

  /** The host's reason for refusing this call, for agents that do not tell it. */
  refusalOf(call: string): string | undefined {
    const reason = this.#refusals.get(call);
    this.#refusals.delete(call);
    return reason;
  }

  /** The host's input has ended: every open question is refused. */
  closed(reason: string, address: () => { id: string; session: string }): Op[] {
    const questions = [...(this.#open === undefined ? [] : [this.#open.question]), ...this.#waiting.splice(0)];
    this.#open = undefined;
    const failed = { subtype: "error", request_id: "", error: reason } as const;
    const messages = [...this.#messages.values()];
    this.#messages.clear();
    return [
      ...questions.flatMap((question) => decided(question, failed, address, this.#form).ops),
      ...messages.map((request): Op => ({ type: "host.answer", ...address(), request, ok: false, data: { message: reason } })),
    ];
  }

  #next(): Out[] {
    if (this.#open !== undefined) return [];
    const question = this.#waiting.shift();
    if (question === undefined) return [];
    const request_id = this.#mint();
    this.#open = { request_id, question };
    const { call, tool, input, fields } = question;
    return [controlRequestLine(request_id, { subtype: "can_use_tool", tool_name: tool, tool_use_id: call, input, ...fields })];
  }

  #mint(): string {
    return uuidOf(this.#env.stamp().id);
  }
}

interface Decided {
  ops: Op[];
  /** The reason of a host that said no. */
  refusal?: string | undefined;
  /** The turn ends with this answer. */
  stops: boolean;
}

function decided(
  question: Question,
  response: HostResponse["response"],
  address: () => { id: string; session: string },
  form: QuestionForm,
): Decided {
  const { stops = false, patch, ...answer } = verdictOf(question, response, form);
  const refusal = answer.decision === "deny" ? (answer.reason ?? "") : undefined;
  const stop: Op[] = stops ? [{ type: "turn.interrupt", ...address(), reason: refusal || "denied by the host" }] : [];
  const change: Op[] = patch === undefined ? [] : [{ type: "session.configure", ...address(), patch }];
  return { ops: [answered(question, answer, address), ...change, ...stop], refusal, stops };
}

function answered({ request, input, answers }: Question, answer: Answer, address: () => { id: string; session: string }): Op {
  if (request === undefined) return { type: "approval.answer", ...address(), answers: [answer] };
  if (answer.decision === "deny") return { type: "host.answer", ...address(), request, ok: false, data: { message: answer.reason } };
  return { type: "host.answer", ...address(), request, ok: true, data: answers?.(answer.args ?? input) };
}

/** An answer that does not clearly allow is a denial. Input that comes back unchanged is no change: its secrets were masked. */
function verdictOf(
  { call, asked, input }: Question,
  response: HostResponse["response"],
  form: QuestionForm,
): Answer & { stops?: boolean; patch?: SessionConfig } {
  if (response.subtype === "error") return { call, decision: "deny", reason: errorText(response.error) };
  const given = response.response;
  if (!v.is(Permission, given)) return { call, decision: "deny", reason: "the host's answer says neither allow nor deny" };
  const { behavior, updatedInput, message, interrupt } = given;
  if (behavior.toLowerCase() !== "allow")
    return { call, decision: "deny", reason: message ?? "", ...(interrupt === true && { stops: true }) };
  const changed = updatedInput && !sameJson(updatedInput, input) ? updatedInput : undefined;
  const granted = asked === undefined ? undefined : form.granted?.(given, asked);
  if (changed === undefined) return { call, decision: "allow", grant: "call", ...granted };
  const args = asked === undefined ? changed : (form.args?.(asked.name, changed) ?? changed);
  return { call, decision: "allow", grant: "call", ...granted, args };
}

function errorText(error: string | { message: string }): string {
  return `Error: ${typeof error === "string" ? error : error.message}`;
}

function messageAnswer(response: HostResponse["response"]): { ok: boolean; data: unknown } {
  if (response.subtype === "error") return { ok: false, data: { message: errorText(response.error) } };
  const given = response.response;
  if (v.is(McpAnswer, given) && given.mcp_response !== undefined) return { ok: true, data: given.mcp_response };
  return { ok: false, data: { message: "The host's answer has no mcp_response" } };
}

function wordsForModel(input: Record<string, unknown>): { text: string } {
  const answers = input["answers"];
  if (answers === undefined) return { text: "The user gave no answer." };
  return { text: `The user answered: ${typeof answers === "string" ? answers : JSON.stringify(answers)}` };
}
