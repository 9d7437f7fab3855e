/** The events of a turn as items of `codex exec --json`, which has its own kinds and numbers them from 0. */
import * as v from "valibot";
import { plainText } from "../../../core/content.js";
import type { Call, Event, EventOf } from "../../../core/event.js";
import { spoken } from "../../kit/spoken-event.js";
import type { ExecItem, ExecRecord } from "../wire/exec.js";
import { completedItem, kindOf, mcpName, startedItem, stringOf } from "./write-items.js";
import { items as wireItems } from "../wire/items.js";

type ItemOf<T extends ExecItem["type"]> = Extract<ExecItem, { type: T }>;

export class ExecItems {
  #count = 0;
  readonly #calls = new Map<string, { call: Call; id: string }>();
  #todo: ItemOf<"todo_list"> | undefined;
  #lastText = "";

  /** The lines for an event. Events of sub-agents have none: their Spawn call stands for them. */
  of(given: Event): ExecRecord[] {
    const event = given.under === undefined ? spoken(given) : undefined;
    switch (event?.type) {
      case "text.done":
        return event.text === "" ? [] : this.message(event.text);
      case "thinking.done":
        return event.text === "" ? [] : [completed({ id: this.#next(), type: "reasoning", text: event.text })];
      case "tool.requested":
        return this.#requested(event.call);
      case "tool.ended":
        return this.#ended(event);
      case "notice":
        return event.level === "warning" || event.level === "error" ? this.failure(event.text) : [];
      // The side itself tells errors.
      case "error":
      case undefined:
        return [];
      default:
        event satisfies never;
        return [];
    }
  }

  message(text: string): ExecRecord[] {
    this.#lastText = text;
    return [completed({ id: this.#next(), type: "agent_message", text })];
  }

  failure(message: string): ExecRecord[] {
    return [completed({ id: this.#next(), type: "error", message })];
  }

  get endsInJson(): boolean {
    try {
      JSON.parse(this.#lastText);
      return true;
    } catch {
      return false;
    }
  }

  /** Completes the list of steps at the end of the turn. */
  rest(): ExecRecord[] {
    const todo = this.#todo;
    this.#todo = undefined;
    return todo === undefined ? [] : [completed(todo)];
  }

  #next(): string {
    return `item_${this.#count++}`;
  }

  #requested(call: Call): ExecRecord[] {
    if (call.name === "TodoWrite") {
      this.#calls.set(call.id, { call, id: "" });
      return [];
    }
    const id = this.#next();
    this.#calls.set(call.id, { call, id });
    return [{ type: "item.started", item: shown(id, call, undefined) }];
  }

  #ended(event: EventOf<"tool.ended">): ExecRecord[] {
    const known = this.#calls.get(event.call);
    this.#calls.delete(event.call);
    if (known === undefined) return [];
    if (known.call.name === "TodoWrite") return this.#listed(event);
    return [completed(shown(known.id, known.call, event))];
  }

  #listed({ output = [] }: EventOf<"tool.ended">): ExecRecord[] {
    const list = output.find((part) => part.type === "todo");
    if (list === undefined) return [];
    const items = list.items.map(({ text, status }) => ({ text, completed: status === "completed" }));
    const type = this.#todo === undefined ? "item.started" : "item.updated";
    this.#todo = { id: this.#todo?.id ?? this.#next(), type: "todo_list", items };
    return [{ type, item: this.#todo }];
  }
}

function completed(item: ExecItem): ExecRecord {
  return { type: "item.completed", item };
}

/** The item of a call: at its start without `end`, afterwards with it. */
function shown(id: string, call: Call, end: EventOf<"tool.ended"> | undefined): ExecItem {
  const status = end === undefined ? "in_progress" : end.status === "ok" ? "completed" : "failed";
  const { args = {} } = call;
  const text = end === undefined ? "" : plainText(end.output ?? []) || (end.reason ?? "");
  const kind = kindOf(call.name);
  switch (kind) {
    case "command": {
      const exit = end?.output?.find((part) => part.type === "terminal")?.exitCode;
      const exit_code = exit ?? (end?.status === "ok" ? 0 : null);
      return { id, type: "command_execution", command: stringOf(args["command"]), aggregated_output: text, exit_code, status };
    }
    case "change":
      return { id, type: "file_change", changes: changesOf(call, end), status };
    case "mcp":
    case "agent":
    case "dynamic": {
      if (call.name === "WebFetch") return { id, type: "web_search", query: stringOf(args["url"]) };
      // Tools without a kind at Codex are written as tools of an MCP server.
      const { server, tool } = kind === "mcp" ? mcpName(call.name) : { server: "parley", tool: call.name };
      const isOk = end?.status === "ok";
      const result = isOk ? { content: [{ type: "text", text }], structured_content: null } : null;
      return {
        id,
        type: "mcp_tool_call",
        server,
        tool,
        arguments: args,
        result,
        error: end === undefined || isOk ? null : { message: text },
        status,
      };
    }
    default:
      return kind satisfies never;
  }
}

function changesOf(call: Call, end: EventOf<"tool.ended"> | undefined): ItemOf<"file_change">["changes"] {
  const started = startedItem(call, undefined, "");
  const item = end === undefined ? started : completedItem(started, call, end);
  return v.is(wireItems.fileChange, item) ? item.changes.map(({ path, kind }) => ({ path, kind: kind.type })) : [];
}
