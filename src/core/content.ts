/** Content: what a message, a tool result or a notice is made of. One schema a kind; the schema is the type. */
import * as v from "valibot";
import type { Known } from "./values/without-index-signature.js";

const TextPart = v.looseObject({ type: v.literal("text"), text: v.string() });

/** `data` is base64. */
const ImagePart = v.looseObject({ type: v.literal("image"), mime: v.string(), data: v.string(), name: v.optional(v.string()) });

/** A file by path, by address, or by value (`text`, or base64 `data`). `ext` holds, per dialect, what only that dialect says of it. */
const FilePart = v.looseObject({
  type: v.literal("file"),
  path: v.optional(v.string()),
  uri: v.optional(v.string()),
  name: v.optional(v.string()),
  mime: v.optional(v.string()),
  text: v.optional(v.string()),
  data: v.optional(v.string()),
  ext: v.optional(v.record(v.string(), v.unknown())),
});

/** A change of one file. `before` is null for a new file; `patch` is a unified diff that applies. */
const DiffPart = v.looseObject({
  type: v.literal("diff"),
  path: v.string(),
  before: v.nullable(v.string()),
  after: v.string(),
  patch: v.string(),
  stat: v.looseObject({ added: v.number(), removed: v.number() }),
});

/** One item of a todo list. */
export const TodoItem = v.looseObject({
  id: v.optional(v.string()),
  text: v.string(),
  status: v.picklist(["pending", "in_progress", "completed"]),
});
export type TodoItem = Known<v.InferOutput<typeof TodoItem>>;

const TodoPart = v.looseObject({ type: v.literal("todo"), items: v.array(TodoItem) });
const PlanPart = v.looseObject({ type: v.literal("plan"), text: v.string() });

/** The output of a command. */
const TerminalPart = v.looseObject({
  type: v.literal("terminal"),
  text: v.string(),
  channel: v.optional(v.picklist(["stdout", "stderr"])),
  exitCode: v.optional(v.nullable(v.number())),
});

const ResourcePart = v.looseObject({
  type: v.literal("resource"),
  uri: v.string(),
  mime: v.optional(v.string()),
  text: v.optional(v.string()),
  data: v.optional(v.string()),
});

const JsonPart = v.looseObject({ type: v.literal("json"), data: v.unknown() });

/** A piece of content: text, an image, a file, a diff, a todo list, a plan, the output of a command, a resource, or JSON. */
export const Part = v.variant("type", [TextPart, ImagePart, FilePart, DiffPart, TodoPart, PlanPart, TerminalPart, ResourcePart, JsonPart]);
export type Part = Known<v.InferOutput<typeof Part>>;
/** The part of that type. */
export type PartOf<T extends Part["type"]> = Extract<Part, { type: T }>;

export function textPart(text: string): PartOf<"text"> {
  return { type: "text", text };
}

/** The plain text of some parts, for wires and models that take only text. */
export function plainText(parts: readonly Part[]): string {
  return parts
    .map(partText)
    .filter((text) => text !== "")
    .join("\n");
}

function partText(part: Part): string {
  switch (part.type) {
    case "text":
    case "plan":
    case "terminal":
      return part.text;
    case "diff":
      return part.patch;
    case "todo":
      return part.items.map((item) => `[${TODO_MARK[item.status]}] ${item.text}`).join("\n");
    case "file":
    case "resource":
      return part.text ?? "";
    case "json":
      return JSON.stringify(part.data);
    case "image":
      return "";
    default:
      part satisfies never;
      return "";
  }
}

const TODO_MARK = { pending: " ", in_progress: "~", completed: "x" } as const;
