/** Questions of a driven agent: permissions for its calls, questions to the user, and messages for the MCP servers of our host. */
import * as v from "valibot";
import type { Call, Event } from "../../../../core/event.js";
import { isRecord } from "../../../../core/values/json-object.js";
import type { Answer, OpOf } from "../../../../core/op.js";
import type { Out, Step } from "../../../dialect.js";
import { QuestionAnswers, type Questions } from "../../../../core/question.js";
import { NOTHING, together } from "../../step.js";
import type { KnownCall, TurnReader } from "../../turn-reader.js";
import { callOf } from "./read-messages.js";
import { questionsIn, withAnswers } from "../user-questions.js";
import type { McpMessage, PermissionRequest } from "../wire.js";
import { granted, refusal } from "../write-lines.js";

/** The running turn, and its calls that our host denied. */
export interface AskedTurn {
  readonly told: TurnReader;
  readonly denied: Set<string>;
}

interface Permission {
  call: string;
  input: Record<string, unknown>;
  grants: Shown["grants"];
}

/** The texts of a question beside the call and its arguments. */
export interface Shown {
  /** Words about the question, told as its message. */
  title?: string | undefined;
  /** The agent's own title of the call. */
  callTitle?: string | undefined;
  covers?: Call["covers"];
  /** The fields of a yes that tell its reach, on wires with such fields. */
  grants?: ((answer: Answer) => object) | undefined;
}

/** A question to the user: the input of its tool, which goes back with the answers. */
interface Asked {
  input: Record<string, unknown>;
  questions: Questions;
}

interface Message {
  isNotification: boolean;
  id: unknown;
}

export class AgentQuestions {
  readonly #permissions = new Map<string, Permission>();
  readonly #messages = new Map<string, Message>();
  readonly #asked = new Map<string, Asked>();
  /** Early answers about calls that the wire has not asked about yet: it asks about one call at a time. */
  readonly #early = new Map<string, Answer>();

  // --- permissions ---

  /** `can_use_tool`: requests the call if its message is missing, and asks the host. */
  permission(request_id: string, { tool_name, tool_use_id, input }: PermissionRequest, shown: Shown, turn: AskedTurn): Step<Event> {
    const { told } = turn;
    const announced = told.request(callOf(tool_use_id, tool_name, input));
    const call = told.callOf(tool_use_id);
    if (call?.now !== "requested") return { in: announced, out: [refusal(request_id, "The call is not waiting")] };
    if (this.#requestOf(call.id) !== undefined) return { in: announced, out: [refusal(request_id, "The call is asked about already")] };
    const asks: Permission = { call: call.id, input, grants: shown.grants };
    this.#permissions.set(request_id, asks);
    const early = this.#early.get(call.id);
    const asked = { in: [...announced, ...told.closeBlock(call.under), question(call, input, shown, told)], out: [] };
    return early === undefined ? asked : together(asked, this.#decided(early, request_id, asks, turn));
  }

  /** `can_use_tool` when our side allows everything: the host is not asked. */
  allowed(request_id: string, { tool_name, tool_use_id, input }: PermissionRequest, { told }: AskedTurn): Step<Event> {
    const announced = told.request(callOf(tool_use_id, tool_name, input));
    const begun = told.begin(tool_use_id);
    return { in: [...announced, ...begun], out: [granted(request_id, { behavior: "allow", updatedInput: input })] };
  }

  /** Undefined if no call of the op has an open question or will have one. */
  answer({ answers }: OpOf<"approval.answer">, turn: AskedTurn | undefined): Step<Event> | undefined {
    const steps = answers.flatMap((given): Step<Event>[] => {
      const request_id = this.#requestOf(given.call);
      const asked = request_id === undefined ? undefined : this.#permissions.get(request_id);
      if (request_id !== undefined && asked !== undefined) return [this.#decided(given, request_id, asked, turn)];
      if (turn?.told.byId(given.call)?.now !== "requested") return [];
      this.#early.set(given.call, given);
      return [NOTHING];
    });
    return steps.length === 0 ? undefined : steps.reduce(together<Event>, NOTHING);
  }

  /** Starts an allowed call, as the wire has no start. Its arguments always go back with the permission. */
  #decided(given: Answer, request_id: string, { input, grants }: Permission, turn: AskedTurn | undefined): Step<Event> {
    this.#permissions.delete(request_id);
    if (given.decision === "deny") {
      turn?.denied.add(given.call);
      return { in: [], out: [granted(request_id, { behavior: "deny", message: given.reason ?? "Denied" })] };
    }
    const call = turn?.told.byId(given.call);
    const begun = call === undefined ? [] : (turn?.told.begin(call.wireId, given.args) ?? []);
    return { in: begun, out: [granted(request_id, { behavior: "allow", updatedInput: given.args ?? input, ...grants?.(given) })] };
  }

  #requestOf(call: string): string | undefined {
    return [...this.#permissions].find(([, asked]) => asked.call === call)?.[0];
  }

  /** The turn ended: its permissions are settled. */
  turnEnded(): void {
    this.#early.clear();
    this.#permissions.clear();
    this.#asked.clear();
  }

  // --- questions to the user ---

  /** `can_use_tool` for the tool that asks the user; undefined for an input of another form. */
  forUser(request_id: string, { tool_name, tool_use_id, input }: PermissionRequest, { told }: AskedTurn): Step<Event> | undefined {
    const questions = questionsIn(input);
    if (questions === undefined) return undefined;
    const announced = told.request(callOf(tool_use_id, tool_name, input));
    const call = told.callOf(tool_use_id)?.id;
    this.#asked.set(request_id, { input, questions });
    const question: Event = {
      type: "host.request",
      ...told.address,
      request: request_id,
      kind: "question",
      ...(call !== undefined && { call }),
      data: questions,
    };
    return { in: [...announced, ...told.begin(tool_use_id), question], out: [] };
  }

  /** Undefined if no question waits for this answer. */
  answerUser({ request, ok, data }: OpOf<"host.answer">, session: string): Step<Event> | undefined {
    const asked = this.#asked.get(request);
    if (asked === undefined) return undefined;
    this.#asked.delete(request);
    const settled: Event = { type: "host.settled", session, request, ok };
    const answer =
      ok && v.is(QuestionAnswers, data)
        ? { behavior: "allow", updatedInput: withAnswers(asked.input, asked.questions, data) }
        : { behavior: "deny", message: ok ? "The answer has no form that could be read" : failureOf(data) };
    return { in: [settled], out: [granted(request, answer)] };
  }

  // --- messages ---

  /** `mcp_message`: servers get messages before the first turn, too. */
  message(request_id: string, { server_name: server, message }: McpMessage, session: string): Event[] {
    this.#messages.set(request_id, { isNotification: message["id"] === undefined, id: message["id"] });
    return [{ type: "host.request", session, request: request_id, kind: "mcp", data: { server, message } }];
  }

  /** Undefined if no message waits for this answer. */
  answerMessage({ request, ok, data }: OpOf<"host.answer">, session: string): Step<Event> | undefined {
    const message = this.#messages.get(request);
    if (message === undefined) return undefined;
    this.#messages.delete(request);
    const settled: Event = { type: "host.settled", session, request, ok };
    if (!ok) return { in: [settled], out: [refusal(request, failureOf(data))] };
    // A notification is answered, too.
    const mcp_response = isRecord(data) ? data : { jsonrpc: "2.0", result: {}, id: message.isNotification ? 0 : message.id };
    return { in: [settled], out: [granted(request, { mcp_response })] };
  }

  /** `control_cancel_request`: the agent cancels a question. */
  cancelled(request_id: string, session: string): Event[] {
    this.#permissions.delete(request_id);
    if (!this.#messages.delete(request_id) && !this.#asked.delete(request_id)) return [];
    return [{ type: "host.settled", session, request: request_id, ok: false, reason: "the agent took it back" }];
  }
}

function question(
  { call, under }: KnownCall,
  input: Record<string, unknown>,
  { title, callTitle, covers }: Shown,
  { address }: TurnReader,
): Event {
  const message = title === undefined ? {} : { message: title };
  const asked = { ...call, args: input, ...(callTitle !== undefined && { title: callTitle }), ...(covers !== undefined && { covers }) };
  return { type: "approval.requested", ...address, ...(under !== undefined && { under }), calls: [asked], ...message };
}

function failureOf(data: unknown): string {
  if (typeof data === "string") return data;
  if (isRecord(data) && typeof data["message"] === "string") return data["message"];
  return "the host gave no reason";
}

/** Refuses an unreadable request: without an answer the turn would hang. */
export function refuseUnread(request_id: string, subtype: string, isKnown: boolean): Out {
  return refusal(request_id, isKnown ? `Invalid ${subtype}` : `Unknown control request subtype: ${subtype}`);
}
