/** Loads a session's extensions once the session is ready; callers that need them wait for that. */
import type { SessionConfig } from "../../core/config.js";
import type { Part } from "../../core/content.js";
import { ParleyError } from "../../core/errors.js";
import type { OpOf } from "../../core/op.js";
import type { Command, NamedCommand } from "../extensions/commands/command.js";
import type { ExtensionDeps, Extensions, ExtensionSources, TurnExtensions } from "../extensions/extensions.js";
import type { SuggestAnswer } from "../extensions/completion/suggestions.js";
import type { Emit } from "../turn/turn.js";

const NONE: TurnExtensions = { tools: [], instructions: [], hooks: undefined };

export class SessionExtensions {
  readonly #sources: ExtensionSources | undefined;
  readonly #deps: Omit<ExtensionDeps, "sources">;
  #loaded: Promise<Extensions | undefined> | undefined;
  #environment: { folders: string; block: Promise<string> } | undefined;

  constructor(sources: ExtensionSources | undefined, deps: Omit<ExtensionDeps, "sources">) {
    this.#sources = sources;
    this.#deps = deps;
  }

  /** Never throws: the next caller that needs the extensions gets the failure. */
  async start(): Promise<void> {
    void this.environment();
    await this.#load().catch(() => this.#tellNone());
  }

  async forTurn(signal: AbortSignal): Promise<TurnExtensions> {
    const extensions = await this.#load();
    await extensions?.serversFor(signal);
    return (await extensions?.forTurn()) ?? NONE;
  }

  async instructionsFor(path: string, given: Set<string>): Promise<string[]> {
    return (await (await this.#load())?.instructionsFor(path, given)) ?? [];
  }

  /** The environment block of the system prompt: gathered once, and again for another workspace. */
  environment(): Promise<string> {
    const { workspace } = this.#deps.control.session;
    const folders = [workspace.root, ...workspace.directories].join("\n");
    if (this.#environment?.folders !== folders) this.#environment = { folders, block: this.#gather() };
    return this.#environment.block;
  }

  async #gather(): Promise<string> {
    const { control, env, redactor } = this.#deps;
    const { workspace } = control.session;
    const { environmentBlock } = await import("../extensions/extensions.js");
    const isTrusted = (await this.#sources?.trusts(workspace.root)) === true;
    return environmentBlock(workspace, { shell: env["SHELL"], isTrusted, now: new Date(), redactor });
  }

  /** Throws if there is none of that name. */
  async command(given: NamedCommand): Promise<Command> {
    const command = await (await this.#load())?.command(given);
    if (command !== undefined) return command;
    throw new ParleyError({ code: "unsupported", message: "This engine has no commands", retryable: false, param: "command" });
  }

  async suggest(op: OpOf<"command.suggest">, answer: SuggestAnswer): Promise<void> {
    const extensions = await this.#load();
    await (extensions === undefined ? answer("ok", { suggestions: [] }) : extensions.suggest(op, answer));
  }

  /** Loads the files that the text of a prompt mentions, if its host asks for that. */
  async mentioned(op: OpOf<"turn.prompt">, emit: Emit, signal: AbortSignal): Promise<Part[]> {
    return (await (await this.#load())?.mentioned(op, emit, signal)) ?? [];
  }

  async configure(config: SessionConfig): Promise<void> {
    (await this.#loaded)?.configure(config);
  }

  /** Extensions that are not loaded yet will not be loaded. */
  async close(): Promise<void> {
    this.#loaded ??= Promise.resolve(undefined);
    const loaded = await this.#loaded.catch(() => undefined);
    await loaded?.close();
  }

  #load(): Promise<Extensions | undefined> {
    this.#loaded ??= this.#open();
    return this.#loaded;
  }

  async #open(): Promise<Extensions | undefined> {
    if (this.#sources === undefined) {
      this.#tellNone();
      return undefined;
    }
    const { Extensions } = await import("../extensions/extensions.js");
    const extensions = new Extensions({ ...this.#deps, sources: this.#sources });
    extensions.start();
    return extensions;
  }

  /** Hosts of some wires wait for the first catalogue, so an empty one is emitted, too. */
  #tellNone(): void {
    void this.#deps.control.emit({ type: "catalog.updated", whole: true, skills: [], subagents: [], mcpServers: [], commands: [] });
  }
}
