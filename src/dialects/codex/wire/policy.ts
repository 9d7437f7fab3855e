/** Converts between our modes and Codex's pair of approval policy and sandbox. */
import type { Mode } from "../../../core/config.js";
import type { ApprovalPolicy, SandboxMode, SandboxPolicy } from "./threads.js";

/** When a thread asks. `never`: a call that needs an approval is denied, and the turn goes on. */
export interface Asking {
  mode: Mode;
  never: boolean;
}

/** Undefined if the client names neither. As Parley has no sandbox, a policy that relies on one becomes a mode that asks. */
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

/** The policy for a driven Codex. Outside `yolo` it asks about all untrusted calls, and our side answers for the mode. */
export function policyOf(mode: Mode | undefined): Policy {
  if (mode === "yolo") return { approvalPolicy: "never", sandbox: "danger-full-access" };
  return { approvalPolicy: "untrusted", sandbox: mode === "plan" ? "read-only" : "workspace-write" };
}

/** The policy that a client of ours sees. */
export function shownPolicy(mode: Mode | undefined, never: boolean): Policy {
  const policy = policyOf(mode);
  if (mode === "auto_edit" || mode === "sandboxed") return { ...policy, approvalPolicy: never ? "never" : "on-request" };
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
