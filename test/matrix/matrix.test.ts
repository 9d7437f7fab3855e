/** Every host dialect against every agent dialect, from the outside: two real processes and the tools that they start. */
import { agents } from "./agents.js";
import { processRoom } from "./in-processes.js";
import { playMatrix } from "./play.js";

// Agents with a process a turn are driven from the outside in test/agentproc.
playMatrix(
  processRoom,
  Object.keys(agents).filter((drive) => !drive.startsWith("agentproc")),
);
