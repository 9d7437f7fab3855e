/** The registry: one line a dialect, loaded when asked for. */
import { ParleyError } from "../core/errors.js";
import type { Dialect } from "./dialect.js";

export type { Coverage, Covers, Dialect, Out, Side, SideEnv, Step } from "./dialect.js";

const DIALECTS = {
  agentproc: async () => (await import("./agentproc/index.js")).agentprocFirst,
  "agentproc@0.4": async () => (await import("./agentproc/index.js")).agentprocLater,
  aionrs: async () => (await import("./aionrs/index.js")).aionrs,
  "aionrs@0.2": async () => (await import("./aionrs/index.js")).aionrsLater,
  ante: async () => (await import("./ante/index.js")).ante,
  native: async () => (await import("./native/index.js")).native,
  qwen: async () => (await import("./qwen/index.js")).qwen,
  "qwen-shipped": async () => (await import("./qwen-shipped/index.js")).qwenShipped,
  wayland: async () => (await import("./wayland/index.js")).wayland,
} satisfies Record<string, () => Promise<Dialect>>;

export const dialectIds: readonly string[] = Object.keys(DIALECTS);

export async function loadDialect(id: string): Promise<Dialect> {
  const load = Object.entries(DIALECTS).find(([name]) => name === id)?.[1];
  if (load !== undefined) return load();
  throw new ParleyError({ code: "usage", message: `Unknown dialect '${id}'. Known: ${dialectIds.join(", ")}`, retryable: false });
}
