/** The port to whoever collects traces. Ids, names, counts and outcomes pass through it: no prompts, arguments, outputs or secrets. */
export type Attributes = Record<string, string | number | boolean | string[]>;

export interface NewSpan {
  name: string;
  /** `client`: somebody else is asked, and may have spans of his own below it. */
  kind: "internal" | "client";
  attributes: Attributes;
}

export interface Tracer {
  /** Without `traceparent`, which is a valid one of whoever asked us, it is the root of a trace. */
  start(span: NewSpan, traceparent?: string): Span;
}

export interface Span {
  /** In the form of W3C, for whoever is asked on its behalf; undefined where the tracer keeps no trace. */
  readonly traceparent: string | undefined;
  /** Another one below it. */
  start(span: NewSpan): Span;
  set(attributes: Attributes): void;
  /** Once. `failure` is a kind of error, never its words. */
  end(failure?: string): void;
}
