/** Server → host, read: the start and the end of an item become events of its turn. */
import * as v from "valibot";
import { textPart, type Part } from "../../../core/content.js";
import type { Call, Event, EventOf } from "../../../core/event.js";
import { isRecord } from "../../../core/values/json-object.js";
import { canonicalTool, categoryOf } from "../../../core/names.js";
import { patchPart } from "../../kit/diff.js";
import type { TurnReader } from "../../kit/turn-reader.js";
import { KnownItem, type FileChange, type ItemOf, type OutputItem } from "../wire/items.js";

/** The kinds that are calls. */
type CallItem = Extract<
  KnownItem,
  { type: "commandExecution" | "fileChange" | "mcpToolCall" | "dynamicToolCall" | "collabAgentToolCall" | "webSearch" | "imageView" }
>;
type CallEnd = Omit<EventOf<"tool.ended">, "type" | "call">;

export interface ItemPlace {
  told: TurnReader;
  under: string | undefined;
  /** Calls that our side declined. */
  denied: ReadonlyMap<string, string>;
}

export function startItem(item: unknown, { told, under }: ItemPlace): Event[] {
  if (!v.is(KnownItem, item)) return [];
  switch (item.type) {
    case "userMessage":
    case "agentMessage":
    case "plan":
    case "reasoning":
      return [];
    case "contextCompaction":
      return [...told.closeBlock(under), { type: "compaction", ...told.address, phase: "started" }];
    case "commandExecution":
    case "fileChange":
    case "mcpToolCall":
    case "dynamicToolCall":
    case "collabAgentToolCall":
    case "webSearch":
    case "imageView":
      return told.request(callOf(item), under);
    default:
      item satisfies never;
      return [];
  }
}

export function completeItem(item: unknown, { told, under, denied }: ItemPlace): Event[] {
  if (!v.is(KnownItem, item)) return [{ type: "other", ...told.address, name: "item", data: item, ext: { codex: item } }];
  switch (item.type) {
    case "userMessage":
      return [];
    case "agentMessage":
    case "plan":
      return told.whole("text", item.text, under);
    case "reasoning":
      return told.whole("thinking", thoughtOf(item), under);
    case "contextCompaction":
      return [{ type: "compaction", ...told.address, phase: "ended" }];
    case "commandExecution":
    case "fileChange":
    case "mcpToolCall":
    case "dynamicToolCall":
    case "collabAgentToolCall":
    case "webSearch":
    case "imageView":
      return endCall(item, told, under, denied);
    default:
      item satisfies never;
      return [];
  }
}

/** The text of a reasoning item: its summary, or else its content, as providers differ. */
function thoughtOf({ summary, content }: ItemOf<"reasoning">): string {
  return ((summary ?? []).length > 0 ? (summary ?? []) : (content ?? [])).join("\n\n");
}

function endCall(item: CallItem, told: TurnReader, under: string | undefined, denied: ReadonlyMap<string, string>): Event[] {
  const call = callOf(item);
  const asked = told.request(call, under);
  const known = told.callOf(item.id);
  // The agent may write a call in pieces: its end has the whole call.
  if (known !== undefined) known.call = { ...call, id: known.id };
  const end = endOf(item);
  // The wire has no reason for a denial, and not every kind of item has a status for it.
  const denial = denied.get(known?.id ?? item.id);
  const isDenied = end.status === "denied" || end.status === "failed";
  const ended = denial === undefined || !isDenied ? end : { ...end, status: "denied" as const, ...(denial !== "" && { reason: denial }) };
  return [...asked, ...told.end(item.id, ended)];
}

// --- calls ---

export function callOf(item: CallItem): Call {
  const { id } = item;
  switch (item.type) {
    case "commandExecution": {
      const command = plainCommand(item.command);
      return { id, name: "Bash", category: "exec", args: { command }, title: command };
    }
    case "fileChange":
      return changeCall(id, item.changes);
    case "mcpToolCall": {
      const name = canonicalTool(`mcp__${item.server}__${item.tool}`);
      return { id, name, category: "mcp", args: argsOf(item.arguments) };
    }
    case "dynamicToolCall": {
      const name = canonicalTool(toolName(item.namespace, item.tool));
      return { id, name, category: categoryOf(name), args: argsOf(item.arguments) };
    }
    case "collabAgentToolCall": {
      const prompt = item.prompt == null ? {} : { prompt: item.prompt };
      return { id, name: "Spawn", category: "exec", args: { action: item.tool, ...prompt }, title: item.tool };
    }
    case "webSearch":
      return { id, name: "WebSearch", category: "info", args: { query: item.query } };
    case "imageView":
      return { id, name: "Read", category: "info", args: { file_path: item.path }, paths: [item.path] };
    default:
      item satisfies never;
      return { id, name: "" };
  }
}

export function toolName(namespace: string | null | undefined, tool: string): string {
  return namespace == null || namespace === "" ? tool : `${namespace}__${tool}`;
}

export function argsOf(args: unknown): Record<string, unknown> {
  return isRecord(args) ? args : args === undefined || args === null ? {} : { value: args };
}

/** `bash -lc 'command'`, if the command has no quotes inside. */
const WRAPPED = /^\S*(?:ba|z|da|k)?sh -l?c '([^']*)'$/s;

export function plainCommand(command: string): string {
  return WRAPPED.exec(command)?.[1] ?? command;
}

/** A change as a call: one new file is a Write with its content, other changes are an Edit with patches. */
function changeCall(id: string, changes: readonly FileChange[]): Call {
  const paths = changes.map(({ path }) => path);
  const [only, ...more] = changes;
  const head = { id, category: "edit", paths } as const;
  if (only !== undefined && more.length === 0 && only.kind.type === "add") {
    const args = { file_path: only.path, content: only.diff };
    return { ...head, name: "Write", args, title: `Write to ${only.path}`, preview: [textPart(only.diff)] };
  }
  const told = changes.map(({ path, kind, diff }) => ({
    file_path: path,
    change: kind.type,
    ...(kind.move_path != null && { move_to: kind.move_path }),
    patch: diff,
  }));
  const args = only !== undefined && more.length === 0 ? (told[0] ?? {}) : { changes: told };
  return {
    ...head,
    name: "Edit",
    args,
    title: `Edit ${paths.join(", ")}`,
    preview: changes.map(({ path, diff }) => patchPart(diff, path)),
  };
}

// --- ends ---

const STATUS = { completed: "ok", failed: "failed", declined: "denied", inProgress: "cancelled", interrupted: "cancelled" } as const;

function endOf(item: CallItem): CallEnd {
  switch (item.type) {
    case "commandExecution": {
      const { aggregatedOutput, exitCode } = item;
      const output: Part[] = [{ type: "terminal", text: aggregatedOutput ?? "", ...(exitCode != null && { exitCode }) }];
      return { status: item.outcome ?? STATUS[item.status], output };
    }
    case "fileChange":
      return { status: item.outcome ?? STATUS[item.status], output: item.changes.map(({ path, diff }) => patchPart(diff, path)) };
    case "mcpToolCall": {
      const reason = item.error?.message;
      const output = (item.result?.content ?? []).map(mcpPart);
      return { status: item.outcome ?? STATUS[item.status], output, ...(reason !== undefined && { reason }) };
    }
    case "dynamicToolCall":
      return { status: item.outcome ?? STATUS[item.status], output: (item.contentItems ?? []).flatMap(outputPart) };
    case "collabAgentToolCall":
      return { status: item.outcome ?? STATUS[item.status] };
    case "webSearch":
      return { status: "ok", output: item.action === undefined ? [] : [{ type: "json", data: item.action }] };
    case "imageView":
      return { status: "ok" };
    default:
      item satisfies never;
      return { status: "ok" };
  }
}

function outputPart({ type, text, imageUrl }: OutputItem): Part[] {
  const [, mime, data] = /^data:([^;,]+);base64,(.*)$/s.exec(imageUrl ?? "") ?? [];
  if (mime !== undefined && data !== undefined) return [{ type: "image", mime, data }];
  if (text != null) return [textPart(text)];
  return imageUrl == null ? [{ type: "json", data: { type } }] : [{ type: "file", uri: imageUrl }];
}

const McpText = v.looseObject({ type: v.literal("text"), text: v.string() });
const McpImage = v.looseObject({ type: v.literal("image"), data: v.string(), mimeType: v.string() });

function mcpPart(content: unknown): Part {
  if (v.is(McpText, content)) return textPart(content.text);
  if (v.is(McpImage, content)) return { type: "image", mime: content.mimeType, data: content.data };
  return { type: "json", data: content };
}
