/** The tools that a model is told of: of two that do the same the one that it prefers, and none that it has no use for. */
import type { Model } from "../models/model.js";
import { edit } from "../tools/files/edit.js";
import { applyPatch } from "../tools/patch/apply-patch.js";
import type { Tool } from "../tools/tool.js";
import { webSearch } from "../tools/web/web-search.js";

type Tools = ReadonlyMap<string, Tool>;

/** A tool of the host that has the same name is another tool. */
export function usesPatches({ patches }: Pick<Model, "patches">, tools: Tools): boolean {
  return patches === true && tools.get(applyPatch.name) === applyPatch;
}

/** It may call the others all the same. */
export function isToldTo(model: Pick<Model, "patches" | "searchWeb">, tool: Tool, tools: Tools): boolean {
  if (tool === webSearch) return model.searchWeb !== undefined;
  return tool !== (usesPatches(model, tools) ? edit : applyPatch);
}
