/**
 * A platform of another author: a module whose default export makes it. The compiler has not seen the module, so its values are checked.
 */
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import * as v from "valibot";
import { messageOf, ParleyError } from "../../core/errors.js";
import { isRecord } from "../../core/values/json-object.js";
import { kindOf, type PlatformContext } from "./kind.js";
import type { Delivery, Inbox, Incoming, Platform, Verdict } from "./platform.js";

/** `options` are passed on as they stand in the configuration. */
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
  return checked(platform, context.name);
}

/** The platform may be an instance of a class: its methods are called on itself. */
function checked(platform: Platform, name: string): Platform {
  return {
    limits: platform.limits,
    start: (inbox) => platform.start({ ...inbox, accept: (message) => accept(message, name, inbox) }),
    send: async (message) => delivery("send", await platform.send(message)),
    ...(platform.edit !== undefined && {
      edit: async (ref, message) => delivery("edit", await platform.edit?.(ref, message)),
    }),
    ...(platform.typing !== undefined && { typing: async (chat) => platform.typing?.(chat) }),
    pause: () => platform.pause(),
    stop: () => platform.stop(),
  };
}

/** A message must survive being written as JSON and read again. */
async function accept(message: unknown, name: string, inbox: Inbox): Promise<Verdict> {
  const read = v.safeParse(Message, withoutGaps(message));
  if (read.success) return inbox.accept(read.output satisfies Incoming);
  const text = `${v.getDotPath(read.issues[0]) ?? "the message"}: ${read.issues[0].message}`;
  inbox.log(`'${name}' handed over a message that cannot be taken: ${text}`);
  return { accepted: false, why: "invalid", text };
}

function delivery(method: string, answer: unknown): Delivery {
  const read = v.safeParse(Answer, withoutGaps(answer));
  if (read.success) return read.output;
  throw new Error(`what its '${method}' answered is no delivery, such as { status: "sent" }`);
}

/** Removes keys whose value is undefined. */
function withoutGaps(value: unknown): unknown {
  return isRecord(value) ? Object.fromEntries(Object.entries(value).filter(([, part]) => part !== undefined)) : value;
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

const Message = v.object({
  chat: v.string(),
  from: v.string(),
  text: v.string(),
  attachments: v.exactOptional(
    v.array(
      v.object({
        type: v.fallback(v.picklist(["image", "file", "audio", "video", "other"]), "other"),
        url: v.string(),
        name: v.optional(v.string(), ""),
        mime: v.optional(v.string()),
      }),
    ),
  ),
  key: v.exactOptional(v.string()),
  session: v.exactOptional(v.string()),
});

/** The status decides; other odd fields must not send the message again. */
const Answer = v.variant("status", [
  v.object({
    status: v.literal("sent"),
    ref: v.exactOptional(
      v.pipe(
        v.unknown(),
        v.transform((ref) => String(ref)),
      ),
    ),
  }),
  v.object({ status: v.literal("throttled"), retryAfter: v.exactOptional(v.fallback(v.number(), 0)) }),
  v.object({ status: v.literal("rejected"), reason: v.fallback(v.string(), "the platform did not say why") }),
]);

function broken(file: string, why: string): ParleyError {
  return new ParleyError({ code: "config", message: `The platform module ${file} cannot be used: ${why}`, retryable: false });
}
