/** The parts of other extensions that commands use: prompts that are commands, and lists to show. */
import type { Part } from "../../../core/content.js";
import type { ListedMcpServer } from "../../../core/event.js";

/** `tools` and `model` are those of a sub-agent. */
export interface Listed {
  name: string;
  description?: string | undefined;
  argumentHint?: string | undefined;
  tools?: readonly string[] | undefined;
  model?: string | undefined;
}

/** Prompts by name: skills, or the prompts of MCP servers (`server:prompt`). */
export interface PromptSource {
  list(): readonly Listed[];
  /** Throws when there is none of that name, or when the arguments do not fit. */
  prompt(name: string, args: string, signal: AbortSignal): Promise<Part[]>;
}

export interface Surroundings {
  skills: PromptSource;
  mcpPrompts: PromptSource;
  subagents(): readonly Listed[];
  mcpServers(): readonly ListedMcpServer[];
  /** Begins a login: `url` is for the user's browser, `done` settles when the user came back. */
  mcpLogin(server: string): Promise<{ url: string; done: Promise<void> }>;
  memoryFiles(): readonly { path: string; text: string }[];
}
