/** One request in the form of the provider packages: the common settings, and the wire's own. */
import type { LanguageModelV3CallOptions, LanguageModelV3FunctionTool } from "@ai-sdk/provider";
import type { ModelRequest, ToolSpec } from "../model.js";
import { toPrompt, type Target } from "./prompt.js";
import { objectSchema } from "../wires/object-schema.js";
import type { Wire, WireSettings } from "../wires/wire.js";

type Settings = Omit<WireSettings, "notes">;

export function callOptions(request: ModelRequest, target: Target, settings: Settings, signal: AbortSignal): LanguageModelV3CallOptions {
  const { wire } = target;
  return {
    prompt: toPrompt(request.system, request.messages, target),
    tools: request.tools.map((tool, at) => toTool(tool, wire, at === request.tools.length - 1)),
    abortSignal: signal,
    temperature: settings.noSampling === true ? undefined : request.temperature,
    topP: settings.noSampling === true ? undefined : request.topP,
    topK: settings.noSampling === true ? undefined : request.topK,
    stopSequences: request.stop,
    includeRawChunks: wire.usageSoFar !== undefined || wire.details !== undefined || wire.refusalIn !== undefined,
    maxOutputTokens: settings.maxOutputTokens,
    providerOptions: settings.providerOptions,
    ...(request.traceparent !== undefined && { headers: { traceparent: request.traceparent } }),
  };
}

function toTool({ name, description, parameters }: ToolSpec, wire: Wire, isLast: boolean): LanguageModelV3FunctionTool {
  const { cacheMark } = wire;
  return {
    type: "function",
    name,
    description: description.toWellFormed(),
    inputSchema: adapted(parameters, wire),
    ...(isLast && cacheMark !== undefined && { providerOptions: cacheMark }),
  };
}

type Schema = LanguageModelV3FunctionTool["inputSchema"];

/** Converted schemas by wire and schema: a tool's schema is the same in every request. */
const known = new WeakMap<Wire, WeakMap<object, Schema>>();

function adapted(parameters: ToolSpec["parameters"], wire: Wire): Schema {
  const schemas = known.get(wire) ?? new WeakMap<object, Schema>();
  known.set(wire, schemas);
  const schema = schemas.get(parameters) ?? (wire.toolSchema ?? objectSchema)(parameters);
  schemas.set(parameters, schema);
  return schema;
}
