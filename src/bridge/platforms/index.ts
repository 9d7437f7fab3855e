/** The built-in platforms. */
import { consoleKind } from "./console.js";
import type { PlatformKind } from "./kind.js";
import { telegramKind } from "./telegram.js";
import { webhookKind } from "./webhook.js";

export type { OpenPlatform, PlatformKind } from "./kind.js";
export { moduleKind } from "./module.js";

export const BUILT_IN = { console: consoleKind, webhook: webhookKind, telegram: telegramKind } satisfies Record<string, PlatformKind>;

export function isBuiltIn(type: string): type is keyof typeof BUILT_IN {
  return Object.hasOwn(BUILT_IN, type);
}
