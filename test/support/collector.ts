/** A collector of traces on loopback: takes OTLP in JSON over HTTP, and keeps every span. */
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import * as v from "valibot";
import { onTestFinished } from "vitest";

const Value = v.union([
  v.pipe(
    v.object({ stringValue: v.string() }),
    v.transform(({ stringValue }) => stringValue),
  ),
  v.pipe(
    v.object({ intValue: v.union([v.number(), v.string()]) }),
    v.transform(({ intValue }) => Number(intValue)),
  ),
  v.pipe(
    v.object({ doubleValue: v.number() }),
    v.transform(({ doubleValue }) => doubleValue),
  ),
  v.pipe(
    v.object({ boolValue: v.boolean() }),
    v.transform(({ boolValue }) => boolValue),
  ),
  v.pipe(
    v.object({ arrayValue: v.object({ values: v.array(v.object({ stringValue: v.string() })) }) }),
    v.transform(({ arrayValue }) => arrayValue.values.map(({ stringValue }) => stringValue)),
  ),
]);
const Attributes = v.pipe(
  v.array(v.object({ key: v.string(), value: Value })),
  v.transform((list) => Object.fromEntries(list.map(({ key, value }) => [key, value]))),
);
const Span = v.object({
  traceId: v.pipe(v.string(), v.regex(/^[\da-f]{32}$/)),
  spanId: v.pipe(v.string(), v.regex(/^[\da-f]{16}$/)),
  parentSpanId: v.optional(v.string()),
  name: v.string(),
  kind: v.number(),
  startTimeUnixNano: v.string(),
  endTimeUnixNano: v.string(),
  attributes: Attributes,
  events: v.array(v.unknown()),
  status: v.object({ code: v.number(), message: v.optional(v.string()) }),
});
const Export = v.object({
  resourceSpans: v.array(
    v.object({
      resource: v.object({ attributes: Attributes }),
      scopeSpans: v.array(v.object({ scope: v.object({ name: v.string() }), spans: v.array(Span) })),
    }),
  ),
});

export type CollectedSpan = v.InferOutput<typeof Span>;

export interface Collector {
  url: string;
  spans: CollectedSpan[];
  resources: Record<string, unknown>[];
  headers: IncomingHttpHeaders[];
  /** Everything as it came. */
  text: string;
}

export async function collector(): Promise<Collector> {
  const collected: Collector = { url: "", spans: [], resources: [], headers: [], text: "" };
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (text: string) => (body += text));
    request.on("end", () => {
      if (request.url !== "/v1/traces" || request.method !== "POST") return void response.writeHead(404).end();
      collected.headers.push(request.headers);
      collected.text += body;
      for (const { resource, scopeSpans } of v.parse(Export, JSON.parse(body)).resourceSpans) {
        collected.resources.push(resource.attributes);
        for (const { spans } of scopeSpans) collected.spans.push(...spans);
      }
      response.writeHead(200, { "content-type": "application/json" }).end("{}");
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The collector has no port");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  collected.url = `http://127.0.0.1:${address.port}`;
  return collected;
}

/** The spans as a tree, one line each, siblings by name, for they may begin at once; `detail` says more of one. */
export function treeOf(spans: readonly CollectedSpan[], detail: (span: CollectedSpan) => string = () => ""): string[] {
  const known = new Set(spans.map(({ spanId }) => spanId));
  const line = (span: CollectedSpan): string => `${span.name}${detail(span)}`.trimEnd();
  const below = (parent: CollectedSpan | undefined, indent: string): string[] =>
    spans
      .filter(({ parentSpanId = "" }) => (parent === undefined ? !known.has(parentSpanId) : parentSpanId === parent.spanId))
      .toSorted((a, b) => (line(a) < line(b) ? -1 : 1))
      .flatMap((span) => [`${indent}${line(span)}`, ...below(span, `${indent}  `)]);
  return below(undefined, "");
}

export function named(spans: readonly CollectedSpan[], name: string): CollectedSpan {
  const found = spans.find((span) => span.name === name);
  if (found === undefined) throw new Error(`There is no span '${name}' among: ${spans.map((span) => span.name).join(", ")}`);
  return found;
}

/** The traceparent that whoever was asked on its behalf must have seen. */
export function traceparentOf({ traceId, spanId }: CollectedSpan): string {
  return `00-${traceId}-${spanId}-01`;
}
