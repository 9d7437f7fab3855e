/** A tracer of OpenTelemetry behind our port. Its package is loaded with the first one; another copy of it may have made the tracer. */
import type { Context, SpanContext, Tracer as ApiTracer } from "@opentelemetry/api";
import type { NewSpan, Span, Tracer } from "./tracer.js";

/** A tracer that tells OpenTelemetry. */
export async function otelTracer(tracer: ApiTracer): Promise<Tracer> {
  const { isSpanContextValid, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } = await import("@opentelemetry/api");
  return { start: (span, traceparent) => begin(span, traceparent === undefined ? ROOT_CONTEXT : remote(traceparent)) };

  function begin({ name, kind, attributes }: NewSpan, parent: Context): Span {
    const options = { kind: kind === "client" ? SpanKind.CLIENT : SpanKind.INTERNAL, attributes };
    const span = tracer.startSpan(name, options, parent);
    const below = trace.setSpan(parent, span);
    return {
      traceparent: traceparentOf(span.spanContext()),
      start: (child) => begin(child, below),
      set: (more) => void span.setAttributes(more),
      end(failure) {
        if (failure !== undefined) {
          span.setAttribute("error.type", failure);
          span.setStatus({ code: SpanStatusCode.ERROR });
        }
        span.end();
      },
    };
  }

  function traceparentOf(context: SpanContext): string | undefined {
    const { traceId, spanId, traceFlags } = context;
    return isSpanContextValid(context) ? `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, "0")}` : undefined;
  }

  function remote(traceparent: string): Context {
    const [, traceId = "", spanId = "", flags = "0"] = traceparent.split("-");
    return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true });
  }
}
