/** Whether the environment asks for traces. What that takes is loaded only then, and behind the ready session. */
import type { Env } from "../../settings/settings.js";
import type { EngineOptions } from "../../engine/engine.js";

/** One for the whole process: its engines share it. */
export interface Telemetry extends Pick<EngineOptions, "openTracer"> {
  /** Sends what is left. False when that is not done in two seconds, and we should leave all the same. */
  end(): Promise<boolean>;
}

/** `tell` gets what people should know, once. */
export function telemetryOf(env: Env, tell: (text: string) => void): Telemetry {
  const endpoint = env["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"] || env["OTEL_EXPORTER_OTLP_ENDPOINT"];
  if (!endpoint || isTrue(env["OTEL_SDK_DISABLED"]) || env["OTEL_TRACES_EXPORTER"] === "none") return { end: async () => true };
  let opened: Promise<Awaited<ReturnType<typeof import("./trace-export.js").openTraceExport>>> | undefined;
  const open = (): NonNullable<typeof opened> =>
    (opened ??= import("./trace-export.js").then(({ openTraceExport }) => openTraceExport(endpoint, tell)));
  return {
    openTracer: async () => (await open()).tracer,
    // What could not be opened was told, and has nothing to send.
    end: async () => (await opened?.catch(() => undefined))?.end() ?? true,
  };
}

function isTrue(value: string | undefined): boolean {
  return value?.trim().toLowerCase() === "true";
}
