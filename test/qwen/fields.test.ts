/**
 * Field by field: two different inputs cause two different values. Two rich conversations, one in each format, give every field of the
 * agent's lines; each field of the host's lines has a row that shows what it changes.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { scratch } from "../process/harness.js";
import type { Heard } from "./heard.js";
import { received, requestId, type Format, type QwenHost, type QwenOptions } from "./host.js";

const TERMINAL = { required_capabilities: ["annotations.terminal"] };

interface Tale {
  host: QwenHost;
  /** The first value that is found in the lines. */
  pick(find: (line: Heard) => unknown): unknown;
}

/** Everything that can be said, with other words each time. */
async function tale(output: Format, word: string): Promise<Tale> {
  const isFirst = output === "stream-json";
  const cwd = scratch({ [`${word}.txt`]: `${word}\n` });
  const skill = join(cwd, ".parley/skills", word);
  mkdirSync(skill, { recursive: true });
  writeFileSync(join(skill, "SKILL.md"), `---\nname: ${word}\ndescription: ${word} it\n---\nDo it\n`);
  const colour = isFirst ? 32 : 31;
  const shell = `printf '\\033[${colour}m${word}\\033[0m'${isFirst ? "" : " >&2"}`;
  const write = { tool: "Write", args: { file_path: `new-${word}.txt`, content: `${word}\n`.repeat(isFirst ? 1 : 3) } };
  const read = { tool: "Read", args: { file_path: `${word}.txt` } };
  const edit = { tool: "Edit", args: { file_path: `${word}.txt`, old_string: word, new_string: `${word}!${isFirst ? "" : "\nmore"}` } };
  const todos = [{ content: word, status: isFirst ? "pending" : "completed", id: `${word}-1` }];
  const host = await received({
    input: output,
    output,
    cwd,
    args: ["--session-id", `session-${word}`],
    responses: [
      {
        think: `**${word}** about ${word}`,
        say: word,
        call: write,
        usage: { input: isFirst ? 11 : 22, output: isFirst ? 3 : 4, cacheRead: isFirst ? 1 : 2, reasoning: isFirst ? 5 : 6 },
      },
      { call: read },
      { call: edit },
      { calls: [{ tool: "Bash", args: { command: shell } }] },
      { call: { tool: "TodoWrite", args: { todos } } },
      ...(isFirst ? [{ say: "done" }] : Array.from({ length: 4 }, () => ({ say: "done", finish: "length" }))),
      { fail: { status: 429, times: 1, message: word, retryAfter: 0 }, say: "again" },
      isFirst ? { fail: { status: 400, message: "bad" } } : { fail: { status: 401, message: "who" } },
    ],
  });
  host.say("go", { prompt_id: `prompt-${word}`, metadata: TERMINAL });
  const changed = { ...write.args, content: `${write.args.content}${word} too\n`.repeat(isFirst ? 1 : 2) };
  const first = await host.nth("control_request:can_use_tool", 1);
  host.respond(`unknown-${word}`, { subtype: "error", error: { message: word } });
  host.respond(requestId(first), { subtype: "success", result: { behavior: "approve", updated_arguments: changed } });
  host.approve(await host.nth("control_request:can_use_tool", 2));
  host.approve(await host.nth("control_request:can_use_tool", 3));
  await host.nth("summary", 1);
  await host.turn("more");
  await host.turn("fails");
  host.say(isFirst ? "/mode" : "/theme");
  host.say(isFirst ? "/mode yolo" : "/nonsense");
  await host.nth("result/command", 2);
  host.send({
    type: "command_hint_request",
    session_id: host.session,
    prompt_id: `hint-${word}`,
    request_id: `hint-${word}`,
    trigger: isFirst ? "slash" : "at",
    text: isFirst ? "/clear" : `@${word.slice(0, 3)}`,
    cursor: isFirst ? 6 : 4,
  });
  await host.next("result/command_hint", ({ raw }) => raw["status"] === "ok");
  host.send({ type: "heartbeat_request", session_id: host.session, prompt_id: `beat-${word}` });
  host.cancel({ prompt_id: `nothing-${word}`, reason: word, request_id: `cancel-${word}` });
  await host.next("control_response");
  return {
    host,
    pick(find) {
      for (const line of host.heard) {
        const found = find(line);
        if (found !== undefined && found !== null) return found;
      }
      return undefined;
    },
  };
}

type Raw = Record<string, unknown>;
const at = (value: unknown, ...path: (string | number)[]): unknown =>
  path.reduce<unknown>((inner, key) => (typeof inner === "object" && inner !== null ? (inner as Raw)[key] : undefined), value);
const of =
  (word: string, ...path: (string | number)[]) =>
  (line: Heard): unknown =>
    line.word === word ? at(line.raw, ...path) : undefined;
const shown =
  (kind: string, ...path: (string | number)[]) =>
  ({ displays }: Heard): unknown =>
    displays.flatMap(({ result_display }) => (at(result_display, "kind") === kind ? [at(result_display, ...path)] : []))[0];
const terminal =
  (source: string, ...path: (string | number)[]) =>
  ({ terminals }: Heard): unknown =>
    terminals.flatMap((each) => (each.source === source && each.ansi?.length !== 0 ? [at(each, ...path)] : []))[0];

const FIELDS: Record<string, (line: Heard) => unknown> = {
  object: ({ raw }) => raw["object"],
  id: ({ id }) => id,
  model: ({ model }) => model,
  "content of a line": ({ word, content }) => (/text|delta/.test(word) ? content : undefined),
  "tool_calls[].function.arguments": ({ calls }) => calls[0]?.function?.arguments,
  "usage.prompt_tokens": ({ usage }) => usage?.prompt_tokens,
  "usage.completion_tokens": ({ usage }) => usage?.completion_tokens,
  "usage.total_tokens": ({ usage }) => usage?.total_tokens,
  "usage.prompt_tokens_details": ({ usage }) => usage?.prompt_tokens_details?.cached_tokens,
  "usage.completion_tokens_details": ({ usage }) => usage?.completion_tokens_details?.reasoning_tokens,
  "metadata.session_id": ({ metadata }) => metadata.session_id,
  "metadata.prompt_id": ({ metadata }) => metadata.prompt_id,
  "metadata.input_format": ({ metadata }) => metadata.input_format,
  "metadata.output_format": ({ metadata }) => metadata.output_format,
  "metadata.summary.prompt_id": ({ metadata }) => metadata.summary?.prompt_id,
  "metadata.error.type": of("summary", "metadata", "error", "type"),
  "metadata.error.message": of("summary", "metadata", "error", "message"),
  "metadata.control_errors[].request_id": ({ metadata }) => metadata.control_errors?.[0]?.request_id,
  "metadata.control_errors[].message": ({ metadata }) => metadata.control_errors?.[0]?.message,
  "x-qwen-terminal.channel": terminal("tool", "channel"),
  "x-qwen-terminal.spans": terminal("tool", "spans", 0, "style", "theme_token"),
  "x-qwen-terminal.ansi": terminal("tool", "ansi", 0, "code"),
  "x-qwen-terminal.prompt_id": terminal("tool", "prompt_id"),
  "x-qwen-tool-display.session_id": ({ displays }) => displays[0]?.session_id,
  "file_diff.file_name": shown("file_diff", "file_name"),
  "file_diff.diff": shown("file_diff", "diff"),
  "file_diff.original": shown("file_diff", "original"),
  "file_diff.modified": shown("file_diff", "modified"),
  "file_diff.stat.ai_added_lines": shown("file_diff", "stat", "ai_added_lines"),
  "file_diff.stat.user_added_lines": shown("file_diff", "stat", "user_added_lines"),
  "todo_list.todos[].id": shown("todo_list", "todos", 0, "id"),
  "todo_list.todos[].content": shown("todo_list", "todos", 0, "content"),
  "todo_list.todos[].status": shown("todo_list", "todos", 0, "status"),
  "string.text": shown("string", "text"),
  "confirmation.title": ({ displays }) => at(displays[0]?.confirmation, "title"),
  "confirmation.file_name": ({ displays }) => at(displays[0]?.confirmation, "file_name"),
  "confirmation.modified": ({ displays }) => at(displays[0]?.confirmation, "modified"),
  "confirmation.command": ({ displays }) => at(displays[0]?.confirmation, "command"),
  "x-qwen-thought.subject": ({ thoughts }) => thoughts[0]?.subject,
  "x-qwen-thought.description": ({ thoughts }) => thoughts[0]?.description,
  "x-qwen-session-event.event": ({ raw }) => raw["event"],
  "x-qwen-session-event.message": ({ raw }) => (raw["event"] === undefined ? undefined : raw["message"]),
  "x-qwen-session-event.prompt_id": of("event:Finished", "prompt_id"),
  "result/command.session_id": of("result/command", "session_id"),
  "result/command.prompt_id": of("result/command", "prompt_id"),
  "result/command.command.path": (line) => of("result/command", "command", "path", 0)(line),
  "result/command.result.dialog": of("result/command", "result", "dialog"),
  "result/command.result.content": of("result/command", "result", "content"),
  "result/command.result.level": of("result/command", "result", "level"),
  "result/command_hint.prompt_id": of("result/command_hint", "prompt_id"),
  "result/command_hint.request_id": of("result/command_hint", "request_id"),
  "result/command_hint.trigger": of("result/command_hint", "trigger"),
  "result/command_hint.suggestions[].label": of("result/command_hint", "suggestions", 0, "label"),
  "result/command_hint.suggestions[].value": of("result/command_hint", "suggestions", 0, "value"),
  "result/command_hint.metadata.is_perfect_match": of("result/command_hint", "metadata", "is_perfect_match"),
  "result/heartbeat.session_id": of("result/heartbeat", "session_id"),
  "result/heartbeat.prompt_id": of("result/heartbeat", "prompt_id"),
  "result/cancel.session_id": of("result/cancel", "session_id"),
  "result/cancel.prompt_id": of("result/cancel", "prompt_id"),
  "result/cancel.reason": of("result/cancel", "reason"),
  "result/cancel.message": of("result/cancel", "message"),
  "control_request.session_id": of("control_request:can_use_tool", "session_id"),
  "control_request.prompt_id": of("control_request:can_use_tool", "prompt_id"),
  "control_request.tool.arguments": of("control_request:can_use_tool", "tool", "arguments", "content"),
  "control_response.request_id": of("control_response", "request_id"),
  "control_response.response.request_id": of("control_response", "response", "request_id"),
};

it("every field of the agent's lines has two values for two inputs", async () => {
  const [one, other] = await Promise.all([tale("stream-json", "apple"), tale("stream-chunk-json", "banana")]);
  const values = Object.entries(FIELDS).map(([field, find]) => ({ field, one: one.pick(find), other: other.pick(find) }));
  expect(values.filter(({ one: a, other: b }) => a === undefined || b === undefined)).toEqual([]);
  const same = values.filter(({ one: a, other: b }) => JSON.stringify(a) === JSON.stringify(b)).map(({ field }) => field);
  expect(same).toEqual([]);
  // Within one conversation: fields that tell one line from the next.
  for (const { host } of [one, other]) {
    const every = (find: (line: Heard) => unknown): Set<unknown> => new Set(host.heard.map(find).filter((value) => value != null));
    const several: Record<string, Set<unknown>> = {
      finish_reason: every(({ finish }) => finish),
      "tool_calls[].id": every(({ calls }) => calls[0]?.id),
      "tool_calls[].function.name": every(({ calls }) => calls[0]?.function?.name),
      status: every(({ displays }) => displays[0]?.status),
      pending: every(({ displays }) => displays[0]?.pending),
      tool_call_id: every(({ displays }) => displays[0]?.tool_call_id),
      "confirmation.type": every(({ displays }) => at(displays[0]?.confirmation, "type")),
      "result_display.kind": every(({ displays }) => at(displays[0]?.result_display, "kind")),
      "terminal.source": every(({ terminals }) => terminals[0]?.source),
      "terminal.log_scope": every(({ terminals }) => terminals[0]?.log_scope),
      "terminal.exit_code": every(({ terminals }) => terminals[0]?.exit_code),
      "summary.num_turns": every(({ metadata }) => metadata.summary?.num_turns),
      "summary.is_error": every(({ metadata }) => metadata.summary?.is_error),
      request_id: every(({ word, raw }) => (word === "control_request:can_use_tool" ? raw["request_id"] : undefined)),
      "control_request.tool.name": every((line) => of("control_request:can_use_tool", "tool", "name")(line)),
      "control_request.metadata.reason": every((line) => of("control_request:can_use_tool", "metadata", "reason")(line)),
      "result.type": every((line) => of("result/command", "result", "type")(line)),
    };
    expect(Object.entries(several).flatMap(([field, values]) => (values.size < 2 ? [field] : []))).toEqual([]);
  }
});

/** What a field of the host's lines changes: the same request with one value and with another. */
const INPUTS: [field: string, lines: [object, object], observe: (host: QwenHost) => Promise<unknown>, options?: QwenOptions][] = [
  [
    "session_id",
    [
      { session_id: "a", input: { parts: "go" } },
      { session_id: "b", input: { parts: "go" } },
    ],
    async (host) => (await host.next("summary")).id,
  ],
  [
    "prompt_id",
    [
      { prompt_id: "a", input: { parts: "go" } },
      { prompt_id: "b", input: { parts: "go" } },
    ],
    async (host) => (await host.next("summary")).metadata.prompt_id,
  ],
  [
    "model",
    [
      { model: "a", input: { parts: "say x" } },
      { model: "b", input: { parts: "say x" } },
    ],
    async (host) => (await host.next("summary")).model,
    { model: ["--provider", "rehearsal"] },
  ],
  [
    "input.origin",
    [{ input: { origin: "user", parts: "say x" } }, { input: { origin: "system", parts: "say x" } }],
    async (host) => (await host.next("summary")).metadata.summary?.num_turns,
  ],
  [
    "input.parts",
    [{ input: { parts: "say x" } }, { input: { parts: "say y" } }],
    async (host) => (await host.next("text")).content,
    { model: ["--provider", "rehearsal"] },
  ],
  [
    "input.command",
    [
      { input: { command: { kind: "slash", path: ["mode"], args: "" } } },
      { input: { command: { kind: "slash", path: ["mode"], args: "yolo" } } },
    ],
    async (host) => at((await host.next("result/command")).raw, "result", "type"),
  ],
  [
    "options.tool_overrides",
    [
      { input: { parts: "go" }, options: { tool_overrides: ["Glob"] } },
      { input: { parts: "go" }, options: { tool_overrides: [] } },
    ],
    async (host) => JSON.stringify((await host.next("summary")).metadata.summary?.is_error),
    { responses: [{ expect: { tools: ["Glob"] }, say: "ok" }] },
  ],
  [
    "continuation",
    [{ input: { parts: [] }, continuation: true }, { input: { parts: [] } }],
    async (host) => JSON.stringify((await host.next("error")).metadata.error),
  ],
  [
    "tool_request",
    [
      { input: { parts: [] }, tool_request: { name: "Glob", args: { pattern: "a*" } } },
      { input: { parts: [] }, tool_request: { name: "Glob", args: { pattern: "b*" } } },
    ],
    async (host) => (await host.next("tool_calls")).calls[0]?.function?.arguments,
  ],
  [
    "tool_call_id",
    [{ tool_call_id: "a", input: { origin: "tool_response" } }, { input: { origin: "tool_response" } }],
    async (host) => at((await host.next("error")).metadata.error, "code"),
  ],
  [
    "metadata.protocol_version",
    [
      { type: "heartbeat_request", metadata: { protocol_version: 1 } },
      { type: "heartbeat_request", metadata: { protocol_version: 2 } },
    ],
    async (host) => (await Promise.race([host.next("result/heartbeat"), host.next("unsupported")])).word,
  ],
  [
    "trigger",
    [
      { type: "command_hint_request", trigger: "slash", text: "he" },
      { type: "command_hint_request", trigger: "at", text: "he" },
    ],
    async (host) => JSON.stringify((await host.next("result/command_hint")).raw["suggestions"]),
  ],
  [
    "text",
    [
      { type: "command_hint_request", trigger: "slash", text: "/he" },
      { type: "command_hint_request", trigger: "slash", text: "/cl" },
    ],
    async (host) => at((await host.next("result/command_hint")).raw, "suggestions", 0, "value"),
  ],
  [
    "cursor",
    [
      { type: "command_hint_request", trigger: "slash", text: "/help", cursor: 5 },
      { type: "command_hint_request", trigger: "slash", text: "/help", cursor: 3 },
    ],
    async (host) => at((await host.next("result/command_hint")).raw, "metadata", "is_perfect_match"),
  ],
];

describe("every field of the host's lines changes something", () => {
  it.each(INPUTS)("%s", async (_field, lines, observe, options = {}) => {
    const values = [];
    for (const line of lines) {
      const host = await received({ ...(options.model === undefined && { responses: [{ say: "ok" }] }), ...options });
      host.send(line);
      values.push(await observe(host));
    }
    expect(values[0]).not.toEqual(values[1]);
  });
});
