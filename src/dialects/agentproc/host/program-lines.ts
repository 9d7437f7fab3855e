/** Reads the JSON lines that a program writes of one turn in a machine mode of its own. Whatever says nothing of the answer is left out. */
import * as v from "valibot";
import { isRecord } from "../../../core/values/json-object.js";
import { parseJson } from "../../../core/values/parse-json.js";
import { echo } from "../../kit/issues.js";
import type { ProgramOutput } from "../wire/options.js";
import type { Said } from "./read-events.js";

const text = v.string();
const count = v.optional(v.number(), 0);

/** `isStreamed`: pieces are told as they come; otherwise the whole text is kept. */
export function saidByProgram(line: unknown, program: ProgramOutput, isStreamed: boolean): Said[] {
  const record = typeof line === "string" ? parseJson(line.trim())?.json : line;
  if (!isRecord(record)) return [{ is: "warning", text: `The agent wrote a line that is no JSON object: ${echo(String(line))}` }];
  return program === "gemini" ? saidByGemini(record, isStreamed) : saidByPi(record, isStreamed);
}

// --- gemini --output-format stream-json ---

/** Counts of the turn: `input` is without what the cache had. */
const GeminiStats = v.looseObject({ input: count, output_tokens: count, cached: count });

const GeminiLine = v.variant("type", [
  v.looseObject({ type: v.literal("init"), session_id: text }),
  v.looseObject({ type: v.literal("message"), role: text, content: text }),
  v.looseObject({ type: v.literal("error"), severity: v.optional(text), message: text }),
  v.looseObject({
    type: v.literal("result"),
    status: text,
    error: v.optional(v.looseObject({ message: v.optional(text) })),
    stats: v.optional(GeminiStats),
  }),
]);

function saidByGemini(record: unknown, isStreamed: boolean): Said[] {
  const { output: line, success } = v.safeParse(GeminiLine, record);
  if (!success) return [];
  switch (line.type) {
    case "init":
      return [{ is: "session", id: line.session_id, wins: "last" }];
    case "message":
      return line.role === "assistant" ? [piece(line.content, isStreamed)] : [];
    case "error":
      return [{ is: "warning", text: line.message }];
    case "result": {
      const { stats, status, error } = line;
      const used: Said[] =
        stats === undefined
          ? []
          : [
              {
                is: "usage",
                usage: { input_tokens: stats.input, output_tokens: stats.output_tokens, cache_read_input_tokens: stats.cached },
              },
            ];
      return status === "success" ? used : [...used, { is: "error", text: error?.message ?? "" }];
    }
    default:
      return line satisfies never;
  }
}

// --- pi --mode json ---

/** Disjoint counts of one model call. */
const PiUsage = v.looseObject({ input: count, output: count, cacheRead: count, cacheWrite: count });

const PiMessage = v.looseObject({
  role: text,
  content: v.optional(v.unknown()),
  stopReason: v.optional(text),
  errorMessage: v.optional(text),
  usage: v.optional(PiUsage),
});

const PiText = v.looseObject({ type: v.literal("text"), text });

const PiLine = v.variant("type", [
  v.looseObject({ type: v.literal("session"), id: text }),
  v.looseObject({
    type: v.literal("message_update"),
    assistantMessageEvent: v.looseObject({ type: text, delta: v.optional(text) }),
  }),
  v.looseObject({ type: v.literal("message_end"), message: PiMessage }),
  v.looseObject({ type: v.literal("agent_end"), messages: v.array(PiMessage), willRetry: v.optional(v.boolean()) }),
]);

function saidByPi(record: unknown, isStreamed: boolean): Said[] {
  const { output: line, success } = v.safeParse(PiLine, record);
  if (!success) return [];
  switch (line.type) {
    case "session":
      return [{ is: "session", id: line.id, wins: "last" }];
    case "message_update": {
      const { type, delta = "" } = line.assistantMessageEvent;
      if (type === "thinking_delta") return [{ is: "partial", text: delta, role: "thinking" }];
      return type === "text_delta" && isStreamed ? [piece(delta, true)] : [];
    }
    case "message_end":
      return isStreamed || line.message.role !== "assistant" ? [] : [piece(textIn(line.message.content), false)];
    case "agent_end":
      return line.willRetry === true ? [] : endOfPi(line.messages);
    default:
      return line satisfies never;
  }
}

/** An attempt that is tried again says nothing of the turn's end. */
function endOfPi(messages: readonly v.InferOutput<typeof PiMessage>[]): Said[] {
  const answers = messages.filter(({ role }) => role === "assistant");
  const sum = (key: "input" | "output" | "cacheRead" | "cacheWrite"): number =>
    answers.reduce((total, { usage }) => total + (usage?.[key] ?? 0), 0);
  const used: Said = {
    is: "usage",
    usage: {
      input_tokens: sum("input"),
      output_tokens: sum("output"),
      cache_read_input_tokens: sum("cacheRead"),
      cache_creation_input_tokens: sum("cacheWrite"),
    },
  };
  const last = answers.at(-1);
  const hasFailed = last?.stopReason === "error" || last?.stopReason === "aborted";
  return hasFailed ? [used, { is: "error", text: last.errorMessage ?? "" }] : [used];
}

function textIn(content: unknown): string {
  if (typeof content === "string") return content;
  return Array.isArray(content) ? content.map((block) => (v.is(PiText, block) ? block.text : "")).join("") : "";
}

function piece(words: string, isStreamed: boolean): Said {
  return isStreamed ? { is: "partial", text: words, role: "output" } : { is: "text", text: words };
}
