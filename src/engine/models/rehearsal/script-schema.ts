/** The vocabulary of a script file: its keys, what each takes, and the sentences that tell what is wrong with one. */
import * as v from "valibot";
import { nearest } from "../../../core/text/nearest-word.js";
import { isRecord } from "../../../core/values/json-object.js";

/** A map with these keys and no others; `what` names it in messages. */
function map<E extends v.ObjectEntries>(what: string, entries: E) {
  const allowed = Object.keys(entries);
  const isMap = v.custom<Record<string, unknown>>(isRecord, `${what} must be a map with the keys ${allowed.join(", ")}`);
  const withKeys = v.strictObject(entries, (issue) => {
    if (issue.expected !== "never") return `${what} needs the key ${issue.expected.replaceAll('"', "'")}`;
    return `${unknownKey(String(issue.input), what, allowed)} Allowed: ${allowed.join(", ")}`;
  });
  return v.pipe(isMap, withKeys);
}

const text = v.string((issue) => `expected text, not ${issue.received}; put it in quotes`);
const count = v.pipe(v.number("expected a whole number"), v.integer("expected a whole number"), v.minValue(0, "expected 0 or more"));

const Pieces = v.lazy((input) => (Array.isArray(input) ? v.array(text) : count));

/** `{text, pieces: N}` is the text N times, as N pieces; `{pieces: [..]}` are those pieces. `end` ends the block with it. */
const SpeechMap = v.pipe(
  map("speech", { text: v.optional(text), pieces: v.optional(Pieces), end: v.optional(v.literal(true, "end is true or left out")) }),
  v.check(
    ({ text: piece, pieces }) => (Array.isArray(pieces) ? piece === undefined : piece !== undefined),
    "speech is text, or {text, pieces: NUMBER}, or {pieces: [LIST OF TEXTS]}",
  ),
);
type SpeechMap = v.InferOutput<typeof SpeechMap>;
const Speech = v.lazy((input): v.GenericSchema<string | SpeechMap> => (isRecord(input) ? SpeechMap : text));

const Args = v.lazy((input): v.GenericSchema<Record<string, unknown> | string> => {
  return typeof input === "string"
    ? v.string()
    : v.custom<Record<string, unknown>>(isRecord, "args must be a map, or text for broken arguments");
});
const Call = map("a call", {
  tool: text,
  args: v.optional(Args),
  id: v.optional(text),
  partial: v.optional(v.literal(true, "partial is true or left out")),
});

const Wait = v.lazy((input): v.GenericSchema<number | "forever"> => {
  return typeof input === "string" ? v.literal("forever", "wait is a number of milliseconds, or forever") : count;
});

const failure = {
  status: v.optional(count),
  message: v.optional(text),
  retryAfter: v.optional(v.number("expected a number of seconds")),
  code: v.optional(text),
  retryable: v.optional(v.boolean("retryable is true or false")),
} as const;
const FailMap = map("fail", { ...failure, times: v.optional(count) });
type FailMap = v.InferOutput<typeof FailMap>;
const CutMap = map("cut", failure);
type CutMap = v.InferOutput<typeof CutMap>;
const Cut = v.lazy((input): v.GenericSchema<CutMap | boolean> => (isRecord(input) ? CutMap : v.boolean("cut is true, false or a failure")));
const Fail = v.lazy((input): v.GenericSchema<FailMap | number> => (typeof input === "number" ? count : FailMap));

/** `/pattern/flags` is a regular expression; anything else must be contained. */
export const REGEX = /^\/(.+)\/([a-z]*)$/s;
const Matcher = v.pipe(
  text,
  v.check(isMatcher, (issue) => `'${issue.input}' is not a regular expression`),
);

function isMatcher(wanted: string): boolean {
  const [, source, flags] = REGEX.exec(wanted) ?? [];
  try {
    return source === undefined || new RegExp(source, flags) instanceof RegExp;
  } catch {
    return false;
  }
}

const Expect = map("expect", {
  lastUser: v.optional(Matcher),
  toolResult: v.optional(Matcher),
  system: v.optional(Matcher),
  tools: v.optional(v.array(text, "tools is a list of tool names")),
  messages: v.optional(count),
});
export type Expect = v.InferOutput<typeof Expect>;

const UsageMap = map("usage", {
  input: count,
  output: count,
  cacheRead: v.optional(count),
  cacheWrite: v.optional(count),
  reasoning: v.optional(count),
});

type UsageMap = v.InferOutput<typeof UsageMap>;
const Usage = v.lazy((input): v.GenericSchema<unknown, UsageMap | false> => {
  return input === false ? v.literal(false) : UsageMap;
});

const FINISHES = ["stop", "tool_calls", "length", "pause", "refusal", "content_filter", "other"] as const;

const Step = v.pipe(
  map("a step", { think: v.optional(Speech), say: v.optional(Speech), wait: v.optional(Wait), call: v.optional(Call) }),
  v.check((step) => Object.keys(step).length === 1, "a step has exactly one of think, say, wait, call"),
);
export type ScriptStep = v.InferOutput<typeof Step>;

const ResponseMap = v.pipe(
  map("a response", {
    expect: v.optional(Expect),
    fail: v.optional(Fail),
    think: v.optional(Speech),
    say: v.optional(Speech),
    call: v.optional(Call),
    calls: v.optional(v.array(Call, "calls is a list of calls")),
    steps: v.optional(v.array(Step, "steps is a list of steps")),
    cut: v.optional(Cut),
    notes: v.optional(v.array(text, "notes is a list of texts")),
    usage: v.optional(Usage),
    finish: v.optional(v.picklist(FINISHES, `finish is one of ${FINISHES.join(", ")}`)),
  }),
  v.check(({ call, calls }) => call === undefined || calls === undefined, "a response has call or calls, not both"),
  v.check(
    ({ steps, think, say, call, calls }) => steps === undefined || [think, say, call, calls].every((key) => key === undefined),
    "a response has steps, or think, say and call, not both",
  ),
);
export type ScriptResponse = v.InferOutput<typeof ResponseMap>;

const ScriptResponse = v.lazy((input): v.GenericSchema<ScriptResponse | string> => (typeof input === "string" ? text : ResponseMap));
const Responses = v.pipe(v.array(ScriptResponse, "responses is a list"), v.minLength(1, "a script needs at least one response"));

const THEN = ["stop", "repeat", "orders"] as const;

const ScriptMap = map("a script", {
  responses: Responses,
  then: v.optional(v.picklist(THEN, `then is one of ${THEN.join(", ")}`)),
});

/** A script, or just its list of responses. */
export const Script = v.lazy((input): v.GenericSchema<unknown, v.InferOutput<typeof ScriptMap> | v.InferOutput<typeof Responses>> => {
  return Array.isArray(input) ? Responses : ScriptMap;
});

function unknownKey(key: string, what: string, allowed: readonly string[]): string {
  const meant = nearest(key, allowed);
  return `'${key}' is not a key of ${what}${meant === undefined ? "." : `; did you mean '${meant}'?`}`;
}
