import { agentprocCases } from "./agentproc-cases.js";
import { agentproc } from "./agentproc.js";
import { aionrs, wayland } from "./aionrs.js";
import { ante } from "./ante.js";
import { qwenReadings } from "./qwen-readings.js";
import { qwenShipped } from "./qwen-shipped.js";
import { qwen } from "./qwen.js";
import type { Manifest } from "./requirement.js";

/** The requirements of each dialect for its agents; AgentProc's are for its bridge. */
export const manifests: readonly Manifest[] = [
  { dialect: "aionrs", side: "agent", requirements: aionrs, probes: async () => (await import("../probes/aionrs.js")).probes },
  { dialect: "wayland", side: "agent", requirements: wayland, probes: async () => (await import("../probes/wayland.js")).probes },
  { dialect: "ante", side: "agent", requirements: ante, probes: async () => (await import("../probes/ante.js")).probes },
  { dialect: "qwen", side: "agent", requirements: [...qwen, ...qwenReadings] },
  { dialect: "qwen-shipped", side: "agent", requirements: qwenShipped },
  { dialect: "agentproc", side: "host", requirements: [...agentproc, ...agentprocCases] },
];
