/** Wayland Core as a program: aionrs's command line, and the flags of Wayland beyond it. */
import { program as aionrs } from "../aionrs/launch.js";
import type { Program } from "../kit/program.js";

/** Flags that skip approvals mean ours that does; they never switch a sandbox off. */
export const program: Program = {
  ...aionrs,
  name: "wayland-core",
  shortFlags: { ...aionrs.shortFlags, "-c": "--continue" },
  flags: [
    ...aionrs.flags,
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
  ],
  variables: [...aionrs.variables, ["WAYLAND_MODEL", "--model"]],
  asks: [["--json-stream", "--dialect=wayland"]],
  drive: { command: ["wayland-core"] },
};
