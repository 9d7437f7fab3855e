/** Streams a response as model parts: how speech is cut into pieces, how calls are written out, when an abort is noticed. */
import { isRecord } from "../../../core/values/json-object.js";
import type { Finish, ModelCall, ModelPart } from "../model.js";
import { providerError } from "./faults.js";
import { pieces } from "./pieces.js";
import type { Response, WantedCall } from "./response.js";

export interface StreamOptions {
  /** The next `call_N`. */
  nextId(): string;
  /** Tokens that the request counts for. */
  inputTokens: number;
  seed?: number;
}

/** Pieces after which the event loop gets a turn; without it no interrupt could arrive. */
const YIELD_AFTER = 128;

export async function* streamResponse(response: Response, options: StreamOptions, signal: AbortSignal): AsyncGenerator<ModelPart> {
  let open: "text" | "thinking" | undefined;
  let called = false;
  const chars = { text: 0, thinking: 0 };
  let sent = 0;

  for (const text of response.notes ?? []) yield { type: "note", text };
  for (const output of response.outputs) {
    if (signal.aborted) return;
    if (output.type === "say" || output.type === "think") {
      const kind = output.type === "say" ? "text" : "thinking";
      if (open !== undefined && open !== kind) yield { type: `${open}.end` };
      open = kind;
      for (const text of pieces(output.speech, options.seed)) {
        chars[kind] += text.length;
        yield { type: kind, text };
        if (++sent % YIELD_AFTER === 0) await yieldToEvents();
        if (signal.aborted) return;
      }
      if (output.end === true) {
        yield { type: `${kind}.end` };
        open = undefined;
      }
      continue;
    }
    if (output.type === "wait") {
      if (output.ms === "forever") yield* paid(response);
      await wait(output.ms, signal);
      continue;
    }
    if (output.type === "fail" || output.type === "cut") {
      yield* paid(response);
      throw providerError(output.type === "fail" ? output.failure : CUT);
    }
    if (open !== undefined) yield { type: `${open}.end` };
    open = undefined;
    called = true;
    const { call, written } = wholeCall(output.call, options.nextId);
    chars.text += written.length;
    yield* callDeltas(call, written);
    if (output.call.partial !== true) yield { type: "call", call };
  }

  if (signal.aborted) return;
  if (open !== undefined) yield { type: `${open}.end` };
  if (response.usage !== false) yield { type: "usage", usage: response.usage ?? derivedUsage(options.inputTokens, chars) };
  yield { type: "finish", reason: response.finish ?? usualFinish(called) };
}

/** Usage is told also when the answer breaks off. */
function* paid({ usage }: Response): Generator<ModelPart> {
  if (usage) yield { type: "usage", usage };
}

const CUT = { message: "The connection to the model was lost in the middle of its answer" };

function usualFinish(called: boolean): Finish {
  return called ? "tool_calls" : "stop";
}

function derivedUsage(input: number, chars: { text: number; thinking: number }) {
  const reasoning = Math.ceil(chars.thinking / 4);
  return { input, output: Math.ceil(chars.text / 4), ...(reasoning > 0 && { reasoning }) };
}

function wholeCall(wanted: WantedCall, nextId: () => string): { call: ModelCall; written: string } {
  const id = wanted.id ?? nextId();
  const name = wanted.tool;
  if (typeof wanted.args !== "string") return { call: { id, name, args: wanted.args }, written: JSON.stringify(wanted.args) };
  const args = jsonObject(wanted.args);
  return { call: args === undefined ? { id, name, args: {}, raw: wanted.args } : { id, name, args }, written: wanted.args };
}

function jsonObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

function* callDeltas(call: ModelCall, written: string): Generator<ModelPart> {
  const parts = quarters(written);
  for (const [index, text] of parts.entries()) {
    yield { type: "call.delta", id: call.id, ...(index === 0 && { name: call.name }), text };
  }
}

/** At most four pieces that never split a character in two. */
function quarters(text: string): string[] {
  const size = Math.max(8, Math.ceil(text.length / 4));
  const found: string[] = [];
  let from = 0;
  while (from < text.length) {
    let to = Math.min(text.length, from + size);
    if (isLowSurrogate(text, to)) to += 1;
    found.push(text.slice(from, to));
    from = to;
  }
  return found.length === 0 ? [""] : found;
}

function isLowSurrogate(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code >= 0xdc00 && code <= 0xdfff;
}

function yieldToEvents(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

/** `forever` holds a timer: without one the process would end while the model is meant to hang. */
function wait(ms: number | "forever", signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = ms === "forever" ? setInterval(() => undefined, 2 ** 30) : setTimeout(done, ms);
    signal.addEventListener("abort", done, { once: true });
    function done(): void {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    }
  });
}
