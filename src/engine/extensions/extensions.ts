/** What surrounds a session: skills, sub-agents, commands, hooks, MCP servers, memory files. Loaded once the session is ready. */
import type { CommandResult } from "../../core/command.js";
import type { McpServer, SessionConfig } from "../../core/config.js";
import type { Part } from "../../core/content.js";
import { ParleyError } from "../../core/errors.js";
import type { OpOf } from "../../core/op.js";
import type { Redactor } from "../../core/redact.js";
import type { SessionControl } from "../session-control.js";
import type { Tool } from "../tools/tool.js";
import { Library } from "./library.js";
import type { Skill } from "./skills.js";
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
  readonly #library: Library;
  readonly #hooks: Hooks;

  constructor(deps: ExtensionDeps) {
    this.#deps = deps;
    const { sources, control, redactor, env } = deps;
    const { home, userHome } = sources;
    const trusts = (root: string): Promise<boolean> => sources.trusts(root);
    this.#library = new Library({ home, userHome, anteHome: env["ANTE_HOME"] || undefined, trusts, control, onChange: () => this.#tell() });
    this.#hooks = new Hooks({ commands: sources.hooks, control, redactor });
  }

  /** Reads files and connects to servers in the background, and tells what it found. */
  start(): void {
    this.#hooks.start();
    this.#library.start();
  }

  /** The session's configuration changed. */
  configure(_config: SessionConfig): void {}

  /** Waits for files, never for servers. */
  async forTurn(): Promise<TurnExtensions> {
    const { tools, instructions } = await this.#library.forTurn();
    return { tools: [...tools], instructions, hooks: this.#hooks };
  }

  /** Throws when there is none of that name. */
  async command(name: string): Promise<Command> {
    await this.#library.refresh();
    if (this.#library.skills.some((skill) => skill.name === name && skill.userInvocable)) {
      return { name, immediate: false, run: async (args) => ({ prompt: await this.#library.skillPrompt(name, args) }) };
    }
    throw new ParleyError({ code: "unsupported", message: `There is no command '${name}'`, retryable: false, param: "command" });
  }

  suggest(_op: OpOf<"command.suggest">): Promise<{ suggestions: { label: string; value: string }[] }> {
    return Promise.resolve({ suggestions: [] });
  }

  async close(): Promise<void> {
    await Promise.all([this.#library.close(), this.#hooks.close()]);
  }

  /** Everything that there is, whenever some of it changed. */
  #tell(): void {
    const { skills, agents } = this.#library;
    const subagents = agents.map(({ name, description, scope }) => ({ name, description, scope }));
    void this.#deps.control.emit({ type: "catalog.updated", whole: true, skills: listed(skills), subagents, mcpServers: [], commands: [] });
  }
}

function listed(skills: readonly Skill[]): { name: string; description: string; scope: string; argumentHint?: string }[] {
  return skills.map(({ name, description, scope, argumentHint }) => ({
    name,
    description,
    scope,
    ...(argumentHint !== undefined && { argumentHint }),
  }));
}
