/** The registry: one line a dialect. Its program is data; its code is loaded when it is needed. */
import { ParleyError } from "../core/errors.js";
import { program as acp } from "./acp/launch.js";
import { program as agentproc } from "./agentproc/launch.js";
import { program as aionrs } from "./aionrs/launch.js";
import { program as ante } from "./ante/launch.js";
import { program as claude } from "./claude/launch.js";
import { program as codex } from "./codex/launch.js";
import type { Dialect } from "./dialect.js";
import type { Program } from "./kit/program.js";
import { program as native } from "./native/launch.js";
import { program as qwenShipped } from "./qwen-shipped/launch.js";
import { program as qwen } from "./qwen/launch.js";
import { program as wayland } from "./wayland/launch.js";

export type { Coverage, Covers, Dialect, Out, Side, SideEnv, Step } from "./dialect.js";

interface Entry {
  program: Program;
  load(): Promise<Dialect>;
}

const DIALECTS: Readonly<Record<string, Entry>> = {
  acp: { program: acp, load: async () => (await import("./acp/index.js")).acp },
  agentproc: { program: agentproc, load: async () => (await import("./agentproc/index.js")).agentprocFirst },
  "agentproc@0.4": { program: agentproc, load: async () => (await import("./agentproc/index.js")).agentprocLater },
  aionrs: { program: aionrs, load: async () => (await import("./aionrs/index.js")).aionrs },
  "aionrs@0.2": { program: aionrs, load: async () => (await import("./aionrs/index.js")).aionrsLater },
  ante: { program: ante, load: async () => (await import("./ante/index.js")).ante },
  claude: { program: claude, load: async () => (await import("./claude/index.js")).claude },
  codex: { program: codex, load: async () => (await import("./codex/index.js")).codex },
  native: { program: native, load: async () => (await import("./native/index.js")).native },
  qwen: { program: qwen, load: async () => (await import("./qwen/index.js")).qwen },
  "qwen-shipped": { program: qwenShipped, load: async () => (await import("./qwen-shipped/index.js")).qwenShipped },
  wayland: { program: wayland, load: async () => (await import("./wayland/index.js")).wayland },
};

/** The names of all dialects. */
export const dialectIds: readonly string[] = Object.keys(DIALECTS);

/** The dialect that is the vocabulary itself. */
export const VOCABULARY = "native";

/**
 * Loads a dialect by its name; throws when there is none.
 *
 * @example
 * const dialect = await loadDialect("acp");
 */
export async function loadDialect(id: string): Promise<Dialect> {
  const entry = entryOf(id);
  if (entry !== undefined) return entry.load();
  throw new ParleyError({ code: "usage", message: `Unknown dialect '${id}'. Known: ${dialectIds.join(", ")}`, retryable: false });
}

/** The program that speaks a dialect; undefined for an id that is not in the registry. */
export function programOf(id: string): Program | undefined {
  return entryOf(id)?.program;
}

/** The programs in the order of the registry; a revision of its own has no entry. */
export const programs: readonly { dialect: string; program: Program }[] = Object.entries(DIALECTS)
  .filter(([id]) => !id.includes("@"))
  .map(([dialect, { program }]) => ({ dialect, program }));

function entryOf(id: string): Entry | undefined {
  return Object.hasOwn(DIALECTS, id) ? DIALECTS[id] : undefined;
}
