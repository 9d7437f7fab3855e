/** A host of Claude Code's wire. It names its session itself, as the Claude Agent SDK can. */
import * as v from "valibot";
import { mintId } from "../../src/core/ids.js";
import { canonicalTool } from "../../src/core/names.js";
import {
  AgentLine,
  Assistant,
  asked as questions,
  Init,
  Result,
  systemLines,
  UserLine,
} from "../../src/dialects/claude/wire/event-records.js";
import { uuidOf } from "../../src/dialects/kit/stream-json/uuid.js";
import type { Heard, HostScript } from "./hosts.js";

/** Its turns have no names on the wire: they come in the order of their prompts. */
export function claude(): HostScript {
  const asked = new Map<string, { request_id: string; tool: string; input: unknown }>();
  const prompts: string[] = [];
  let session = uuidOf(mintId());
  let turn: string | undefined;
  let streamed = "";
  const request = (fields: object): unknown => ({ type: "control_request", request_id: mintId(), request: fields });
  const respond = (call: string, response: object): unknown => ({
    type: "control_response",
    response: { subtype: "success", request_id: asked.get(call)?.request_id ?? "", response },
  });
  return {
    flags({ resume }) {
      session = resume ?? session;
      // Claude Code reads unasked; the scenarios have everything asked.
      const named = resume === undefined ? ["--session-id", session] : ["--resume", resume];
      return ["--include-partial-messages", "--approve-tools", "TodoWrite", ...named];
    },
    open: () => [request({ subtype: "initialize", systemPrompt: [""] })],
    prompt(name, text) {
      prompts.push(name);
      return { type: "user", session_id: "", message: { role: "user", content: text }, parent_tool_use_id: null };
    },
    interrupt: () => request({ subtype: "interrupt" }),
    allow(call, grant) {
      const { tool = "", input } = asked.get(call) ?? {};
      const rule = { type: "addRules", rules: [{ toolName: tool }], behavior: "allow", destination: "session" };
      return respond(call, { behavior: "allow", updatedInput: input, ...(grant !== undefined && { updatedPermissions: [rule] }) });
    },
    deny: (call, message) => respond(call, { behavior: "deny", message }),
    mode: (mode) => request({ subtype: "set_permission_mode", mode: mode === "yolo" ? "bypassPermissions" : mode }),
    grants: ["tool"],
    opensMore: false,
    unknown: { type: "no.such.thing" },
    hear(record) {
      const line = v.parse(AgentLine, record);
      switch (line.type) {
        case "control_response":
          return v.is(v.looseObject({ response: v.looseObject({ commands: v.array(v.unknown()) }) }), line.response)
            ? [{ is: "ready", sessionId: session }]
            : [];
        case "control_request": {
          if (!v.is(questions.can_use_tool, line.request)) return [];
          const { tool_use_id: call, tool_name: tool, input } = line.request;
          asked.set(call, { request_id: line.request_id, tool, input });
          return [{ is: "asked", call, tool: canonicalTool(tool), args: input }];
        }
        case "system":
          return heardOfSystem(line);
        case "stream_event": {
          const delta = line.event.type === "content_block_delta" ? line.event.delta : undefined;
          if (delta?.type === "text_delta") streamed += delta.text;
          if (delta?.type === "text_delta") return [{ is: "text", text: delta.text }];
          return delta?.type === "thinking_delta" ? [{ is: "thinking", text: delta.thinking }] : [];
        }
        case "assistant":
          return heardOfMessage(line);
        case "user":
          return resultsIn(line);
        case "result": {
          const ended = turn;
          turn = undefined;
          return v.is(Result, line) ? endOf(line, ended) : [];
        }
        default:
          return [];
      }
    },
  };

  function heardOfSystem(line: unknown): Heard[] {
    if (v.is(Init, line)) {
      turn = prompts.shift() ?? "";
      return [{ is: "started", turn }];
    }
    const isUnread = v.is(systemLines.informational, line) && (line.tag === "error" || turn === undefined);
    return isUnread ? [{ is: "error", message: line.content, retryable: false, turn: undefined }] : [];
  }

  /** The API's failure comes as an answer first, and again with the result. */
  function heardOfMessage(line: v.InferOutput<typeof Assistant>): Heard[] {
    const blocks = line.message.content.filter((block) => v.is(v.looseObject({ type: v.literal("text"), text: v.string() }), block));
    const whole = blocks.map(({ text }) => text).join("");
    const isTold = whole === streamed || line.error !== undefined;
    if (blocks.length > 0) streamed = "";
    return isTold || whole === "" ? [] : [{ is: "text", text: whole }];
  }
}

function resultsIn({ message: { content }, tool_result_meta: metas = [] }: v.InferOutput<typeof UserLine>): Heard[] {
  if (typeof content === "string") return [];
  return content.flatMap((block): Heard[] => {
    if (block.type !== "tool_result") return [];
    const isRefused = metas.some(({ id, non_execution_kind }) => id === block.tool_use_id && non_execution_kind !== undefined);
    const status = block.is_error !== true ? "ok" : isRefused ? "refused" : "failed";
    return [{ is: "result", call: block.tool_use_id, status, text: JSON.stringify(block.content) }];
  });
}

/** A result without a turn is about a line. */
function endOf(line: v.InferOutput<typeof Result>, turn: string | undefined): Heard[] {
  const message = line.subtype === "success" ? line.result : line.errors.join("; ");
  const isStopped = line.terminal_reason === "aborted_streaming" || line.terminal_reason === "aborted_tools";
  const outcome = !line.is_error ? "completed" : isStopped ? "interrupted" : "failed";
  const error: Heard[] = outcome === "failed" ? [{ is: "error", message, retryable: /429|rate limit/i.test(message), turn }] : [];
  return turn === undefined ? error : [...error, { is: "ended", turn, outcome }];
}
