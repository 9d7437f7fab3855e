/** The MCP servers of a session: connected in the background, changed with its configuration, ended with it. */
import type { McpServer, SessionConfig } from "../../../core/config.js";
import type { Part } from "../../../core/content.js";
import { ParleyError } from "../../../core/errors.js";
import type { EventOf, ListedMcpServer } from "../../../core/event.js";
import { toolEnvironment } from "../../../core/secrets/secrets.js";
import type { Tool } from "../../tools/tool.js";
import type { ExtensionDeps } from "../extensions.js";
import type { SessionServices } from "../../session/services.js";
import type { Emit } from "../../turn/turn.js";
import { toolExists } from "../../permissions/tool-lists.js";
import type { Trace } from "../../trace/trace.js";
import { promptParts, resourceParts, type Bounds } from "./content.js";
import { serverInstructions } from "./instructions.js";
import { ToolNames, wholeName } from "./names.js";
import type { RunningLogin } from "./oauth.js";
import type { Server, ServerDeps } from "./server.js";
import { mcpTool, resourcesOf, resourceTools } from "./tools.js";

/** A prompt that a server offers; people use it as a command. */
export interface McpPrompt {
  server: string;
  name: string;
  description: string;
  arguments: { name: string; description: string; required: boolean }[];
}

export interface McpDeps extends Pick<ExtensionDeps, "redactor" | "env" | "version"> {
  sources: Pick<ExtensionDeps["sources"], "home" | "mcpServers">;
  control: {
    readonly session: Pick<SessionServices, "hostRequests" | "workspace" | "outputChars" | "answerSeconds">;
    readonly emit: Emit;
    trace(): Trace | undefined;
    config(): SessionConfig;
  };
}

/** How long the report of a connected server waits for other connecting servers: each report has the whole list. */
const TOGETHER_MS = 2000;

export class McpServers {
  readonly #deps: McpDeps;
  readonly #changed: () => void;
  readonly #names = new ToolNames();
  readonly #servers = new Map<string, Server>();
  readonly #ending = new Set<Promise<void>>();
  /** Changes of the configuration, one after another. */
  #order: Promise<unknown> = Promise.resolve();
  /** Changes whose servers have not all connected or failed. */
  #open = 0;
  #whenConnected: (() => void)[] = [];
  /** A change to report at the latest when all servers are settled. */
  #untold = false;
  #telling: NodeJS.Timeout | undefined;
  #batches = 0;
  #closed = false;

  /** `changed` is called when the lists have changed. */
  constructor(deps: McpDeps, changed: () => void) {
    this.#deps = deps;
    this.#changed = changed;
  }

  /** Like `configure`, after `before` has settled; until then nothing counts as settled, unless there is nothing to connect to. */
  start(config: SessionConfig, before: Promise<unknown>): void {
    this.#order = before.catch(() => {});
    this.configure(config);
  }

  /** Connects to new servers, ends removed ones, and leaves the others alone. Does not wait for any of them. */
  configure(config: SessionConfig): void {
    const wanted = { ...this.#deps.sources.mcpServers, ...config.mcpServers };
    if (Object.keys(wanted).length === 0 && this.#servers.size === 0 && this.#open === 0) return;
    this.#open++;
    const applied = this.#order.then(() => this.#apply(wanted));
    this.#order = applied;
    void applied.then(async ({ fresh, isNew }) => {
      await this.#warmUp(fresh);
      this.#open--;
      if (this.#open === 0) for (const resolve of this.#whenConnected.splice(0)) resolve();
      this.#untold ||= isNew;
      // A slow server does not delay the reports of the others.
      if (isNew || (this.settled && this.#untold)) this.#tell();
    });
  }

  /** Whether each server has connected or failed. */
  get settled(): boolean {
    return this.#open === 0 && ![...this.#servers.values()].some(({ isReturning }) => isReturning);
  }

  /**
   * Resolves when each server has connected or failed once, or when nobody waits any more. A lost server keeps its tools
   * meanwhile.
   */
  async untilConnected(signal: AbortSignal): Promise<void> {
    if (this.#open === 0 || signal.aborted) return;
    await new Promise<void>((resolve) => {
      this.#whenConnected.push(resolve);
      signal.addEventListener("abort", () => resolve(), { once: true });
    });
  }

  /** Servers that have connected or failed. */
  listed(): ListedMcpServer[] {
    return [...this.#servers.values()].flatMap((server) => {
      const { name, status, error, settings, tools } = server;
      if (status === "connecting" && !server.isReturning) return [];
      const { command, args, url } = settings;
      const listedTools = tools.map((tool) => ({
        name: tool.name,
        qualifiedName: this.#names.tool(name, tool.name),
        ...(tool.description !== undefined && { description: tool.description }),
        parameters: { ...tool.inputSchema },
      }));
      return [{ name, status, tools: listedTools, ...defined({ error, command, args, url }) }];
    });
  }

  tools(): Tool[] {
    const own = this.#usable().flatMap((server) =>
      server.tools.map((tool) => mcpTool(server, tool, this.#names.tool(server.name, tool.name))),
    );
    return [...own, ...resourceTools(this.#readable())];
  }

  /** Instructions of the servers that the model can use, for the system prompt. */
  instructions(): string {
    const { control, redactor } = this.#deps;
    const config = control.config();
    const readable = new Set(this.#readable());
    const isUsed = (server: Server): boolean =>
      readable.has(server) ||
      server.tools.some((tool) => toolExists(this.#names.tool(server.name, tool.name), config, wholeName(server.name, tool.name)));
    const used = this.#usable().filter(isUsed);
    return serverInstructions(
      used.map(({ name, instructions = "" }) => ({ name, prefix: this.#names.server(name), instructions: redactor.text(instructions) })),
    );
  }

  prompts(): McpPrompt[] {
    return [...this.#servers.values()].flatMap((server) =>
      server.prompts.map(({ name, description = "", arguments: given = [] }) => ({
        server: server.name,
        name,
        description,
        arguments: given.map((one) => ({ name: one.name, description: one.description ?? "", required: one.required === true })),
      })),
    );
  }

  async prompt(server: string, name: string, args: Record<string, string>, signal: AbortSignal): Promise<Part[]> {
    return promptParts(await this.#named(server).getPrompt(name, args, { signal, trace: this.#deps.control.trace() }), this.#bounds());
  }

  /** Servers that have resources now. */
  servers(): string[] {
    return this.#withResources().map(({ name }) => name);
  }

  /** Reads the resource that `@server:uri` names. */
  async read(server: string, uri: string, signal: AbortSignal): Promise<Part[]> {
    return resourceParts(await this.#named(server).readResource(uri, { signal, trace: this.#deps.control.trace() }), this.#bounds());
  }

  /** Begins a login in the user's browser; when it is done the server is connected anew. */
  login(server: string): Promise<RunningLogin> {
    return this.#named(server).login();
  }

  /** Resolves when all servers have ended. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#telling);
    await this.#order;
    for (const server of this.#servers.values()) this.#end(server);
    this.#servers.clear();
    await Promise.all(this.#ending);
  }

  /** The new servers; `isNew`: something changed. */
  async #apply(wanted: Record<string, McpServer>): Promise<{ fresh: Server[]; isNew: boolean }> {
    const gone = [...this.#servers.values()].filter((server) => !this.#isSame(server.settings, wanted[server.name]));
    for (const server of gone) {
      this.#servers.delete(server.name);
      this.#end(server);
    }
    const added = Object.entries(wanted).filter(([name]) => !this.#servers.has(name));
    if (added.length === 0 || this.#closed) return { fresh: [], isNew: gone.length > 0 };
    const { Server: Connected } = await import("./server.js");
    const { TokenStore } = await import("./token-store.js");
    const deps = this.#serverDeps(new TokenStore(this.#deps.sources.home, this.#deps.redactor));
    const fresh = added.map(([name, settings]) => new Connected(name, settings, deps));
    for (const server of fresh) {
      this.#names.server(server.name);
      this.#servers.set(server.name, server);
    }
    return { fresh, isNew: true };
  }

  #serverDeps(tokens: ServerDeps["tokens"]): ServerDeps {
    const { control, env, redactor, version } = this.#deps;
    const { hostRequests, workspace } = control.session;
    return {
      version,
      redactor,
      tokens,
      root: workspace.root,
      sandbox: workspace.sandbox,
      env: toolEnvironment(env, redactor.forms),
      variables: env,
      host: { requests: hostRequests, emit: control.emit, seconds: () => control.session.answerSeconds },
      changed: (server) => {
        if (!this.#isHere(server)) return;
        if (this.#open === 0) this.#tell();
        else this.#untold = true;
      },
      say: (level, text) => this.#say(level, text),
    };
  }

  async #warmUp(servers: readonly Server[]): Promise<void> {
    if (servers.length === 0 || this.#closed) return;
    const block = this.#batches++ === 0 ? "mcp-warmup" : `mcp-warmup-${this.#batches}`;
    const total = servers.length;
    this.#say("info", `Warming up ${total} MCP servers in the background — tools will become available as they connect.`, block);
    await Promise.all(
      servers.map(async (server) => {
        await server.connect();
        if (server.status === "ready") this.#tellSoon();
        if (server.status === "failed" && this.#isHere(server)) this.#say("warning", `${server.name}: ${server.error ?? ""}`, block);
      }),
    );
    const ready = servers.filter(({ status }) => status === "ready");
    const tools = ready.reduce((sum, server) => sum + server.tools.length, 0);
    this.#say("info", `MCP ready: ${ready.length}/${total} servers connected, ${tools} tools registered.`, block);
  }

  /** A server that never answers does not delay the reports of the others. */
  #tellSoon(): void {
    if (!this.#closed) this.#telling ??= setTimeout(() => this.#tell(), TOGETHER_MS);
  }

  #tell(): void {
    clearTimeout(this.#telling);
    this.#telling = undefined;
    this.#untold = !this.settled;
    if (!this.#closed) this.#changed();
  }

  #end(server: Server): void {
    const ending = server.close().finally(() => this.#ending.delete(ending));
    this.#ending.add(ending);
  }

  /** A host that sends back a configuration without its secrets means the same server. */
  #isSame(settings: McpServer, wanted: McpServer | undefined): boolean {
    const text = JSON.stringify(wanted);
    return text === JSON.stringify(settings) || text === JSON.stringify(this.#deps.redactor.value(settings));
  }

  #withResources(): Server[] {
    return this.#usable().filter(({ hasResources }) => hasResources);
  }

  /** Servers whose resources the model may read; the user may attach others, too. */
  #readable(): Server[] {
    const config = this.#deps.control.config();
    return this.#withResources().filter(({ name }) => toolExists("ReadMcpResource", config, resourcesOf(name)));
  }

  #usable(): Server[] {
    return [...this.#servers.values()].filter(({ isUsable }) => isUsable);
  }

  #isHere(server: Server): boolean {
    return !this.#closed && this.#servers.get(server.name) === server;
  }

  #named(name: string): Server {
    const server = this.#servers.get(name);
    if (server !== undefined) return server;
    throw new ParleyError({ code: "config", message: `There is no MCP server '${name}'`, retryable: false, param: name });
  }

  #bounds(): Bounds {
    return { outputChars: this.#deps.control.session.outputChars, redactor: this.#deps.redactor };
  }

  #say(level: EventOf<"notice">["level"], text: string, block?: string): void {
    if (this.#closed) return;
    void this.#deps.control.emit({ type: "notice", level, kind: "mcp", text, ...defined({ block }) });
  }
}

/** Removes keys without a value. */
function defined<T extends Record<string, unknown>>(fields: T): { [K in keyof T]?: NonNullable<T[K]> };
function defined(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
