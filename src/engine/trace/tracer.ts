/** The port to a collector of traces. Ids, names, counts and outcomes pass through it: no prompts, arguments, outputs or secrets. */
export type Attributes = Record<string, string | number | boolean | string[]>;

/** A span that begins. */
export interface NewSpan {
  name: string;
  /** `client`: another program is asked, and may have spans of its own below it. */
  kind: "internal" | "client";
  attributes: Attributes;
}

/** Collects spans of turns, model calls and tools. */
export interface Tracer {
  /** Starts a span below the host's valid `traceparent`, or without one as the root of a trace. */
  start(span: NewSpan, traceparent?: string): Span;
}

/** A span that is under way. */
export interface Span {
  /** The W3C trace context for programs that are asked within the span; undefined where the tracer keeps no trace. */
  readonly traceparent: string | undefined;
  /** Starts a span below this one. */
  start(span: NewSpan): Span;
  set(attributes: Attributes): void;
  /** Call it once. `failure` is a kind of error, never its words. */
  end(failure?: string): void;
}
