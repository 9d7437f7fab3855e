/** The commands that every session has, and the values that they are made with. */
import type { Redactor } from "../../../core/secrets/redact.js";
import type { SessionControl } from "../../session/control.js";
import type { TurnExtensions } from "../extensions.js";
import { chatCommand } from "./chat.js";
import type { Command } from "./command.js";
import { contextCommand } from "./context.js";
import { clearCommand, compactCommand, copyCommand, todoCommand } from "./conversation.js";
import { costCommand } from "./cost.js";
import { diffCommand } from "./diff.js";
import { exportCommand } from "./export.js";
import { helpCommand } from "./help.js";
import { quitCommand, themeCommand } from "./host.js";
import { initCommand } from "./init.js";
import { agentsCommand, mcpCommand, skillsCommand } from "./lists.js";
import { modeCommand, modelCommand } from "./settings.js";
import { permissionsCommand } from "./permissions.js";
import { resumeCommand } from "./resume.js";
import { rewindCommand } from "./rewind.js";
import { tasksCommand } from "./tasks.js";
import { statsCommand } from "./stats.js";
import type { Surroundings } from "./sources.js";

export interface CommandContext {
  control: SessionControl;
  redactor: Redactor;
  /** Holds the chats that are saved by name. */
  conversations: string;
  env: Record<string, string | undefined>;
  /** Names of models that the config knows. */
  models: readonly string[];
  surroundings: Surroundings;
  /** The extensions of the next turn. */
  forTurn(): Promise<TurnExtensions>;
  commands(): readonly Command[];
}

/** In the order in which help lists them. */
export function builtins(context: CommandContext): Command[] {
  return [
    helpCommand(context),
    clearCommand(context),
    compactCommand(context),
    contextCommand(context),
    statsCommand(context),
    costCommand(context),
    diffCommand(context),
    initCommand,
    modelCommand(context),
    modeCommand(context),
    permissionsCommand(context),
    mcpCommand(context),
    skillsCommand(context),
    agentsCommand(context),
    resumeCommand(context),
    chatCommand(context),
    rewindCommand(context),
    todoCommand(context),
    tasksCommand(context),
    copyCommand(context),
    themeCommand,
    exportCommand(context),
    quitCommand,
  ];
}
