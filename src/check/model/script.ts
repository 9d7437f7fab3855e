/** A scripted answer of a model, and the parts that every vendor's stream is made of. */

/** One answer, in the order in which models speak: thinking, text, calls. Lists of strings are streamed piece by piece. */
export interface Reply {
  thinking?: string[];
  /** The field of the thinking in chat completions; the default is `reasoning_content`. */
  thinkingName?: "reasoning_content" | "reasoning";
  /** The proof that the vendor wants back with the thinking: Anthropic's signature, OpenAI's encrypted content, Gemini's thought signatures. */
  signature?: string;
  /** Anthropic's thinking that nobody may read. */
  redacted?: string;
  text?: string[];
  /** The vendor has searched the web before the text, and names this page; only where the request gives it its search. */
  searched?: { query: string; url: string; title: string };
  /** Gemini's word for a prompt that it does not answer at all. */
  blocked?: string;
  /** OpenAI's way to say no. */
  refusal?: string[];
  calls?: ScriptedCall[];
  /** The vendor's own word for why it stopped; by default what follows from the rest. */
  stop?: string;
  usage?: ScriptedUsage;
  /** The server counts no tokens (chat completions). */
  uncounted?: boolean;
  /** Instead of an answer: an HTTP error. */
  error?: ScriptedError;
  /** The vendor gives the answer up (responses). */
  failed?: boolean;
  /** In place of the end: the vendor's error event. */
  broken?: { type: string; message: string };
  /** The socket is closed: before the headers, before any output, or after the output. */
  cut?: "connection" | "before" | "after";
  /** With `cut`: the response just ends, as behind a proxy that gave up. */
  cleanly?: boolean;
  /** Waits for `release()`: before the headers, or between the output and the end. For good, if it never comes: until the client leaves. */
  hold?: "start" | "end";
}

export interface ScriptedCall {
  id?: string;
  name: string;
  /** Arguments, or the pieces of their text, which need not be JSON. */
  args: Record<string, unknown> | string[];
}

/** Disjoint, as the engine counts; each wire adds up what its vendor adds up. */
interface ScriptedUsage {
  input?: number;
  cacheRead?: number;
  cacheWrite?: number;
  output?: number;
  reasoning?: number;
}

export interface ScriptedError {
  status: number;
  type?: string;
  message?: string;
  /** Seconds or an HTTP date. */
  retryAfter?: number | string;
  /** A body other than the vendor's usual one. */
  body?: string;
}

/** One server-sent event; or bytes, on a wire that frames in another way. */
export type Frame = { event?: string; data: unknown } | { bytes: Uint8Array };

export interface Played {
  opening: Frame[];
  output: Frame[];
  ending: Frame[];
}

export function callId(call: ScriptedCall, count: number, at: number): string {
  return call.id ?? `call_${count}_${at}_0123456789`;
}

/** The arguments as they are streamed: in two pieces at least, so that nobody may rely on whole ones. */
export function argumentPieces({ args }: ScriptedCall): string[] {
  if (Array.isArray(args)) return args;
  const text = JSON.stringify(args);
  const middle = Math.ceil(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)];
}

/** The first of each, then the second of each, and so on: parallel calls as they may be streamed. */
export function interleaved<T>(lists: readonly (readonly T[])[]): T[] {
  const longest = Math.max(0, ...lists.map((list) => list.length));
  return Array.from({ length: longest }, (_, at) => lists.flatMap((list) => list.slice(at, at + 1))).flat();
}

/** The model that a request names. */
export function modelIn(body: unknown): string {
  return typeof body === "object" && body !== null && "model" in body && typeof body.model === "string" ? body.model : "";
}
