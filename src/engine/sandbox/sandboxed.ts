/** A workspace whose confined commands run in a sandbox. */
import { ParleyError, toFault } from "../../core/errors.js";
import type { Workspace } from "../workspace/workspace.js";
import { openSandbox, type SandboxOptions, type SandboxPlace } from "./sandbox.js";

/** Throws where a sandbox is required and there is none; otherwise `missing` tells that there is none. */
export async function sandboxed(
  workspace: Workspace,
  options: SandboxOptions,
  homes: Pick<SandboxPlace, "home" | "userHome">,
): Promise<{ workspace: Workspace; missing?: string }> {
  const { root, directories } = workspace;
  try {
    const sandbox = await openSandbox(options, { root, directories, ...homes });
    return {
      workspace: {
        ...workspace,
        sandbox,
        async exec(request) {
          if (request.confined !== true) return workspace.exec(request);
          const running = await workspace.exec({ ...request, argv: sandbox.confine(request.argv, request.cwd ?? root, request.needs) });
          void running.exited.then(() => sandbox.sweep());
          return running;
        },
      },
    };
  } catch (error) {
    const { message } = toFault(error);
    if (options.mode === "auto") return { workspace, missing: `${message}. Commands run without one (sandbox.mode: auto)` };
    const fault = { code: "sandbox", message: `${message}. Without one nothing is started (sandbox.mode: required)`, retryable: false };
    throw new ParleyError({ ...fault, param: "sandbox" }, { cause: error });
  }
}
