/** One server of a session: its connection, its lists, and calls of its tools. Failures are states and sentences, never crashes. */
import type { CallToolResult, Client, Progress, Prompt, Resource, Tool as ServerTool } from "@modelcontextprotocol/client";
import type { McpServer } from "../../../core/config.js";
import { ParleyError } from "../../../core/errors.js";
import { untilAborted } from "../../turn/interrupt.js";
import { ReconnectDelays } from "./reconnect-delays.js";
import { dial, DialError, type Dialled, type DialOptions } from "./dial.js";
import { endpointOf } from "./endpoint.js";
import { failureText, httpStatus, isDisconnect, isTimeout } from "./failure.js";
import { listAll } from "./lists.js";
import { OAuth, type RunningLogin } from "./oauth.js";
import type { Trace } from "../../trace/trace.js";
import type { TokenStore } from "./token-store.js";

/** Time in which a server starts, shakes hands and lists its tools. */
const START_MS = 30_000;
/** Time for one call. */
const CALL_MS = 600_000;
/** Time in which the user comes back from the browser. */
const LOGIN_MS = 300_000;

export interface ServerDeps extends Omit<DialOptions, "name" | "oauth" | "onListChanged" | "timeoutMs"> {
  /** Our own environment, for the variables in a configuration. */
  variables: Record<string, string | undefined>;
  tokens: TokenStore;
  /** Its lists changed, or it is gone. */
  changed(server: Server): void;
  /** Something a person should know, in one line. */
  say(level: "info" | "warning", text: string): void;
}

export interface CallOptions {
  signal: AbortSignal;
  onprogress?: (progress: Progress) => void;
  /** Where traces are collected: the call is told there, and tells the server of it. */
  trace?: Trace | undefined;
}

/** The method of a request and the name of its target. */
interface RequestTarget {
  method: "tools/call" | "prompts/get" | "resources/read";
  target?: string;
}

interface Sent {
  limits: Omit<CallOptions, "trace"> & { timeout: number };
  /** For the parameters of the request. */
  meta: { _meta?: { traceparent: string } };
}

export class Server {
  readonly name: string;
  readonly settings: McpServer;
  status: "connecting" | "ready" | "failed" = "connecting";
  error: string | undefined;
  tools: ServerTool[] = [];
  prompts: Prompt[] = [];
  resources: Resource[] = [];
  hasResources = false;
  /** The server's instructions for its use. */
  instructions: string | undefined;
  readonly #deps: ServerDeps;
  readonly #timeoutMs: number;
  #oauth: OAuth | undefined;
  #line: Dialled | undefined;
  #connecting: Promise<void> | undefined;
  /** The server was lost and is being connected anew: its lists still count, and calls wait. */
  #reconnecting: Promise<void> | undefined;
  readonly #delays = new ReconnectDelays();
  #isListing = false;
  /** A list changed since it was read. */
  #isStale = false;
  #login: Promise<RunningLogin> | undefined;
  readonly #end = new AbortController();

  constructor(name: string, settings: McpServer, deps: ServerDeps) {
    this.name = name;
    this.settings = settings;
    this.#deps = deps;
    this.#timeoutMs = settings.timeoutMs ?? START_MS;
  }

  /** Never throws; `status` and `error` tell what came of it. */
  connect(): Promise<void> {
    this.#connecting ??= this.#connect().finally(() => (this.#connecting = undefined));
    return this.#connecting;
  }

  get isReturning(): boolean {
    return this.#reconnecting !== undefined;
  }

  /** Whether it can be called, perhaps after a wait. */
  get isUsable(): boolean {
    return this.status === "ready" || this.isReturning;
  }

  async close(): Promise<void> {
    this.#end.abort();
    await this.#connecting;
    await this.#reconnecting;
    await this.#hangUp();
  }

  // --- calls ---

  callTool(tool: ServerTool, args: Record<string, unknown>, options: CallOptions): Promise<CallToolResult> {
    // The model reads what a tool answers, whatever its schema says; compiling the schemas of strangers would buy nothing.
    const { outputSchema: _, ...toolDefinition } = tool;
    return this.#call({ method: "tools/call", target: tool.name }, options, (client, { limits, meta }) =>
      client.callTool({ name: tool.name, arguments: args, ...meta }, { ...limits, toolDefinition }),
    );
  }

  getPrompt(name: string, args: Record<string, string>, options: CallOptions) {
    return this.#call({ method: "prompts/get", target: name }, options, (client, { limits, meta }) =>
      client.getPrompt({ name, arguments: args, ...meta }, limits),
    );
  }

  readResource(uri: string, options: CallOptions) {
    return this.#call({ method: "resources/read" }, options, (client, { limits, meta }) =>
      client.readResource({ uri, ...meta }, { ...limits, cacheMode: "bypass" }),
    );
  }

  async #call<T extends object>(
    asked: RequestTarget,
    { trace, ...options }: CallOptions,
    ask: (client: Client, sent: Sent) => Promise<T>,
  ): Promise<T> {
    const span = trace?.mcpCall(this.name, asked.method, asked.target);
    const meta = span?.traceparent === undefined ? {} : { _meta: { traceparent: span.traceparent } };
    try {
      const result = await this.#asked(options.signal, (client) => ask(client, { limits: { ...options, timeout: CALL_MS }, meta }));
      if ("isError" in result && result.isError === true) span?.endFailed("tool_error");
      else span?.end();
      return result;
    } catch (error) {
      if (options.signal.aborted) span?.end();
      else span?.end(error);
      throw error;
    }
  }

  /** A request is sent once: a failed one may have acted, so only its caller can decide to ask again. */
  async #asked<T>(signal: AbortSignal, ask: (client: Client) => Promise<T>): Promise<T> {
    if (this.#reconnecting !== undefined) await untilAborted(signal, this.#reconnecting);
    const line = this.#line;
    if (line === undefined)
      throw fault(`The MCP server '${this.name}' is not connected${this.error === undefined ? "" : `: ${this.error}`}`);
    try {
      return await ask(line.client);
    } catch (error) {
      if (isTimeout(error)) throw fault(`The MCP server '${this.name}' did not answer within ${CALL_MS / 1000} s, the limit of one call`);
      if (isDisconnect(error))
        throw fault(`The MCP server '${this.name}' was lost during the call: ${line.report() ?? "it closed the connection"}`);
      if (httpStatus(error) === 404 && this.#line === line) {
        this.#line = undefined;
        void line.close();
        this.#lose("it no longer knows this session");
        throw fault(`The MCP server '${this.name}' no longer knows this session. It is being connected anew; try again`);
      }
      throw fault(`The MCP server '${this.name}' failed: ${failureText(error, this.#remedy())}`);
    }
  }

  // --- logins ---

  /** Begins a login, or joins the one under way; when it is done the server is connected anew. */
  login(): Promise<RunningLogin> {
    this.#login ??= this.#beginLogin().catch((error: unknown) => {
      this.#login = undefined;
      throw fault(`The login to '${this.name}' failed: ${failureText(error, "its authorization server refuses us")}`);
    });
    return this.#login;
  }

  async #beginLogin(): Promise<RunningLogin> {
    await this.#connecting;
    if (this.#oauth === undefined) throw fault("it has no address to log in at, or its own Authorization header");
    const signal = AbortSignal.any([this.#end.signal, AbortSignal.timeout(LOGIN_MS)]);
    const { url, done } = await this.#oauth.login(signal);
    const finished = this.#finishLogin(done).finally(() => (this.#login = undefined));
    // The caller that began it may not wait for it.
    finished.catch(() => {});
    return { url, done: finished };
  }

  async #finishLogin(done: Promise<void>): Promise<void> {
    await done;
    await this.#reconnect();
    if (this.status === "failed") throw fault(`The login to '${this.name}' worked, but ${this.error ?? "it cannot be used"}`);
  }

  async #reconnect(): Promise<void> {
    await this.#hangUp();
    await this.connect();
    this.#deps.changed(this);
  }

  // --- the connection ---

  async #connect(): Promise<void> {
    const limit = AbortSignal.timeout(this.#timeoutMs);
    const signal = AbortSignal.any([this.#end.signal, limit]);
    let line: Dialled | undefined;
    try {
      const endpoint = endpointOf(this.settings, this.#deps.variables);
      if ("url" in endpoint && !Object.keys(endpoint.headers).some((name) => name.toLowerCase() === "authorization"))
        this.#oauth ??= new OAuth(endpoint.url, this.#deps.tokens);
      const onListChanged = (): void => void this.#relist();
      const options = { ...this.#deps, name: this.name, oauth: this.#oauth, onListChanged, timeoutMs: this.#timeoutMs };
      line = await dial(endpoint, options, signal);
      this.#adopt(line);
      await this.#list(line.client, signal);
      this.instructions = line.client.getInstructions();
      this.hasResources = line.client.getServerCapabilities()?.resources !== undefined;
      this.status = "ready";
      this.error = undefined;
      this.#delays.ready();
    } catch (error) {
      const report = error instanceof DialError ? error.report : line?.report();
      await this.#hangUp();
      const why = this.#why(error, limit.aborted, report);
      if (this.isReturning) this.error = why;
      else this.#fail(why);
    }
  }

  async #hangUp(): Promise<void> {
    const line = this.#line;
    this.#line = undefined;
    await line?.close();
  }

  #adopt(line: Dialled): void {
    this.#line = line;
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the client has no other way to tell
    line.client.onclose = () => {
      if (this.#line !== line || this.#end.signal.aborted) return;
      this.#line = undefined;
      if (this.status === "ready") this.#lose(line.report() ?? "it closed the connection");
    };
  }

  #lose(why: string): void {
    this.status = "connecting";
    this.error = why;
    this.#deps.say("warning", `The MCP server '${this.name}' is gone: ${why}. It is being connected anew.`);
    this.#reconnecting ??= this.#reconnectAfterLoss();
  }

  async #reconnectAfterLoss(): Promise<void> {
    while (this.status !== "ready" && (await this.#delays.due(this.#end.signal))) await this.connect();
    this.#reconnecting = undefined;
    if (this.#end.signal.aborted) return;
    if (this.status === "ready") this.#deps.say("info", `The MCP server '${this.name}' is back.`);
    else {
      this.#fail(this.error ?? "it closed the connection");
      this.#deps.say("warning", `The MCP server '${this.name}' stays away: ${this.error ?? ""}. Its tools are gone from the next turn on.`);
    }
    this.#deps.changed(this);
  }

  #fail(why: string): void {
    this.status = "failed";
    this.error = why;
    this.tools = [];
    this.prompts = [];
    this.resources = [];
  }

  #why(error: unknown, late: boolean, report: string | undefined): string {
    const cause = error instanceof DialError ? error.cause : error;
    if (late || isTimeout(cause)) return [`it was not ready within ${this.#timeoutMs / 1000} s`, report].filter(Boolean).join("; ");
    if (isDisconnect(cause) && report !== undefined) return report;
    return [failureText(cause, this.#remedy()), report].filter(Boolean).join("; ");
  }

  #remedy(): string {
    return this.#oauth === undefined ? "check its headers" : `use /mcp login ${this.name}`;
  }

  // --- what it lists ---

  /** One listing at a time; however many changes come during it, one more follows. */
  async #relist(): Promise<void> {
    this.#isStale = true;
    if (this.#isListing) return;
    this.#isListing = true;
    await this.#connecting;
    while (this.#isStale && this.#line !== undefined) {
      this.#isStale = false;
      await this.#listAnew(this.#line.client);
    }
    this.#isListing = false;
  }

  async #listAnew(client: Client): Promise<void> {
    const lists = (): string => JSON.stringify([this.tools, this.prompts, this.resources]);
    const before = lists();
    try {
      await this.#list(client, AbortSignal.any([this.#end.signal, AbortSignal.timeout(this.#timeoutMs)]));
      if (lists() !== before) this.#deps.changed(this);
    } catch (error) {
      if (this.#line?.client !== client) return;
      this.#deps.say("warning", `The MCP server '${this.name}' said that its lists changed, but ${this.#why(error, false, undefined)}`);
    }
  }

  async #list(client: Client, signal: AbortSignal): Promise<void> {
    const { warnings, ...lists } = await listAll(client, this.settings.enabledTools, { signal, timeout: this.#timeoutMs });
    for (const warning of warnings) this.#deps.say("warning", `The MCP server '${this.name}' ${warning}`);
    Object.assign(this, lists);
  }
}

function fault(message: string): ParleyError {
  return new ParleyError({ code: "tool", message, retryable: false });
}
