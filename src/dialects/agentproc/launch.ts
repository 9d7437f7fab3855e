/** An AgentProc agent as a program: a bridge starts `parley agentproc` for one turn. */
import type { Program } from "../kit/program.js";
import { TURN_SIGNS, TURN_VARIABLES } from "./wire/environment.js";
import { WIRES } from "./wire/options.js";

export const program: Program = {
  command: {
    word: "agentproc",
    summary: "One AgentProc turn as the agent: AGENT_* in the environment is wire 0.1 or 0.2, a turn on stdin 0.3 or 0.4.",
    details:
      "A bridge starts it: 'command: parley agentproc' in a profile. What must be asked about is denied where the bridge cannot be asked; " +
      "--approve-tools, --yolo and the config's rules decide what runs unasked.",
  },
  turn: {
    variables: TURN_VARIABLES,
    signs: TURN_SIGNS,
    missing: "A bridge starts this command, with a turn in AGENT_MESSAGE or as a line on standard input; see 'parley bridge run'",
  },
  drive: {
    sessions: "agentproc",
    revisions: {
      flag: "wire",
      value: "W",
      names: WIRES,
      help: "driving agentproc: 0.1, 0.2, 0.3, 0.4 or auto (the default), as the agent speaks",
    },
  },
};
