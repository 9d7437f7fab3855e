/** Why a call cannot be run at all, whoever asks for it: there is no such tool, or its arguments are not what the tool takes. */
import type { Mode } from "../../core/config.js";
import type { ModelCall } from "../models/model.js";
import { isOffered } from "../turn/plan-mode.js";
import type { Tool } from "../tools/tool.js";

/** `about` is the part of the call that is wrong. */
interface CallProblem {
  why: string;
  about: string;
}

/** A tool that plan mode forbids is there, and its call is denied; only the one that ends planning is not, where there is none. */
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
