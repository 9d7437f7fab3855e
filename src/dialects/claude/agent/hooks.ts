/**
 * Hooks of the host. The agent asks about an event once; every callback whose matcher fits is asked by `hook_callback`, all at the same
 * time, and their answers become one: a block wins, then changed arguments, and all contexts count.
 */
import * as v from "valibot";
import type { SessionConfig } from "../../../core/config.js";
import { textPart } from "../../../core/content.js";
import type { EventOf } from "../../../core/event.js";
import { isRecord, sameJson } from "../../../core/values/json-object.js";
import type { Op } from "../../../core/op.js";
import type { Out, SideEnv, Step } from "../../dialect.js";
import { uuidOf } from "../../kit/stream-json/uuid.js";
import type { HostResponse } from "../../kit/stream-json/wire.js";
import { controlRequestLine, takenBack } from "../../kit/stream-json/write-lines.js";
import { type HookMatcher, HOOKS, HookOutput, OwnInput, type OwnAnswer } from "../wire/hooks.js";
import { wireTool } from "../wire/names.js";
import { ownArgs, wireInput } from "../wire/tool-input.js";
import { resultData } from "./tool-results.js";

/** A callback's answer; `failed` if it cannot be read. */
type Said = { output: HookOutput } | { failed: string };

interface Pending {
  request: string;
  /** The event by the wire's name. */
  event: string;
  input: OwnInput;
  /** The callbacks that have not answered. */
  readonly waits: Map<string, HookMatcher>;
  readonly said: Said[];
}

const Asked = v.looseObject({ callback: v.string(), input: OwnInput });

type Address = () => { id: string; session: string };

/** The fields about the session that each callback gets. */
interface Surroundings {
  sessionId: string;
  cwd: string;
  mode: string;
  model: string;
  /** How the session began, in the wire's word for it. */
  source: "startup" | "resume" | "fork";
}

interface HookedCall {
  id: string;
  tool: string;
  /** Its arguments on the wire, as the hooks changed them. */
  input: Record<string, unknown>;
  /** The answer that lets it run with these arguments. */
  running(input: Record<string, unknown>): OwnAnswer;
}

/** The decision of all callbacks of one event. */
export interface HookVerdict {
  request: string;
  event: string;
  call: HookedCall | undefined;
  prompt: string;
  /** Undefined where the agent itself decides. */
  decision: "allow" | "ask" | "block" | undefined;
  reason: string;
  /** The reason for which a hook ends the turn. */
  stops: string | undefined;
}

/** Receives each decision, and writes its lines. */
type OnVerdict = (verdict: HookVerdict) => Out[];

export class HostHooks {
  readonly #env: SideEnv;
  #matchers: ReadonlyMap<string, readonly HookMatcher[]> = new Map();
  readonly #pending: Pending[] = [];
  /** A hook of the event Stop let this turn go on. */
  #goesOn = false;

  constructor(env: SideEnv) {
    this.#env = env;
  }

  /** Takes the hooks of `initialize`: the config that makes the agent ask, and the events that it never asks about. */
  register(hooks: Readonly<Record<string, readonly HookMatcher[]>>): { config: SessionConfig; unknown: string[] } {
    this.#matchers = new Map(Object.entries(hooks).filter(([, matchers]) => matchers.length > 0));
    const known = Object.entries(HOOKS).filter(([, names]) => names.some((name) => this.#matchers.has(name)));
    const names: readonly string[] = Object.values(HOOKS).flat();
    const unknown = [...this.#matchers.keys()].filter((name) => !names.includes(name));
    if (known.length === 0) return { config: {}, unknown };
    return { config: { hostHooks: Object.fromEntries(known.map(([event]) => [event, event])) }, unknown };
  }

  turnEnded(): void {
    this.#goesOn = false;
  }

  /** Asks the callbacks that match an event; without one the agent goes on at once. */
  ask({ request, data }: EventOf<"host.request">, surroundings: Surroundings, address: Address): Step<Op> {
    if (!v.is(Asked, data)) return { in: [answer(request, {}, address)], out: [] };
    const { input } = data;
    const event = eventOf(input);
    const tool = input.call === undefined ? "" : wireTool(input.call.name);
    const callbacks = (this.#matchers.get(event) ?? [])
      .filter((matcher) => fits(matcher, event === "SessionStart" ? surroundings.source : tool))
      .flatMap((matcher) => matcher.hookCallbackIds.map((id) => ({ id, matcher })));
    if (callbacks.length === 0) return { in: [answer(request, {}, address)], out: [] };
    const told = {
      ...commonFields(surroundings),
      hook_event_name: event,
      ...fieldsOf(event, input, tool, { ...surroundings, goesOn: this.#goesOn }),
    };
    const pending: Pending = { request, event, input, waits: new Map(), said: [] };
    this.#pending.push(pending);
    const out = callbacks.map(({ id, matcher }): Out => {
      const request_id = uuidOf(this.#env.stamp().id);
      pending.waits.set(request_id, matcher);
      const about = input.call === undefined ? {} : { tool_use_id: input.call.id };
      return controlRequestLine(request_id, { subtype: "hook_callback", callback_id: id, input: told, ...about });
    });
    return { in: [], out };
  }

  /** Takes an answer of a callback; undefined for an answer to another request. `unasked` is why the host is asked about no call. */
  answered({ response }: HostResponse, address: Address, unasked: string | undefined, onVerdict: OnVerdict): Step<Op> | undefined {
    const pending = this.#pending.find(({ waits }) => waits.has(response.request_id));
    const matcher = pending?.waits.get(response.request_id);
    if (pending === undefined || matcher === undefined) return undefined;
    pending.waits.delete(response.request_id);
    const one = saidIn(response);
    // A hook that fails blocks the call, unless its host chose `continue`.
    pending.said.push("failed" in one && matcher.onFailure === "continue" ? { output: {} } : one);
    if (pending.waits.size > 0) return { in: [], out: [] };
    this.#forget(pending.request);
    const { own: said, decision, reason, stops } = denying(combined(pending), unasked);
    const { request, event, input } = pending;
    const { call } = input;
    if (event === "Stop" && decision === "block" && stops === undefined) this.#goesOn = true;
    const out = onVerdict({
      request,
      event,
      call: call && {
        id: call.id,
        tool: wireTool(call.name),
        input: wireInput(call.name, said.args ?? call.args),
        running: (given) => (sameJson(given, wireInput(call.name, call.args)) ? {} : { args: ownArgs(call.name, given) }),
      },
      prompt: input.prompt ?? "",
      decision,
      reason,
      stops,
    });
    if (decision === "ask" && call !== undefined && stops === undefined) return { in: [], out };
    const stop: Op[] = stops === undefined || event === "Stop" ? [] : [{ type: "turn.interrupt", ...address(), reason: stops }];
    const own = stops === undefined ? said : ending(event, said, stops);
    return { in: [answer(request, own, address), ...stop], out };
  }

  /** Cancels the callbacks of a request that the agent has settled. */
  settled(request: string): Out[] {
    const pending = this.#pending.find((one) => one.request === request);
    this.#forget(request);
    return [...(pending?.waits.keys() ?? [])].map((request_id) => takenBack(request_id));
  }

  closed(reason: string, address: Address): Op[] {
    return this.#pending
      .splice(0)
      .map(({ request }): Op => ({ type: "host.answer", ...address(), request, ok: false, data: { message: reason } }));
  }

  #forget(request: string): void {
    const at = this.#pending.findIndex((one) => one.request === request);
    if (at !== -1) this.#pending.splice(at, 1);
  }
}

function commonFields({ sessionId, cwd, mode }: Surroundings): object {
  return { session_id: sessionId, transcript_path: "", cwd, permission_mode: mode };
}

function eventOf({ event, status }: OwnInput): string {
  const names = Object.entries(HOOKS).find(([own]) => own === event)?.[1] ?? [];
  const [first = event, failed] = names;
  return failed !== undefined && status !== "ok" ? failed : first;
}

function fieldsOf(
  event: string,
  { call, prompt, output }: OwnInput,
  tool: string,
  { goesOn, source, model, cwd }: Surroundings & { goesOn: boolean },
): object {
  const about = call === undefined ? {} : { tool_name: tool, tool_input: wireInput(call.name, call.args), tool_use_id: call.id };
  switch (event) {
    case "PreToolUse":
      return about;
    case "PostToolUse":
      return { ...about, tool_response: responseOf(call, output ?? "", cwd) };
    case "PostToolUseFailure":
      return { ...about, error: output ?? "" };
    case "UserPromptSubmit":
      return { prompt: prompt ?? "" };
    case "Stop":
      return { stop_hook_active: goesOn, last_assistant_message: output ?? "" };
    default:
      return { source, model };
  }
}

function responseOf(call: OwnInput["call"], output: string, cwd: string): unknown {
  if (call === undefined) return output;
  return resultData({ name: call.name, input: call.args, output: [textPart(output)] }, { cwd, took: 0, todos: [] }) ?? output;
}

/** A matcher is a regular expression for a whole name (that of a tool, or of how a session began), or `*`. An invalid expression fits everything: a guard must not be skipped. */
function fits({ matcher }: HookMatcher, name: string): boolean {
  if (matcher === undefined || matcher === null || matcher === "" || matcher === "*" || name === "") return true;
  try {
    return new RegExp(`^(?:${matcher})$`).test(name);
  } catch {
    return true;
  }
}

function saidIn(response: HostResponse["response"]): Said {
  if (response.subtype === "error") {
    const { error } = response;
    return { failed: typeof error === "string" ? error : error.message };
  }
  const given = response.response ?? {};
  return v.is(HookOutput, given) ? { output: given } : { failed: "its answer cannot be read" };
}

/** Where nobody is asked, a hook that wants the user to decide denies the call. */
function denying(verdict: Combined, unasked: string | undefined): Combined {
  if (verdict.decision !== "ask" || unasked === undefined) return verdict;
  return { ...verdict, own: { ...verdict.own, decision: "block", reason: unasked }, decision: "block", reason: unasked };
}

type Combined = Pick<HookVerdict, "decision" | "reason" | "stops"> & { own: OwnAnswer };

function combined({ said, event, input: { call } }: Pending): Combined {
  const result: Combined = { own: {}, decision: undefined, reason: "", stops: undefined };
  const contexts: string[] = [];
  for (const one of said) {
    if ("failed" in one) {
      result.own = { ...result.own, decision: "block", reason: `The host's hook failed: ${one.failed}` };
      continue;
    }
    const { decision, reason, stopReason, hookSpecificOutput: specific } = one.output;
    const verdict = specific?.permissionDecision ?? undefined;
    if (verdict === "deny" || decision === "block")
      result.own = { ...result.own, decision: "block", reason: specific?.permissionDecisionReason ?? reason ?? "" };
    if (verdict === "ask") {
      result.decision = "ask";
      result.reason = specific?.permissionDecisionReason ?? "";
    }
    if (verdict === "allow" || decision === "approve") result.decision ??= "allow";
    if (isRecord(specific?.updatedInput)) result.own = { ...result.own, args: ownArgs(call?.name ?? "", specific.updatedInput) };
    if (specific?.additionalContext) contexts.push(specific.additionalContext);
    // No turn runs when a session begins: there is nothing to end.
    if (one.output.continue === false && event !== "SessionStart") result.stops = stopReason ?? "A hook of the host ended the turn";
  }
  if (contexts.length > 0) result.own = { ...result.own, context: contexts.join("\n\n") };
  return result.own.decision === "block" ? { ...result, decision: "block", reason: result.own.reason ?? "" } : result;
}

/** A hook ends the turn: what it was asked before does not happen, and a turn that is at its end does not go on. */
function ending(event: string, said: OwnAnswer, reason: string): OwnAnswer {
  if (event === "Stop") return {};
  return event === "PreToolUse" || event === "UserPromptSubmit" ? { ...said, decision: "block", reason } : said;
}

function answer(request: string, data: OwnAnswer, address: Address): Op {
  return { type: "host.answer", ...address(), request, ok: true, data };
}
