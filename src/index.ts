/** `agent-parley`: the vocabulary, the port, and the links between dialects and transports. */
export type { Agent } from "./core/agent.js";
export type { CommandReply, CommandResult, Suggestion, SuggestReply } from "./core/command.js";
export type { SessionConfig, Mode, Rule, Thinking, HostTool, McpServer } from "./core/config.js";
export type { Part, PartOf, TodoItem } from "./core/content.js";
export { ParleyError, type Fault } from "./core/errors.js";
export type { Call, Category, Closed, Event, EventOf, EventType, Need, SessionRow, Usage } from "./core/event.js";
export { Grammar } from "./core/grammar.js";
export type { Client } from "./core/meta.js";
export type { Answer, Op, OpOf, OpType } from "./core/op.js";
export type { Frame, Launch, Transport } from "./core/wire.js";
export { connect, type ConnectOptions, type Dial } from "./link/connect.js";
export { relay, type Relay, type KnownSession, type RelayOptions, type SessionMap } from "./link/relay.js";
export { serve, type ServeOptions } from "./link/serve.js";
export { memoryPair } from "./transports/memory.js";
export { spawnTransport, type ProcessLaunch, type ProcessOptions, type ProcessTransport } from "./transports/process.js";
export { stdio, type StdioTransport } from "./transports/stdio.js";
export { drive, type DriveOptions } from "./host/drive.js";
export { openSession, HostSession, type Opening, type PromptOptions } from "./host/session.js";
