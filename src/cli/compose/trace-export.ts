/**
 * Exports traces as OTLP in JSON over HTTP. Spans wait in a bounded queue and leave in batches: a collector that is slow or gone costs
 * traces, never a turn. The packages read the other OTEL_* variables (headers, timeouts, sampling, names) themselves.
 */
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from "@opentelemetry/resources";
import { BatchSpanProcessor, NodeTracerProvider, type SpanExporter } from "@opentelemetry/sdk-trace-node";
import { ParleyError } from "../../core/errors.js";
import { otelTracer } from "../../engine/trace/otel-tracer.js";
import type { Tracer } from "../../engine/trace/tracer.js";
import { proxyFor } from "../../os/proxy/proxy.js";
import { VERSION } from "../version.js";

/** The time for the last batch at the end of the process. */
const END_MS = 2000;

interface TraceExport {
  tracer: Tracer;
  /** False when the time is over. */
  end(): Promise<boolean>;
}

/** Throws when `endpoint`, the variable's value, is no URL. */
export async function openTraceExport(endpoint: string, tell: (text: string) => void): Promise<TraceExport> {
  const origin = originOf(endpoint);
  const complain = once((why) => tell(`traces cannot be sent to ${origin}: ${why}`));
  const provider = new NodeTracerProvider({
    resource: defaultResource()
      .merge(resourceFromAttributes({ "service.name": "parley", "service.version": VERSION }))
      .merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor(complaining(new OTLPTraceExporter(proxied(endpoint)), complain))],
  });
  return { tracer: await otelTracer(provider.getTracer("parley", VERSION)), end };

  async function end(): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<boolean>((resolve) => {
      timer = setTimeout(resolve, END_MS, false);
    });
    // Failed batches were reported when they failed.
    const isDone = await Promise.race([
      provider.shutdown().then(
        () => true,
        () => true,
      ),
      late,
    ]);
    clearTimeout(timer);
    if (!isDone) complain(`the last ones were not taken within ${END_MS / 1000} s`);
    return isDone;
  }
}

/** Where the environment names a proxy for the collector. */
function proxied(endpoint: string): ConstructorParameters<typeof OTLPTraceExporter>[0] {
  const proxy = proxyFor(new URL(endpoint));
  if (proxy === undefined) return {};
  return { httpAgentOptions: async (protocol) => (await import("../../os/proxy/proxy-agent.js")).proxyAgent(proxy, protocol) };
}

/** The URL without parts that are for the server alone. */
function originOf(endpoint: string): string {
  const url = URL.canParse(endpoint) ? new URL(endpoint) : undefined;
  if (url?.protocol === "http:" || url?.protocol === "https:") return url.origin;
  const message = "OTEL_EXPORTER_OTLP_ENDPOINT takes an http address, as in http://127.0.0.1:4318";
  throw new ParleyError({ code: "config", message, retryable: false });
}

function complaining(exporter: SpanExporter, complain: (why: string) => void): SpanExporter {
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        if (result.error !== undefined) complain(result.error.message);
        done(result);
      }),
    shutdown: () => exporter.shutdown(),
    forceFlush: async () => exporter.forceFlush?.(),
  };
}

function once(tell: (text: string) => void): (text: string) => void {
  let told = false;
  return (text) => {
    if (!told) tell(text);
    told = true;
  };
}
