/** Tools of the host, as functions: how they are declared to the agent, and how a call of one is answered. */
import type { HostTool } from "../core/config.js";
import { messageOf, ParleyError } from "../core/errors.js";
import type { EventOf } from "../core/event.js";
import { isRecord } from "../core/values/json-object.js";
import type { StandardSchema } from "./standard-schema.js";

/** A JSON Schema, or a schema of any library that keeps the Standard Schema contract and can tell its JSON Schema. */
export type ToolParameters = Readonly<Record<string, unknown>> | StandardSchema;

/**
 * A tool that the model may call and your program runs.
 *
 * @example
 * const weather = {
 *   description: "The weather of a city.",
 *   parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
 *   run: async ({ city }) => `sunny in ${city}`,
 * };
 */
export interface Tool {
  description: string;
  /** None: the tool takes no arguments. */
  parameters?: ToolParameters;
  /** Returns the text for the model; anything else goes to it as JSON. An error is told to the model as a failure. */
  run(args: Record<string, unknown>, context: { signal: AbortSignal; call: string | undefined }): unknown;
}

/** Tools by the name that the model calls them by. */
export type Tools = Readonly<Record<string, Tool>>;

export function declared(tools: Tools): HostTool[] {
  return Object.entries(tools).map(([name, { description, parameters }]) => ({
    name,
    description,
    parameters: parameters === undefined ? { type: "object", properties: {} } : jsonSchemaOf(name, parameters),
  }));
}

function jsonSchemaOf(tool: string, parameters: ToolParameters): Record<string, unknown> {
  if (!isStandard(parameters)) return { ...parameters };
  const told = parameters["~standard"].jsonSchema?.input({ target: "draft-07" });
  if (told !== undefined) return told;
  const message = `The parameters of the tool '${tool}' cannot be told as JSON Schema by their library: give the JSON Schema itself`;
  throw new ParleyError({ code: "usage", message, retryable: false });
}

function isStandard(parameters: ToolParameters): parameters is StandardSchema {
  return typeof parameters["~standard"] === "object";
}

interface Outcome {
  ok: boolean;
  data: unknown;
}

/** Never throws. Undefined when the request is no call of one of these tools. */
export async function runTool(tools: Tools, event: EventOf<"host.request">, signal: AbortSignal): Promise<Outcome | undefined> {
  if (event.kind !== "tool" || !isRecord(event.data)) return undefined;
  const { name, args } = event.data;
  const tool = typeof name === "string" && Object.hasOwn(tools, name) ? tools[name] : undefined;
  if (tool === undefined) return undefined;
  try {
    const checked = await checkedArgs(tool, isRecord(args) ? args : {});
    const result = await tool.run(checked, { signal, call: event.call });
    return { ok: true, data: typeof result === "string" ? result : { text: JSON.stringify(result) ?? "" } };
  } catch (error) {
    return { ok: false, data: { message: messageOf(error) } };
  }
}

async function checkedArgs({ parameters }: Tool, args: Record<string, unknown>): Promise<Record<string, unknown>> {
  if (parameters === undefined || !isStandard(parameters)) return args;
  const result = await parameters["~standard"].validate(args);
  if (result.issues !== undefined) throw new Error(`Invalid arguments: ${result.issues.map(({ message }) => message).join("; ")}`);
  return isRecord(result.value) ? result.value : args;
}
