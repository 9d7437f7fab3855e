/** `agent-parley/engine`: the coding agent itself. */
export { createEngine, type EngineOptions } from "./engine.js";
export { openRehearsal, type RehearsalOptions } from "./models/rehearsal/index.js";
export type { Attributes, NewSpan, Span, Tracer } from "./trace/tracer.js";
export { keptGrants, type KeptGrants } from "./permissions/grants/kept-grants.js";
export { jsonlStore } from "./store/jsonl/store.js";
export type { SessionStore } from "./store/store.js";
export type { ExtensionSources } from "./extensions/extensions.js";
export type { ProviderOverride } from "./models/access.js";
export type { Model, ModelPart, ModelRequest, Message, ToolSpec } from "./models/model.js";
