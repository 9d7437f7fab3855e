/**
 * Finds the reason for which a call cannot run: there is no such tool, or the tool does not take the arguments. Also checks the host's own calls.
 */
import type { Mode } from "../../core/config.js";
import { ParleyError } from "../../core/errors.js";
import { ANSWER_CALLS } from "../../core/limits.js";
import type { OpOf } from "../../core/op.js";
import type { ModelCall } from "../models/model.js";
import { isOffered } from "../turn/plan-mode.js";
import type { Tool } from "../tools/tool.js";

/** `about` is the wrong part of the call. */
interface CallProblem {
  why: string;
  about: string;
}

/** A tool that plan mode forbids counts as known, and its call is denied later. The tool that ends planning is unknown outside plan mode. */
export function callProblem(call: ModelCall, tools: ReadonlyMap<string, Tool>, mode: Mode): { tool: Tool } | CallProblem {
  const tool = tools.get(call.name);
  if (tool === undefined || (tool.asksAlways === true && !isOffered(tool, mode))) {
    const names = [...tools.values()].flatMap((known) => (isOffered(known, mode) ? [known.name] : []));
    return { why: `Unknown tool: ${call.name}. There are: ${names.join(", ")}`, about: "name" };
  }
  const problem = tool.problem(call.args);
  if (problem === undefined) return { tool };
  const argument = tool.wrongArgument?.(call.args);
  return { why: `Invalid arguments for ${call.name}: ${problem}`, about: argument === undefined ? "args" : `args.${argument}` };
}

/** Checks the calls that the host asks for in the model's place. Throws the problem of the first invalid one. */
export function admitCalls(
  { calls = [] }: OpOf<"turn.prompt">,
  tools: ReadonlyMap<string, Tool>,
  mode: Mode,
  ownId: (id: string) => string,
): ModelCall[] {
  if (calls.length > ANSWER_CALLS) {
    const message = `A prompt brings ${ANSWER_CALLS} calls at most, not ${calls.length}`;
    throw new ParleyError({ code: "limit", message, retryable: false, param: "calls" });
  }
  for (const [at, { name, args }] of calls.entries()) {
    const problem = callProblem({ id: "", name, args }, tools, mode);
    if ("why" in problem)
      throw new ParleyError({ code: "invalid", message: problem.why, retryable: false, param: `calls[${at}].${problem.about}` });
  }
  return calls.map(({ id = "", name, args }) => ({ id: ownId(id), name, args }));
}
