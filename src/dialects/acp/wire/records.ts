/** Every record of version 1 by direction. */
import * as v from "valibot";
import { ContentBlock } from "./content.js";
import { Failure, notificationOf, requestOf, Result, RpcId } from "./rpc.js";
import { CreateTerminalParams, ElicitationParams, PermissionParams, ReadFileParams, TerminalParams, WriteFileParams } from "./requests.js";
import {
  InitializeParams,
  ListParams,
  NewSessionParams,
  OldSessionParams,
  SessionParams,
  SetModelParams,
  SetModeParams,
  SetOptionParams,
  SetTitleParams,
} from "./sessions.js";
import { UpdateParams } from "./updates.js";

/** The version of the wire: `initialize` negotiates it. */
export const PROTOCOL = 1;
/** The release of the schema that these records follow. */
export const VERSION = "1.25.0";

const PromptParams = v.looseObject({ sessionId: v.string(), prompt: v.array(ContentBlock) });
export const CancelRequestParams = v.looseObject({ requestId: RpcId });
const AuthenticateParams = v.looseObject({ methodId: v.string() });
const LogoutParams = v.looseObject({});

/** Parameters of the client's requests, by method. */
export const clientRequests = {
  initialize: InitializeParams,
  authenticate: AuthenticateParams,
  logout: LogoutParams,
  "session/new": NewSessionParams,
  "session/load": OldSessionParams,
  "session/resume": OldSessionParams,
  "session/fork": OldSessionParams,
  "session/list": ListParams,
  "session/status": SessionParams,
  "session/close": SessionParams,
  "session/delete": SessionParams,
  "session/set_title": SetTitleParams,
  "session/archive": SessionParams,
  "session/unarchive": SessionParams,
  "session/prompt": PromptParams,
  "session/set_mode": SetModeParams,
  "session/set_model": SetModelParams,
  "session/set_config_option": SetOptionParams,
  "_session/steering": PromptParams,
} as const;
export type ClientMethod = keyof typeof clientRequests;
export type ClientParams<M extends ClientMethod> = v.InferOutput<(typeof clientRequests)[M]>;

const cancelRequest = notificationOf("$/cancel_request", CancelRequestParams);

export const HostRecord = v.union([
  v.variant("method", [
    requestOf("initialize", clientRequests.initialize),
    requestOf("authenticate", clientRequests.authenticate),
    requestOf("logout", clientRequests.logout),
    requestOf("session/new", clientRequests["session/new"]),
    requestOf("session/load", clientRequests["session/load"]),
    requestOf("session/resume", clientRequests["session/resume"]),
    requestOf("session/fork", clientRequests["session/fork"]),
    requestOf("session/list", clientRequests["session/list"]),
    requestOf("session/status", clientRequests["session/status"]),
    requestOf("session/close", clientRequests["session/close"]),
    requestOf("session/delete", clientRequests["session/delete"]),
    requestOf("session/set_title", clientRequests["session/set_title"]),
    requestOf("session/archive", clientRequests["session/archive"]),
    requestOf("session/unarchive", clientRequests["session/unarchive"]),
    requestOf("session/prompt", clientRequests["session/prompt"]),
    requestOf("session/set_mode", clientRequests["session/set_mode"]),
    requestOf("session/set_model", clientRequests["session/set_model"]),
    requestOf("session/set_config_option", clientRequests["session/set_config_option"]),
    requestOf("_session/steering", clientRequests["_session/steering"]),
    notificationOf("session/cancel", SessionParams),
    cancelRequest,
  ]),
  Result,
  Failure,
]);

/** Parameters of the agent's requests, by method. */
export const agentRequests = {
  "session/request_permission": PermissionParams,
  "fs/read_text_file": ReadFileParams,
  "fs/write_text_file": WriteFileParams,
  "terminal/create": CreateTerminalParams,
  "terminal/output": TerminalParams,
  "terminal/wait_for_exit": TerminalParams,
  "terminal/kill": TerminalParams,
  "terminal/release": TerminalParams,
  "elicitation/create": ElicitationParams,
} as const;
export type AgentMethod = keyof typeof agentRequests;
export type AgentParams<M extends AgentMethod> = v.InferOutput<(typeof agentRequests)[M]>;

export const AgentRecord = v.union([
  v.variant("method", [
    requestOf("session/request_permission", agentRequests["session/request_permission"]),
    requestOf("fs/read_text_file", agentRequests["fs/read_text_file"]),
    requestOf("fs/write_text_file", agentRequests["fs/write_text_file"]),
    requestOf("terminal/create", agentRequests["terminal/create"]),
    requestOf("terminal/output", agentRequests["terminal/output"]),
    requestOf("terminal/wait_for_exit", agentRequests["terminal/wait_for_exit"]),
    requestOf("terminal/kill", agentRequests["terminal/kill"]),
    requestOf("terminal/release", agentRequests["terminal/release"]),
    requestOf("elicitation/create", agentRequests["elicitation/create"]),
    notificationOf("session/update", UpdateParams),
    notificationOf("elicitation/complete", v.looseObject({ elicitationId: v.string() })),
    cancelRequest,
  ]),
  Result,
  Failure,
]);
