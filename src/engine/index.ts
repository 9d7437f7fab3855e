/** `agent-parley/engine`: the coding agent itself. */
export { createEngine, type EngineOptions, type ProviderOverride } from "./engine.js";
export type { Model, ModelPart, ModelRequest, Message, ToolSpec } from "./models/model.js";
