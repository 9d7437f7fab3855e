/** Agent → client, written: our calls as Codex's items. */
import { plainText, type Part } from "../../../core/content.js";
import type { Call, EventOf } from "../../../core/event.js";
import type { AnyItem, FileChange } from "../wire/items.js";

type Ended = Pick<EventOf<"tool.ended">, "status" | "output" | "reason">;

/** The item of a call at its start. */
export function startedItem(call: Call, cwd: string | undefined, threadId: string): AnyItem {
  const { id, name, args = {} } = call;
  const kind = kindOf(name);
  switch (kind) {
    case "command": {
      const command = stringOf(args["command"]);
      return {
        type: "commandExecution",
        id,
        pluginId: null,
        scriptPath: null,
        command,
        cwd: cwd ?? "",
        processId: null,
        source: "agent",
        status: "inProgress",
        commandActions: [{ type: "unknown", command }],
        aggregatedOutput: null,
        exitCode: null,
        durationMs: null,
      };
    }
    case "change":
      return { type: "fileChange", id, changes: changesOf(call, call.preview ?? []), status: "inProgress" };
    case "mcp": {
      const { server, tool } = mcpName(name);
      const unset = { appContext: null, mcpAppUi: null, pluginId: null, readOnlyHint: null, result: null, error: null, durationMs: null };
      return { type: "mcpToolCall", id, server, tool, status: "inProgress", arguments: args, ...unset };
    }
    case "agent": {
      const unset = { model: "", reasoningEffort: null, agentsStates: {} };
      const prompt = stringOf(args["prompt"] ?? args["tasks"]);
      return {
        type: "collabAgentToolCall",
        id,
        tool: "spawnAgent",
        status: "inProgress",
        senderThreadId: threadId,
        receiverThreadIds: [],
        prompt,
        ...unset,
      };
    }
    case "dynamic":
    default:
      kind satisfies "dynamic";
      return {
        type: "dynamicToolCall",
        id,
        namespace: null,
        tool: name,
        arguments: args,
        status: "inProgress",
        contentItems: null,
        success: null,
        durationMs: null,
      };
  }
}

type Kind = "command" | "change" | "mcp" | "agent" | "dynamic";

export function kindOf(name: string): Kind {
  if (name === "Bash") return "command";
  if (name === "Write" || name === "Edit") return "change";
  if (name === "Spawn") return "agent";
  return name.startsWith("mcp__") ? "mcp" : "dynamic";
}

export function mcpName(name: string): { server: string; tool: string } {
  const [, server = "", tool = name] = /^mcp__(.*?)__(.*)$/s.exec(name) ?? [];
  return { server, tool };
}

/** The item of a call at its end. `outcome` has our status if the item's kind has no word for it. */
export function completedItem(item: AnyItem, call: Call, { status, output = [], reason }: Ended): AnyItem {
  const text = plainText(output.filter(({ type }) => type !== "diff" && type !== "image")) || (reason ?? "");
  const isOk = status === "ok";
  const unsaid = status === "denied" || status === "cancelled" ? { outcome: status } : {};
  switch (item.type) {
    case "commandExecution": {
      const terminal = output.find((part) => part.type === "terminal");
      const exitCode = terminal?.exitCode ?? (isOk ? 0 : null);
      return { ...item, status: executionStatus(status), aggregatedOutput: text, exitCode, ...(status === "cancelled" && unsaid) };
    }
    case "fileChange": {
      const changes = output.some(({ type }) => type === "diff") ? changesOf(call, output) : item["changes"];
      return { ...item, changes, status: executionStatus(status), ...(status === "cancelled" && unsaid) };
    }
    case "mcpToolCall":
      return {
        ...item,
        status: isOk ? "completed" : "failed",
        result: isOk ? { content: output.map(mcpContent), structuredContent: null, _meta: null } : null,
        error: isOk ? null : { message: text },
        ...unsaid,
      };
    case "dynamicToolCall":
      return { ...item, status: isOk ? "completed" : "failed", contentItems: contentItems(output, text), success: isOk, ...unsaid };
    case "collabAgentToolCall":
      if (status === "cancelled") return { ...item, status: "interrupted" };
      return { ...item, status: isOk ? "completed" : "failed", ...unsaid };
    default:
      return { ...item, status: isOk ? "completed" : "failed", ...unsaid };
  }
}

function executionStatus(status: Ended["status"]): string {
  return status === "ok" ? "completed" : status === "denied" ? "declined" : "failed";
}

function mcpContent(part: Part): object {
  if (part.type === "image") return { type: "image", data: part.data, mimeType: part.mime };
  return { type: "text", text: plainText([part]) };
}

function contentItems(output: readonly Part[], text: string): object[] {
  const images = output.flatMap((part) =>
    part.type === "image" ? [{ type: "inputImage", imageUrl: `data:${part.mime};base64,${part.data}` }] : [],
  );
  return text === "" ? images : [{ type: "inputText", text }, ...images];
}

/** The changes of files by a call. An edit without a preview has an empty diff. */
function changesOf({ name, args = {} }: Call, parts: readonly Part[]): FileChange[] {
  const diffs = parts.filter((part) => part.type === "diff");
  const named = stringOf(args["file_path"]);
  if (diffs.length > 0) {
    return diffs.map(({ path, before, after, patch }) => ({
      path: diffs.length === 1 && named !== "" ? named : path,
      kind: before === null ? { type: "add" as const } : { type: "update" as const, move_path: null },
      diff: before === null ? after : patch.replace(/^--- .*\n\+\+\+ .*\n/m, ""),
    }));
  }
  const content = args["content"];
  if (name === "Write" && typeof content === "string") return [{ path: named, kind: { type: "add" }, diff: content }];
  return [{ path: named, kind: { type: "update", move_path: null }, diff: "" }];
}

export function stringOf(value: unknown): string {
  return typeof value === "string" ? value : value === undefined ? "" : JSON.stringify(value);
}
