/** The extensions of a session: skills, sub-agents, commands, hooks, MCP servers, memory files. Loaded once the session is ready. */
import type { McpServer, SessionConfig } from "../../core/config.js";
import { textPart, type Part } from "../../core/content.js";
import type { OpOf } from "../../core/op.js";
import type { Redactor } from "../../core/secrets/redact.js";
import type { Emit } from "../turn/turn.js";
import type { Instruction } from "../session/briefing.js";
import type { SessionControl } from "../session/control.js";
import type { Tool } from "../tools/tool.js";
import { builtins } from "./commands/builtins.js";
import type { Command, NamedCommand } from "./commands/command.js";
import { mcpPromptSource } from "./commands/mcp-prompts.js";
import { Commands } from "./commands/registry.js";
import type { Surroundings } from "./commands/sources.js";
import { FileIndex } from "./completion/file-index.js";
import { Library } from "./library.js";
import { McpServers } from "./mcp/servers.js";
import { loadMentions } from "./mentions/mentions.js";
import type { Skill } from "./skills.js";
import type { HookCommands } from "./hooks/hook.js";
import { Hooks } from "./hooks/hooks.js";
import { Suggestions, type SuggestAnswer } from "./completion/suggestions.js";

export { environmentBlock } from "../turn/environment.js";

/** Where extensions come from, beside the workspace. */
export interface ExtensionSources {
  /** PARLEY_HOME. */
  home: string;
  /** Holds the chats that are saved by name, where that is not `home`. */
  conversations?: string;
  /** The user's own folder, where other agents keep theirs. */
  userHome: string;
  /** Whether the user trusts that workspace, so that its grants and programs count. */
  trusts(root: string): Promise<boolean>;
  /** By name, of the config; a session's own come on top. */
  mcpServers?: Readonly<Record<string, McpServer>>;
  /** Of the config; a workspace's own are there only when it is trusted. */
  hooks?: Partial<HookCommands>;
  /** Names of models that the config knows, beside our own. */
  models?: readonly string[];
  /** A turn waits for servers that still connect, because its host was told that their tools are there. */
  awaitsServers?: boolean;
}

export interface ExtensionDeps {
  sources: ExtensionSources;
  control: SessionControl;
  redactor: Redactor;
  env: Record<string, string | undefined>;
  version: string;
}

/** The extensions as one turn sees them; later arrivals count from the next turn on. */
export interface TurnExtensions {
  tools: Tool[];
  /** For the system prompt, and for notes once they change. */
  instructions: readonly Instruction[];
  hooks: Hooks | undefined;
}

export class Extensions {
  readonly #deps: ExtensionDeps;
  readonly #library: Library;
  readonly #hooks: Hooks;
  readonly #mcp: McpServers;
  readonly #commands: Commands;
  readonly #files: FileIndex;
  readonly #suggestions: Suggestions;

  constructor(deps: ExtensionDeps) {
    this.#deps = deps;
    const { sources, control, redactor, env } = deps;
    const { home, conversations = home, userHome, models = [] } = sources;
    const { workspace } = control.session;
    const trusts = (root: string): Promise<boolean> => sources.trusts(root);
    this.#library = new Library({ home, userHome, anteHome: env["ANTE_HOME"] || undefined, trusts, control, onChange: () => this.#tell() });
    this.#hooks = new Hooks({ commands: sources.hooks ?? {}, trusts, control, redactor });
    this.#mcp = new McpServers(deps, () => this.#tell());
    const surroundings = this.#surroundings();
    this.#commands = new Commands(surroundings, (commands) =>
      builtins({ control, redactor, env, conversations, models, surroundings, forTurn: () => this.forTurn(), commands }),
    );
    this.#files = new FileIndex(workspace);
    this.#suggestions = new Suggestions({ commands: () => this.#commands.all(), files: this.#files, workspace });
  }

  /** Reads files and connects to servers in the background, and tells the catalogue. */
  start(): void {
    this.#hooks.start();
    // The extensions from files are told first: servers take their time, and show up later.
    this.#mcp.start(this.#deps.control.config(), this.#library.refresh());
  }

  /** The session's configuration changed. */
  configure(config: SessionConfig): void {
    this.#hooks.configured();
    this.#library.start();
    this.#mcp.configure(config);
  }

  /** Waits for servers that connect, where a turn may not begin without them. */
  async serversFor(signal: AbortSignal): Promise<void> {
    if (this.#deps.sources.awaitsServers) await this.#mcp.untilConnected(signal);
  }

  /** Waits for files, never for servers. */
  async forTurn(): Promise<TurnExtensions> {
    const { tools, instructions: written } = await this.#library.forTurn();
    const ofServers = this.#mcp.instructions();
    const instructions = ofServers === "" ? written : [...written, { source: "the instructions of MCP servers", text: ofServers }];
    return { tools: [...tools, ...this.#mcp.tools()], instructions, hooks: this.#hooks };
  }

  /** Instructions files between the workspace and a file in it that `given` does not hold yet. */
  instructionsFor(path: string, given: Set<string>): Promise<string[]> {
    return this.#library.instructionsFor(path, given);
  }

  /** Throws when there is none of that name. */
  async command(given: NamedCommand): Promise<Command> {
    await this.#library.refresh();
    return this.#commands.find(given);
  }

  suggest(op: OpOf<"command.suggest">, answer: SuggestAnswer): Promise<void> {
    return this.#suggestions.answer(op, answer);
  }

  /** Of a command only its arguments are the user's own words. */
  mentioned(op: OpOf<"turn.prompt">, emit: Emit, signal: AbortSignal): Promise<Part[]> {
    const { control } = this.#deps;
    if (op.from !== undefined && op.from !== "user") return Promise.resolve([]);
    const words = op.command === undefined ? op.parts : [textPart(op.command.args ?? "")];
    return loadMentions(words, { session: control.session, resources: this.#mcp, emit, signal });
  }

  async close(): Promise<void> {
    this.#files.close();
    await Promise.all([this.#library.close(), this.#hooks.close(), this.#mcp.close()]);
  }

  #surroundings(): Surroundings {
    const library = this.#library;
    const mcp = this.#mcp;
    return {
      skills: {
        list: () => library.skills.filter(({ userInvocable }) => userInvocable),
        prompt: (name, args) => library.skillPrompt(name, args),
      },
      mcpPrompts: mcpPromptSource(mcp),
      subagents: () => library.agents,
      mcpServers: () => mcp.listed(),
      mcpLogin: (server) => mcp.login(server),
      memoryFiles: () => library.memory,
    };
  }

  /** Tells the whole catalogue whenever a part of it changed. */
  #tell(): void {
    const { skills, agents } = this.#library;
    const subagents = agents.map(({ name, description, scope }) => ({ name, description, scope }));
    const commands = this.#commands.list();
    const mcpServers = this.#mcp.listed();
    const { settled: whole } = this.#mcp;
    void this.#deps.control.emit({ type: "catalog.updated", whole, skills: listed(skills), subagents, mcpServers, commands });
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
