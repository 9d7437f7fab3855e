/** Decides by the environment whether traces are exported, and loads the code for it only then, after the session is ready. */
import type { Env } from "../../settings/settings.js";
import type { EngineOptions } from "../../engine/engine.js";

/** The engines of the process share one tracer. */
export interface Telemetry extends Pick<EngineOptions, "openTracer"> {
  /** Sends the remaining spans. False when that takes more than two seconds; the process should end all the same. */
  end(): Promise<boolean>;
}

/** `tell` gets messages for people, each once. */
export function telemetryOf(env: Env, tell: (text: string) => void): Telemetry {
  const endpoint = env["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"] || env["OTEL_EXPORTER_OTLP_ENDPOINT"];
  if (!endpoint || isTrue(env["OTEL_SDK_DISABLED"]) || env["OTEL_TRACES_EXPORTER"] === "none") return { end: async () => true };
  let opened: Promise<Awaited<ReturnType<typeof import("./trace-export.js").openTraceExport>>> | undefined;
  const open = (): NonNullable<typeof opened> =>
    (opened ??= import("./trace-export.js").then(({ openTraceExport }) => openTraceExport(endpoint, tell)));
  return {
    openTracer: async () => (await open()).tracer,
    // A failed opening was reported already, and there is nothing to send.
    end: async () => (await opened?.catch(() => undefined))?.end() ?? true,
  };
}

function isTrue(value: string | undefined): boolean {
  return value?.trim().toLowerCase() === "true";
}
