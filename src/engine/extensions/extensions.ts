/** What surrounds a session: skills, sub-agents, commands, hooks, MCP servers, memory files. Loaded once the session is ready. */
import type { CommandResult } from "../../core/command.js";
import type { McpServer, SessionConfig } from "../../core/config.js";
import type { Part } from "../../core/content.js";
import { ParleyError } from "../../core/errors.js";
import type { OpOf } from "../../core/op.js";
import type { Redactor } from "../../core/redact.js";
import type { SessionControl } from "../session-control.js";
import type { Tool } from "../tools/tool.js";
import type { HookCommands } from "./hooks/hook.js";
import { Hooks } from "./hooks/hooks.js";

/** Where extensions come from, beside the workspace. */
export interface ExtensionSources {
  /** PARLEY_HOME. */
  home: string;
  /** The user's own folder, where other agents keep theirs. */
  userHome: string;
  /** Whether the user trusts that workspace, so that what it grants and runs counts. */
  trusts(root: string): Promise<boolean>;
  /** By name, of the config; a session's own come on top. */
  mcpServers: Readonly<Record<string, McpServer>>;
  /** Of the config; a workspace's own are there only when it is trusted. */
  hooks: HookCommands;
}

export interface ExtensionDeps {
  sources: ExtensionSources;
  control: SessionControl;
  redactor: Redactor;
  env: Record<string, string | undefined>;
  version: string;
}

/** What one turn gets of them; what arrives later counts from the next turn on. */
export interface TurnExtensions {
  tools: Tool[];
  /** For the system prompt. */
  instructions: string;
  hooks: Hooks | undefined;
}

/** What a command came to: something to show, or a prompt to run. */
export type CommandOutcome = { result: CommandResult } | { prompt: Part[] };

export interface Command {
  name: string;
  /** Runs beside a turn; the others wait for their turn in the queue. */
  immediate: boolean;
  run(args: string, signal: AbortSignal): Promise<CommandOutcome>;
}

export class Extensions {
  readonly #deps: ExtensionDeps;
  readonly #hooks: Hooks;

  constructor(deps: ExtensionDeps) {
    this.#deps = deps;
    this.#hooks = new Hooks({ commands: deps.sources.hooks, control: deps.control, redactor: deps.redactor });
  }

  /** Reads files and connects to servers in the background, and tells what it found. */
  start(): void {
    this.#hooks.start();
    void this.#deps.control.emit({ type: "catalog.updated", whole: true, skills: [], subagents: [], mcpServers: [], commands: [] });
  }

  /** The session's configuration changed. */
  configure(_config: SessionConfig): void {}

  /** Waits for files, never for servers. */
  forTurn(): Promise<TurnExtensions> {
    return Promise.resolve({ tools: [], instructions: "", hooks: this.#hooks });
  }

  /** Throws when there is none of that name. */
  command(name: string): Promise<Command> {
    return Promise.reject(
      new ParleyError({ code: "unsupported", message: `There is no command '${name}'`, retryable: false, param: "command" }),
    );
  }

  suggest(_op: OpOf<"command.suggest">): Promise<{ suggestions: { label: string; value: string }[] }> {
    return Promise.resolve({ suggestions: [] });
  }

  async close(): Promise<void> {
    await this.#hooks.close();
  }
}
