/** Client → server: the requests that we serve, by method, and the notification that ends the greeting. */
import * as v from "valibot";
import { UserInput } from "./items.js";
import { ApprovalPolicy, SandboxMode, SandboxPolicy } from "./threads.js";

const text = v.string();

export const RequestId = v.union([text, v.number()]);
export type RequestId = v.InferOutput<typeof RequestId>;

const Empty = v.nullish(v.looseObject({}));
const OfThread = v.looseObject({ threadId: text });

export const DynamicTool = v.looseObject({
  type: v.nullish(text),
  name: text,
  description: v.nullish(text),
  inputSchema: v.optional(v.unknown()),
  /** The tools of a namespace. */
  tools: v.nullish(v.array(v.looseObject({ name: text, description: v.nullish(text), inputSchema: v.optional(v.unknown()) }))),
});
export type DynamicTool = v.InferOutput<typeof DynamicTool>;

const settings = {
  model: v.nullish(text),
  modelProvider: v.nullish(text),
  cwd: v.nullish(text),
  approvalPolicy: v.nullish(ApprovalPolicy),
  sandbox: v.nullish(SandboxMode),
  config: v.nullish(v.record(text, v.unknown())),
  baseInstructions: v.nullish(text),
  developerInstructions: v.nullish(text),
} as const;

const CollaborationMode = v.looseObject({ mode: v.picklist(["plan", "default"]), settings: v.optional(v.unknown()) });

/** Settings that a turn or a change of settings may override for good. */
const overrides = {
  cwd: v.nullish(text),
  model: v.nullish(text),
  effort: v.nullish(text),
  approvalPolicy: v.nullish(ApprovalPolicy),
  sandboxPolicy: v.nullish(SandboxPolicy),
  collaborationMode: v.nullish(CollaborationMode),
} as const;

export const requests = {
  initialize: v.looseObject({
    clientInfo: v.looseObject({ name: text, version: v.nullish(text) }),
    capabilities: v.nullish(v.looseObject({ optOutNotificationMethods: v.nullish(v.array(text)) })),
  }),
  "thread/start": v.looseObject({ ...settings, ephemeral: v.nullish(v.boolean()), dynamicTools: v.nullish(v.array(DynamicTool)) }),
  "thread/resume": v.looseObject({ threadId: text, ...settings, excludeTurns: v.nullish(v.boolean()) }),
  "thread/fork": v.looseObject({ threadId: text, lastTurnId: v.nullish(text), ...settings, excludeTurns: v.nullish(v.boolean()) }),
  "thread/list": v.nullish(
    v.looseObject({
      limit: v.nullish(v.number()),
      cursor: v.nullish(text),
      cwd: v.nullish(v.union([text, v.array(text)])),
      archived: v.nullish(v.boolean()),
      searchTerm: v.nullish(text),
      sortDirection: v.nullish(text),
    }),
  ),
  "thread/loaded/list": Empty,
  "thread/read": v.looseObject({ threadId: text, includeTurns: v.nullish(v.boolean()) }),
  "thread/turns/list": OfThread,
  "thread/unsubscribe": OfThread,
  "thread/name/set": v.looseObject({ threadId: text, name: text }),
  "thread/archive": OfThread,
  "thread/unarchive": OfThread,
  "thread/delete": OfThread,
  "thread/revert": v.looseObject({ threadId: text, beforeTurnId: text }),
  "thread/compact/start": OfThread,
  "thread/inject_items": v.looseObject({ threadId: text, items: v.array(v.unknown()) }),
  "thread/settings/update": v.looseObject({ threadId: text, ...overrides }),
  "turn/start": v.looseObject({ threadId: text, input: v.array(UserInput), ...overrides, outputSchema: v.optional(v.unknown()) }),
  "turn/steer": v.looseObject({ threadId: text, input: v.array(UserInput), expectedTurnId: text }),
  "turn/interrupt": v.looseObject({ threadId: text, turnId: text }),
  "model/list": Empty,
  "account/read": Empty,
  "mcpServerStatus/list": Empty,
  "skills/list": Empty,
} as const;
export type Method = keyof typeof requests;
export type ParamsOf<M extends Method> = v.InferOutput<(typeof requests)[M]>;

function request<M extends Method>(method: M) {
  return v.looseObject({ id: RequestId, method: v.literal(method), params: requests[method] });
}

const Request = v.variant("method", [
  request("initialize"),
  request("thread/start"),
  request("thread/resume"),
  request("thread/fork"),
  request("thread/list"),
  request("thread/loaded/list"),
  request("thread/read"),
  request("thread/turns/list"),
  request("thread/unsubscribe"),
  request("thread/name/set"),
  request("thread/archive"),
  request("thread/unarchive"),
  request("thread/delete"),
  request("thread/revert"),
  request("thread/compact/start"),
  request("thread/inject_items"),
  request("thread/settings/update"),
  request("turn/start"),
  request("turn/steer"),
  request("turn/interrupt"),
  request("model/list"),
  request("account/read"),
  request("mcpServerStatus/list"),
  request("skills/list"),
]);

const Initialized = v.looseObject({ method: v.literal("initialized") });

const RpcError = v.looseObject({ code: v.number(), message: text });
export const Answered = v.looseObject({ id: RequestId, result: v.unknown() });
export const Refused = v.looseObject({ id: v.nullable(RequestId), error: RpcError });

/** Any record with a method: a request, or without an id a notification. */
export const Called = v.looseObject({ method: text, id: v.optional(RequestId), params: v.optional(v.unknown()) });

/** Any record of the client; its answers are to questions of the server. */
export const ClientRecord = v.union([Request, Initialized, Answered, Refused]);
