/** Loads a script file and says where it is wrong: file, line, column, key, and what is allowed there. */
import { readFile } from "node:fs/promises";
import * as v from "valibot";
import type { LineCounter } from "yaml";
import { messageOf, ParleyError, systemCode } from "../../../core/errors.js";
import type { Failure, Output, Response, Speech, WantedCall } from "./response.js";
import { Script, type Expect, type ScriptResponse, type ScriptStep } from "./script-schema.js";

export interface Scene {
  readonly expect?: Expect;
  /** Fails first, so many times; without a number, for as long as the same request is tried. */
  readonly fail?: Failure;
  readonly response: Response;
}

export interface Play {
  readonly scenes: readonly Scene[];
  readonly then: "stop" | "repeat" | "orders";
}

export async function loadScript(file: string): Promise<Play> {
  const { parseDocument, LineCounter } = await import("yaml");
  const source = await readScript(file);
  const lines = new LineCounter();
  const document = parseDocument(source, { lineCounter: lines, prettyErrors: false });
  const [syntax] = document.errors;
  if (syntax !== undefined) throw wrong(file, lines, syntax.pos[0], syntax.message);

  const parsed = v.safeParse(Script, document.toJS());
  if (!parsed.success) {
    const [issue] = parsed.issues;
    const keys = (issue.path ?? []).map(({ key }) => (typeof key === "number" ? key : String(key)));
    const on = issue.path?.at(-1)?.origin === "key" ? "key" : "value";
    const { offsetOf } = await import("../../../core/yaml/position.js");
    throw wrong(file, lines, offsetOf(document, keys, on), issue.message, keys.join("."));
  }
  const script = Array.isArray(parsed.output) ? { responses: parsed.output } : parsed.output;
  return { scenes: script.responses.map(sceneOf), then: script.then ?? "stop" };
}

async function readScript(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    const why = systemCode(error) === "ENOENT" ? "there is no such file" : messageOf(error);
    const remedy = "Name a YAML or JSON file, or leave the model out for plain orders.";
    const message = `Could not read the rehearsal script '${file}': ${why}. ${remedy}`;
    throw new ParleyError({ code: "config", message, param: "model", retryable: false }, { cause: error });
  }
}

function wrong(file: string, lines: LineCounter, offset: number, what: string, param?: string): ParleyError {
  const { line, col } = lines.linePos(offset);
  const where = param === undefined || param === "" ? "" : ` (at ${param})`;
  return new ParleyError({
    code: "config",
    message: `${file}:${line}:${col}: ${what}${where}`,
    retryable: false,
    ...(where !== "" && { param }),
  });
}

function sceneOf(scripted: ScriptResponse | string): Scene {
  if (typeof scripted === "string") return { response: { outputs: [{ type: "say", speech: scripted }] } };
  const { expect, fail, usage, finish, notes } = scripted;
  return {
    ...(expect !== undefined && { expect }),
    ...(fail !== undefined && { fail: typeof fail === "number" ? { status: fail } : fail }),
    response: {
      outputs: outputsOf(scripted),
      ...(usage !== undefined && { usage }),
      ...(finish !== undefined && { finish }),
      ...(notes !== undefined && { notes }),
    },
  };
}

function outputsOf(scripted: ScriptResponse): Output[] {
  const { think, say, call, calls, steps, cut } = scripted;
  const outputs = (steps ?? []).flatMap(stepOutputs);
  outputs.push(...stepOutputs({ think }), ...stepOutputs({ say }), ...stepOutputs({ call }));
  for (const one of calls ?? []) outputs.push(...stepOutputs({ call: one }));
  if (cut === true) outputs.push({ type: "cut" });
  else if (typeof cut === "object") outputs.push({ type: "fail", failure: cut });
  return outputs;
}

function stepOutputs({ think, say, wait, call }: ScriptStep): Output[] {
  if (think !== undefined) return [{ type: "think", speech: speechOf(think), ...endOf(think) }];
  if (say !== undefined) return [{ type: "say", speech: speechOf(say), ...endOf(say) }];
  if (wait !== undefined) return [{ type: "wait", ms: wait }];
  if (call !== undefined) return [{ type: "call", call: callOf(call) }];
  return [];
}

function speechOf(speech: NonNullable<ScriptStep["say"]>): Speech {
  if (typeof speech === "string") return speech;
  const { text = "", pieces } = speech;
  if (pieces === undefined) return text;
  return typeof pieces === "number" ? { piece: text, times: pieces } : pieces;
}

function endOf(speech: NonNullable<ScriptStep["say"]>): { end?: true } {
  return typeof speech !== "string" && speech.end === true ? { end: true } : {};
}

function callOf({ tool, args = {}, id, partial }: NonNullable<ScriptStep["call"]>): WantedCall {
  return { tool, args, ...(id !== undefined && { id }), ...(partial !== undefined && { partial }) };
}
