/** One line of the agent, judged by its schema and told in a word, so that a turn reads as a sentence. */
import * as v from "valibot";
import {
  Chunk,
  Completion,
  FatalError,
  results,
  Terminal,
  Thought,
  ToolDisplay,
  ToolCallPiece,
  type Metadata,
  type WireUsage,
} from "../../src/dialects/qwen/wire/event-records.js";

export interface Heard {
  /** "receipt", "text", "delta", "tool_calls", "display:executing", "event:Finished", "summary", "result/cancel", … */
  word: string;
  raw: Record<string, unknown>;
  id?: string;
  model?: string;
  created?: number;
  finish?: string | null | undefined;
  usage?: WireUsage | undefined;
  metadata: Metadata;
  content: string | undefined;
  role: string | undefined;
  calls: ToolCallPiece[];
  displays: v.InferOutput<typeof ToolDisplay>[];
  terminals: v.InferOutput<typeof Terminal>[];
  thoughts: v.InferOutput<typeof Thought>[];
}

const Said = v.looseObject({
  role: v.optional(v.string()),
  content: v.nullish(v.string()),
  tool_calls: v.nullish(v.array(ToolCallPiece)),
  annotations: v.optional(v.array(v.unknown())),
});

const NOTHING = { metadata: {}, content: undefined, role: undefined, calls: [], displays: [], terminals: [], thoughts: [] };

export function heardIn(text: string): Heard {
  const raw = v.parse(v.record(v.string(), v.unknown()), JSON.parse(text));
  if (raw["object"] !== undefined) return spoken(raw);
  if (raw["error"] !== undefined) {
    v.assert(FatalError, raw);
    return { ...NOTHING, word: "fatal", raw };
  }
  const type = String(raw["type"]);
  const schema = Object.entries(results).find(([name]) => name === type)?.[1];
  if (schema === undefined) throw new Error(`A line of no known type: ${text}`);
  v.assert(schema, raw);
  const { subtype, event } = v.parse(v.looseObject({ subtype: v.optional(v.string()), event: v.optional(v.string()) }), raw);
  const more = subtype ?? event;
  const name = type === "x-qwen-session-event" ? "event" : type;
  return { ...NOTHING, word: more === undefined ? name : `${name}:${more}`, raw };
}

function spoken(raw: Record<string, unknown>): Heard {
  const isChunk = raw["object"] !== "chat.completion";
  const line = isChunk ? v.parse(Chunk, raw) : v.parse(Completion, raw);
  const choice = line.choices[0];
  const said = v.parse(Said, isChunk ? (choice?.["delta"] ?? {}) : (choice?.["message"] ?? {}));
  const annotations = said.annotations ?? [];
  const heard = {
    raw,
    id: line.id,
    model: line.model,
    created: line.created,
    finish: choice?.finish_reason,
    usage: line.usage ?? undefined,
    metadata: line.metadata ?? {},
    content: said.content ?? undefined,
    role: said.role,
    calls: said.tool_calls ?? [],
    displays: annotations.filter((each) => v.is(ToolDisplay, each)),
    terminals: annotations.filter((each) => v.is(Terminal, each)),
    thoughts: annotations.filter((each) => v.is(Thought, each)),
  };
  return { ...heard, word: wordOf(heard, isChunk) };
}

function wordOf(heard: Omit<Heard, "word">, isChunk: boolean): string {
  const { metadata, displays, terminals, thoughts, calls, content, finish, role } = heard;
  if (metadata.protocol_version !== undefined) return "receipt";
  if (metadata.summary !== undefined) return "summary";
  if (metadata.error !== undefined) return finish === "error" ? "unsupported" : "error";
  const [display] = displays;
  if (display !== undefined) return `display:${display.status}`;
  if (thoughts.length > 0) return "thought";
  const [terminal] = terminals;
  if (terminal !== undefined && terminal.source !== "assistant") return `terminal:${terminal.source}`;
  if (calls.length > 0) return isChunk ? "call" : "tool_calls";
  if (finish === "tool_calls") return "tool_calls";
  if (isChunk && role !== undefined) return "role";
  if (content !== undefined) return isChunk ? "delta" : "text";
  return "nothing";
}
