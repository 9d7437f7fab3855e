/** Calls that a host asks for in the model's place, checked before their turn begins. */
import type { Mode } from "../../core/config.js";
import { ParleyError } from "../../core/errors.js";
import { ANSWER_CALLS } from "../../core/limits.js";
import type { OpOf } from "../../core/op.js";
import { callProblem } from "./problem.js";
import type { ModelCall } from "../models/model.js";
import type { Tool } from "../tools/tool.js";

/** The calls that the host asks for, as if the model had. Throws what is wrong with the first that cannot be run. */
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
