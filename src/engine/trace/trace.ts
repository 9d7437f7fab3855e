/**
 * The spans that a session gives a tracer: their names and attributes, after the GenAI and MCP conventions of OpenTelemetry (1.41) where
 * these have a word. Loaded only where traces are collected.
 */
import { ParleyError } from "../../core/errors.js";
import type { Category, EventOf, Usage } from "../../core/event.js";
import type { Answer } from "../../core/op.js";
import type { Redactor } from "../../core/secrets/redact.js";
import type { Finish } from "../models/model.js";
import type { Attributes, NewSpan, Span, Tracer } from "./tracer.js";

interface NamedModel {
  readonly provider: string;
  readonly id: string;
}

interface Sampling {
  maxTokens?: number;
  temperature?: number;
  topP?: number;
  topK?: number;
}

/** A place in a trace: spans that begin here are below it, and carry the ids of its session and turn. */
export class Trace {
  readonly #begin: (span: NewSpan) => Span;
  readonly #ids: Attributes;
  readonly #redactor: Redactor;

  constructor(begin: (span: NewSpan) => Span, ids: Attributes, redactor: Redactor) {
    this.#begin = begin;
    this.#ids = ids;
    this.#redactor = redactor;
  }

  turn(turn: string): TracedSpan {
    const agent = { "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": AGENT };
    return this.#start("internal", `invoke_agent ${AGENT}`, agent, { "parley.turn.id": turn });
  }

  /** `kind` is the name of the definition or of a built-in kind. The model's name for the task is not told. */
  subAgent(kind: string): TracedSpan {
    return this.#start("internal", `invoke_agent ${kind}`, { "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": kind });
  }

  /** From the request to the end of its answer, tries that failed included. */
  modelCall(model: NamedModel, sampling: Sampling, purpose?: "compaction"): TracedSpan {
    return this.#start("client", `chat ${model.id}`, {
      "gen_ai.operation.name": "chat",
      ...modelAttributes(model),
      ...defined({
        "gen_ai.request.max_tokens": sampling.maxTokens,
        "gen_ai.request.temperature": sampling.temperature,
        "gen_ai.request.top_p": sampling.topP,
        "gen_ai.request.top_k": sampling.topK,
        "parley.purpose": purpose,
      }),
    });
  }

  /** A name that no tool has is the model's own word, and is not told. `judged` is the verdict of modes, rules, grants and hooks. */
  tool(call: { id: string; name?: string; category?: Category }, judged?: "allow" | "deny" | "ask"): TracedSpan {
    return this.#start("internal", `execute_tool ${call.name ?? "unknown"}`, {
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.type": "function",
      "gen_ai.tool.call.id": call.id,
      ...defined({ "gen_ai.tool.name": call.name, "parley.tool.category": call.category, "parley.tool.judged": judged }),
    });
  }

  approval(tool: string): TracedSpan {
    return this.#start("internal", `approval ${tool}`, { "gen_ai.tool.name": tool });
  }

  /** `target`: the tool's or the prompt's name. The address of a resource may be anything, and is not told. */
  mcpCall(server: string, method: "tools/call" | "prompts/get" | "resources/read", target?: string): TracedSpan {
    return this.#start("client", target === undefined ? method : `${method} ${target}`, {
      "mcp.method.name": method,
      "parley.mcp.server": server,
      ...(method === "tools/call" && { "gen_ai.operation.name": "execute_tool" }),
      ...defined({ [method === "prompts/get" ? "gen_ai.prompt.name" : "gen_ai.tool.name"]: target }),
    });
  }

  #start(kind: NewSpan["kind"], name: string, attributes: Attributes, ids: Attributes = {}): TracedSpan {
    const all = { ...this.#ids, ...ids };
    const span = this.#begin({
      kind,
      name: this.#redactor.text(name),
      attributes: this.#redactor.value({ ...all, ...attributes }),
    });
    return new TracedSpan(span, all, this.#redactor);
  }
}

export class TracedSpan extends Trace {
  readonly traceparent: string | undefined;
  readonly #span: Span;
  readonly #redact: Redactor;
  #retries = 0;

  constructor(span: Span, ids: Attributes, redactor: Redactor) {
    super((child) => span.start(child), ids, redactor);
    this.traceparent = span.traceparent;
    this.#span = span;
    this.#redact = redactor;
  }

  /** Tells the model that a turn asks. */
  model(model: NamedModel): void {
    this.#set(modelAttributes(model));
  }

  retried(): void {
    this.#retries++;
  }

  endTurn({ outcome, finish, usage, fault }: Pick<EventOf<"turn.ended">, "outcome" | "finish" | "usage" | "fault">): void {
    this.#set({ "parley.turn.outcome": outcome, ...finishAttributes(finish), ...usageAttributes(usage) });
    this.#span.end(outcome === "failed" ? (fault?.code ?? "internal") : undefined);
  }

  /** `error` is the error or interrupt that broke it off. */
  endModelCall({ finish, usage, error }: { finish?: Finish; usage: Usage | undefined; error?: unknown }): void {
    this.#set({
      ...finishAttributes(error === undefined ? finish : undefined),
      ...usageAttributes(usage),
      ...(this.#retries > 0 && { "parley.model.retries": this.#retries }),
    });
    this.end(error);
  }

  endTool(status: EventOf<"tool.ended">["status"]): void {
    this.#set({ "parley.tool.status": status });
    this.#span.end(status === "failed" ? "tool_error" : undefined);
  }

  /** `void`: the turn was interrupted before anybody answered. */
  endApproval({ decision, grant, args }: Pick<Answer, "grant" | "args"> & { decision: Answer["decision"] | "void" }): void {
    const changed = args === undefined ? undefined : true;
    this.#set({
      "parley.approval.decision": decision,
      ...defined({ "parley.approval.grant": grant, "parley.approval.changed": changed }),
    });
    this.#span.end();
  }

  /** An interrupt is no failure. */
  end(error?: unknown): void {
    this.#span.end(error === undefined ? undefined : kindOf(error));
  }

  /** Ends a span that was answered with a failure. */
  endFailed(kind: string): void {
    this.#span.end(kind);
  }

  #set(attributes: Attributes): void {
    this.#span.set(this.#redact.value(attributes));
  }
}

/** The trace of a session: its own, or below the host's where a prompt brings a trace context along. */
export function sessionTrace(
  tracer: Tracer,
  session: { handle: string; sessionId?: string | undefined },
  redactor: Redactor,
): SessionTrace {
  const ids = { "session.id": session.handle, "gen_ai.conversation.id": session.sessionId ?? session.handle };
  return {
    root: () => new Trace((span) => tracer.start(span), ids, redactor),
    below: (traceparent) => (isTraceparent(traceparent) ? new Trace((span) => tracer.start(span, traceparent), ids, redactor) : undefined),
  };
}

export interface SessionTrace {
  root(): Trace;
  /** Undefined where that is no traceparent. */
  below(traceparent: string): Trace | undefined;
}

const AGENT = "parley";

/** As W3C has it: later versions may say more, `ff` is none, and ids of zeros alone are no ids. */
function isTraceparent(text: string): boolean {
  const [, version, trace, span, more] = /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-[\da-f]{2}(-.*)?$/.exec(text) ?? [];
  if (version === undefined || version === "ff" || (version === "00" && more !== undefined)) return false;
  return !/^0+$/.test(trace ?? "") && !/^0+$/.test(span ?? "");
}

/** The names of providers in the conventions. */
const PROVIDERS: Readonly<Record<string, string>> = {
  bedrock: "aws.bedrock",
  gemini: "gcp.gemini",
  vertex: "gcp.vertex_ai",
  xai: "x_ai",
};

function modelAttributes({ provider, id }: NamedModel): Attributes {
  const name = Object.hasOwn(PROVIDERS, provider) ? PROVIDERS[provider] : undefined;
  return { "gen_ai.provider.name": name ?? provider, "gen_ai.request.model": id };
}

/** Our counts are disjoint; the conventions count cached tokens as input, and reasoning as output. */
function usageAttributes(usage: Usage | undefined): Attributes {
  if (usage === undefined) return {};
  const { input, output, cacheRead = 0, cacheWrite = 0, reasoning = 0 } = usage;
  return {
    "gen_ai.usage.input_tokens": input + cacheRead + cacheWrite,
    "gen_ai.usage.output_tokens": output + reasoning,
    ...(cacheRead > 0 && { "gen_ai.usage.cache_read.input_tokens": cacheRead }),
    ...(cacheWrite > 0 && { "gen_ai.usage.cache_creation.input_tokens": cacheWrite }),
    ...(reasoning > 0 && { "gen_ai.usage.reasoning.output_tokens": reasoning }),
  };
}

function finishAttributes(finish: string | undefined): Attributes {
  return finish === undefined ? {} : { "gen_ai.response.finish_reasons": [finish] };
}

function kindOf(error: unknown): string | undefined {
  if (error instanceof ParleyError) return error.fault.status === undefined ? error.fault.code : String(error.fault.status);
  if (error instanceof Error && error.name === "Interrupted") return undefined;
  return "internal";
}

function defined(attributes: Readonly<Record<string, Attributes[string] | undefined>>): Attributes {
  const known: Record<string, Attributes[string]> = {};
  for (const [name, value] of Object.entries(attributes)) if (value !== undefined) known[name] = value;
  return known;
}
