/** The tool by which a model changes files: apply_patch where it prefers that and the lists leave it, else Edit. */
import type { Model } from "../models/model.js";
import { edit } from "../tools/files/edit.js";
import { applyPatch } from "../tools/patch/apply-patch.js";
import type { Tool } from "../tools/tool.js";

type Tools = ReadonlyMap<string, Tool>;

/** A tool of the host that has the same name is another tool. */
export function usesPatches({ patches }: Pick<Model, "patches">, tools: Tools): boolean {
  return patches === true && tools.get(applyPatch.name) === applyPatch;
}

/** Of our two tools for the same, a model is told of one. It may call the other all the same. */
export function isToldTo(model: Pick<Model, "patches">, tool: Tool, tools: Tools): boolean {
  return tool !== (usesPatches(model, tools) ? edit : applyPatch);
}
