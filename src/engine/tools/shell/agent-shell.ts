/** The part of an agent's shell that outlives a command: the folder that `cd` has left it in, and the commands in the background. */
import { BackgroundCommands } from "./background-commands.js";

export class AgentShell {
  /** Absolute and without links; undefined: the workspace's root. */
  folder: string | undefined;
  readonly commands: BackgroundCommands;

  constructor(commands: BackgroundCommands = new BackgroundCommands(), folder?: string) {
    this.commands = commands;
    this.folder = folder;
  }

  /** The shell of a sub-agent begins where its parent's is. */
  below(): AgentShell {
    return new AgentShell(this.commands.below(), this.folder);
  }
}
