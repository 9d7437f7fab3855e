/** The command lines of the programs that speak this protocol, where they differ from ours. */
import type { ForeignFlag } from "../kit/foreign-flags.js";

/** There `-p` is the provider. */
export const SHORT_FLAGS: ReadonlyMap<string, string> = new Map([
  ["-p", "--provider"],
  ["-m", "--model"],
  ["-k", "--api-key"],
  ["-b", "--base-url"],
]);

export const AIONRS_FLAGS: readonly ForeignFlag[] = [
  { name: "max-tool-call-malformed-turns", value: "N" },
  { name: "max-tool-call-failure-turns", value: "N" },
  { name: "profile", value: "NAME" },
  { name: "project-dir", value: "DIR" },
  { name: "no-color" },
  { name: "toon" },
  { name: "log-dir", value: "DIR" },
  { name: "log-level", value: "LEVEL" },
];

/** Those that skip approvals mean ours that does; a sandbox is never switched off by them. */
export const WAYLAND_FLAGS: readonly ForeignFlag[] = [
  ...AIONRS_FLAGS,
  { name: "assistant", value: "NAME" },
  { name: "agent", value: "NAME" },
  { name: "force", means: () => ["--auto-approve"] },
  { name: "dangerously-skip-permissions", means: () => ["--auto-approve"] },
  { name: "continue", means: () => ["--resume", "latest"] },
  { name: "untrust-workspace" },
  { name: "allow-host-workspace-grants" },
  { name: "allow-host-path-grants" },
  { name: "allow-host-budget-grants" },
  { name: "no-tui" },
  { name: "no-memory" },
  { name: "online-evolution" },
];
export const WAYLAND_SHORT_FLAGS: ReadonlyMap<string, string> = new Map([...SHORT_FLAGS, ["-c", "--continue"]]);

/** Variables that stand for flags which are not given. */
export const FLAG_VARIABLES: readonly (readonly [variable: string, flag: string])[] = [
  ["PROVIDER", "--provider"],
  ["MODEL", "--model"],
  ["BASE_URL", "--base-url"],
  ["API_KEY", "--api-key"],
];
