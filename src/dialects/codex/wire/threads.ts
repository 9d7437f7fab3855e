/** Threads and turns as both directions carry them. */
import * as v from "valibot";
import { Item } from "./items.js";

const text = v.string();

/** `codexErrorInfo` is the name of a known cause; for some causes it is an object with an HTTP status. */
export const TurnError = v.looseObject({
  message: text,
  codexErrorInfo: v.optional(v.unknown()),
  additionalDetails: v.nullish(text),
});
export type TurnError = v.InferOutput<typeof TurnError>;

const TurnStatus = v.picklist(["completed", "interrupted", "failed", "inProgress"]);

export const Turn = v.looseObject({
  id: text,
  items: v.nullish(v.array(Item)),
  status: TurnStatus,
  error: v.nullish(TurnError),
  startedAt: v.nullish(v.number()),
});
export type Turn = v.InferOutput<typeof Turn>;

export const Thread = v.looseObject({
  id: text,
  preview: v.nullish(text),
  name: v.nullish(text),
  cwd: v.nullish(text),
  model: v.nullish(text),
  parentThreadId: v.nullish(text),
  createdAt: v.nullish(v.number()),
  updatedAt: v.nullish(v.number()),
  turns: v.nullish(v.array(Turn)),
});
export type Thread = v.InferOutput<typeof Thread>;

/** The answer to `thread/start`, `thread/resume` and `thread/fork`. */
export const Opened = v.looseObject({
  thread: Thread,
  model: v.nullish(text),
  modelProvider: v.nullish(text),
  cwd: v.nullish(text),
  reasoningEffort: v.nullish(text),
});
export type Opened = v.InferOutput<typeof Opened>;

export const Settings = v.looseObject({ model: v.nullish(text), effort: v.nullish(text), cwd: v.nullish(text) });

/** The approval policy is a name or an object. */
export const ApprovalPolicy = v.union([
  v.picklist(["untrusted", "on-request", "on-failure", "never"]),
  v.looseObject({ granular: v.optional(v.unknown()) }),
]);
export type ApprovalPolicy = v.InferOutput<typeof ApprovalPolicy>;
export const SandboxMode = v.picklist(["read-only", "workspace-write", "danger-full-access"]);
export type SandboxMode = v.InferOutput<typeof SandboxMode>;
export const SandboxPolicy = v.looseObject({
  type: v.picklist(["readOnly", "workspaceWrite", "dangerFullAccess", "externalSandbox"]),
  writableRoots: v.nullish(v.array(text)),
});
export type SandboxPolicy = v.InferOutput<typeof SandboxPolicy>;

/** Inclusive counts, as OpenAI's: input includes cached tokens, output includes reasoning. */
export const TokenCounts = v.looseObject({
  totalTokens: v.number(),
  inputTokens: v.number(),
  cachedInputTokens: v.number(),
  cacheWriteInputTokens: v.nullish(v.number()),
  outputTokens: v.number(),
  reasoningOutputTokens: v.number(),
});
export type TokenCounts = v.InferOutput<typeof TokenCounts>;
