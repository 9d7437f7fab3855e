/** Modes: Codex says when it asks (the approval policy) and where commands may write (the sandbox). */
import type { Mode } from "../../../core/config.js";
import type { ApprovalPolicy, SandboxMode, SandboxPolicy } from "./threads.js";

/** How a thread asks. `never`: whatever would be asked is denied, and the turn goes on. */
export interface Asking {
  mode: Mode;
  never: boolean;
}

/** Undefined where the client says nothing of either. A sandbox of ours there is not: a policy that trusts in one asks. */
export function readPolicy(policy: ApprovalPolicy | null | undefined, sandbox: SandboxMode | null | undefined): Asking | undefined {
  if (policy == null && sandbox == null) return undefined;
  const never = policy === "never";
  if (never && sandbox === "danger-full-access") return { mode: "yolo", never: false };
  const writes = sandbox === "workspace-write" || sandbox === "danger-full-access";
  return { mode: writes && policy !== "untrusted" ? "auto_edit" : "default", never };
}

const SANDBOXES = {
  readOnly: "read-only",
  workspaceWrite: "workspace-write",
  dangerFullAccess: "danger-full-access",
  externalSandbox: "danger-full-access",
} as const;

export function sandboxNamed(policy: SandboxPolicy | null | undefined): SandboxMode | undefined {
  return policy == null ? undefined : SANDBOXES[policy.type];
}

export interface Policy {
  approvalPolicy: "untrusted" | "never" | "on-request";
  sandbox: SandboxMode;
}

/** Everything but `yolo` asks about all that Codex does not trust; what the mode lets run is answered on our side. */
export function policyOf(mode: Mode | undefined): Policy {
  if (mode === "yolo") return { approvalPolicy: "never", sandbox: "danger-full-access" };
  return { approvalPolicy: "untrusted", sandbox: mode === "plan" ? "read-only" : "workspace-write" };
}

/** As a client of ours is told. */
export function shownPolicy(mode: Mode | undefined, never: boolean): Policy {
  const policy = policyOf(mode);
  if (mode === "auto_edit") return { ...policy, approvalPolicy: never ? "never" : "on-request" };
  if (mode === "default" || mode === undefined) return { approvalPolicy: never ? "never" : "untrusted", sandbox: "read-only" };
  return policy;
}

export function sandboxPolicy(sandbox: SandboxMode, writableRoots: readonly string[] = []): Record<string, unknown> {
  switch (sandbox) {
    case "read-only":
      return { type: "readOnly", networkAccess: false };
    case "workspace-write":
      return { type: "workspaceWrite", writableRoots, networkAccess: false, excludeTmpdirEnvVar: false, excludeSlashTmp: false };
    case "danger-full-access":
      return { type: "dangerFullAccess" };
    default:
      sandbox satisfies never;
      return {};
  }
}
