/** Requests of an agent to its client and their results: permissions, files, terminals, forms. */
import * as v from "valibot";
import { WireCall } from "./updates.js";

const text = v.string();
const session = { sessionId: text };

// --- permissions ---

export const PermissionOption = v.looseObject({
  optionId: text,
  name: text,
  kind: v.union([v.picklist(["allow_once", "allow_always", "reject_once", "reject_always"]), text]),
});
export type PermissionOption = v.InferOutput<typeof PermissionOption>;

export const PermissionParams = v.looseObject({ ...session, toolCall: WireCall, options: v.array(PermissionOption) });
export const PermissionResult = v.looseObject({
  outcome: v.variant("outcome", [
    v.looseObject({ outcome: v.literal("selected"), optionId: text }),
    v.looseObject({ outcome: v.literal("cancelled") }),
  ]),
});

// --- files ---

export const ReadFileParams = v.looseObject({ ...session, path: text, line: v.nullish(v.number()), limit: v.nullish(v.number()) });
export const ReadFileResult = v.looseObject({ content: text });
export const WriteFileParams = v.looseObject({ ...session, path: text, content: text });

// --- terminals ---

export const CreateTerminalParams = v.looseObject({
  ...session,
  command: text,
  args: v.nullish(v.array(text)),
  env: v.nullish(v.array(v.looseObject({ name: text, value: text }))),
  cwd: v.nullish(text),
  outputByteLimit: v.nullish(v.number()),
});
export const TerminalParams = v.looseObject({ ...session, terminalId: text });
export const CreateTerminalResult = v.looseObject({ terminalId: text });
const exitStatus = { exitCode: v.nullish(v.number()), signal: v.nullish(text) };
export const ExitResult = v.looseObject(exitStatus);
export const TerminalOutputResult = v.looseObject({ output: text, truncated: v.optional(v.boolean()), exitStatus: v.nullish(ExitResult) });

// --- forms ---

const Property = v.looseObject({
  type: text,
  title: v.nullish(text),
  description: v.nullish(text),
  enum: v.nullish(v.array(text)),
  oneOf: v.nullish(v.array(v.looseObject({ const: text, title: v.nullish(text), description: v.nullish(text) }))),
  items: v.nullish(
    v.looseObject({
      enum: v.nullish(v.array(text)),
      anyOf: v.nullish(v.array(v.looseObject({ const: text, title: v.nullish(text), description: v.nullish(text) }))),
    }),
  ),
});
export type Property = v.InferOutput<typeof Property>;

const FormSchema = v.looseObject({ properties: v.nullish(v.record(text, Property)), required: v.nullish(v.array(text)) });

export const ElicitationParams = v.looseObject({
  sessionId: v.nullish(text),
  toolCallId: v.nullish(text),
  mode: v.union([v.picklist(["form", "url"]), text]),
  message: text,
  requestedSchema: v.nullish(FormSchema),
  elicitationId: v.nullish(text),
  url: v.nullish(text),
});
export type ElicitationParams = v.InferOutput<typeof ElicitationParams>;
export const ElicitationResult = v.looseObject({
  action: v.union([v.picklist(["accept", "decline", "cancel"]), text]),
  content: v.nullish(v.record(text, v.unknown())),
});
