/** Server → client: questions of the agent, and the answers to them. */
import * as v from "valibot";
import { OutputItem } from "./items.js";
import { RequestId } from "./requests.js";

const text = v.string();

const asked = { threadId: text, turnId: text, itemId: text } as const;

/** The user may also answer in own words (`isOther`), which are one more answer. */
const UserQuestion = v.looseObject({
  id: text,
  question: text,
  header: v.nullish(text),
  options: v.nullish(v.array(v.looseObject({ label: text, description: v.nullish(text) }))),
});

export const questions = {
  "item/commandExecution/requestApproval": v.looseObject({
    ...asked,
    approvalId: v.nullish(text),
    command: v.nullish(text),
    cwd: v.nullish(text),
    reason: v.nullish(text),
  }),
  "item/fileChange/requestApproval": v.looseObject({ ...asked, reason: v.nullish(text) }),
  "item/permissions/requestApproval": v.looseObject({
    ...asked,
    reason: v.nullish(text),
    cwd: v.nullish(text),
    permissions: v.record(text, v.unknown()),
  }),
  "item/tool/requestUserInput": v.looseObject({ ...asked, questions: v.array(UserQuestion) }),
  "item/tool/call": v.looseObject({
    threadId: text,
    turnId: text,
    callId: text,
    namespace: v.nullish(text),
    tool: text,
    arguments: v.unknown(),
  }),
  "mcpServer/elicitation/request": v.looseObject({
    threadId: text,
    turnId: v.nullish(text),
    serverName: text,
    message: text,
    requestedSchema: v.optional(v.unknown()),
    url: v.nullish(text),
    _meta: v.nullish(v.looseObject({ codex_approval_kind: v.nullish(text), tool_params: v.optional(v.unknown()) })),
  }),
} as const;
export type QuestionMethod = keyof typeof questions;
export type QuestionOf<M extends QuestionMethod> = v.InferOutput<(typeof questions)[M]>;

function question<M extends QuestionMethod>(method: M) {
  return v.looseObject({ id: RequestId, method: v.literal(method), params: questions[method] });
}

export const Question = v.variant("method", [
  question("item/commandExecution/requestApproval"),
  question("item/fileChange/requestApproval"),
  question("item/permissions/requestApproval"),
  question("item/tool/requestUserInput"),
  question("item/tool/call"),
  question("mcpServer/elicitation/request"),
]);

/** A decision is a word, or an object whose key is the word. */
export const Decided = v.looseObject({ decision: v.union([text, v.record(text, v.unknown())]) });
export const ToolAnswer = v.looseObject({ contentItems: v.array(OutputItem), success: v.boolean() });
export const Elicited = v.looseObject({ action: v.picklist(["accept", "decline", "cancel"]), content: v.optional(v.unknown()) });
export const UserInputGiven = v.looseObject({ answers: v.record(text, v.looseObject({ answers: v.array(text) })) });
