/** A platform that somebody else wrote: a module whose default export makes one. */
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import * as v from "valibot";
import { messageOf, ParleyError } from "../../core/errors.js";
import { kindOf, type PlatformContext } from "./kind.js";
import type { Platform } from "./platform.js";

/** Takes `options` as they stand in the configuration. */
export type MakePlatform = (options: Record<string, unknown>, context: PlatformContext) => Platform | Promise<Platform>;

export const moduleKind = kindOf({
  settings: v.strictObject({
    module: v.pipe(v.string("be a path"), v.nonEmpty("be a path")),
    options: v.optional(v.record(v.string(), v.unknown(), "be a mapping"), {}),
  }),
  open: ({ module, options }, context) => openModule(resolve(context.folder, module), options, context),
});

async function openModule(file: string, options: Record<string, unknown>, context: PlatformContext): Promise<Platform> {
  const loaded: unknown = await import(pathToFileURL(file).href).catch((error: unknown) => {
    throw broken(file, `it could not be loaded: ${messageOf(error)}`);
  });
  const made = v.safeParse(Module, loaded);
  if (!made.success) throw broken(file, "its default export must be a function (options, context) => platform");
  const platform = await made.output.default(options, context);
  if (!v.is(Made, platform)) throw broken(file, "what it makes must have limits.text, start, send, pause and stop");
  return platform;
}

const method = v.function();
const Module = v.looseObject({ default: v.custom<MakePlatform>((value) => typeof value === "function") });
const Made = v.looseObject({
  limits: v.looseObject({ text: v.pipe(v.number(), v.minValue(2)) }),
  start: method,
  send: method,
  edit: v.optional(method),
  typing: v.optional(method),
  pause: method,
  stop: method,
});

function broken(file: string, why: string): ParleyError {
  return new ParleyError({ code: "config", message: `The platform module ${file} cannot be used: ${why}`, retryable: false });
}
