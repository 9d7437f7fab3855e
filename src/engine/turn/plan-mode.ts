/**
 * Plan mode: the tools and the words that the model gets in it. The mode and the model may change in the middle of a turn, so this runs for
 * each request.
 */
import type { Mode } from "../../core/config.js";
import { isForbidden } from "../../core/modes.js";
import type { Model, ModelRequest } from "../models/model.js";
import { exitPlan } from "../tools/exit-plan.js";
import type { Tool } from "../tools/tool.js";
import { isToldTo } from "./told-tools.js";

const PLANNING = `Plan mode: only read-only tools run, and nothing may be changed. Work out a plan. When it is ready, present it with the
${exitPlan.name} tool, which asks the user to approve it; only then go on to carry it out.`;

/** Whether a tool is offered: the tool that ends planning only in plan mode. */
export function isOffered(tool: Tool, mode: Mode): boolean {
  if (tool.name === exitPlan.name) return mode === "plan";
  return !isForbidden(mode, tool.category);
}

export function requestIn<R extends Pick<ModelRequest, "system" | "tools">>(
  mode: Mode,
  request: R,
  model: Model,
  tools: ReadonlyMap<string, Tool>,
): R {
  const offered = request.tools.filter(({ name }) => {
    const tool = tools.get(name);
    return tool !== undefined && isOffered(tool, mode) && isToldTo(model, tool, tools);
  });
  return { ...request, tools: offered, ...(mode === "plan" && { system: `${request.system}\n\n${PLANNING}` }) };
}
