/** Checks of calls whose code is loaded with the first call that needs it. */
import type { FileGuard, ReadsOnly } from "../permissions/permissions.js";
import type { Workspace } from "../workspace/workspace.js";
import type { EngineServices } from "./services.js";

/** Finds protected files. */
export function fileGuardOf({ extensions, env }: EngineServices, workspace: Workspace): FileGuard {
  let guard: Promise<FileGuard> | undefined;
  const load = async (): Promise<FileGuard> => (await import("../permissions/protection.js")).protectionOf(extensions, env, workspace);
  const loaded = (): Promise<FileGuard> => (guard ??= load());
  return {
    always: async (call) => (await loaded()).always(call),
    edited: async (call) => (await loaded()).edited(call),
  };
}

/** Proves that a command only reads. */
export function readsOnlyOf({ env }: EngineServices, workspace: Workspace): ReadsOnly {
  return async (command, folder = workspace.root, hides) => {
    const { onlyReads } = await import("../permissions/reading/only-reads.js");
    return onlyReads(command, folder, { workspace, env, hides });
  };
}
