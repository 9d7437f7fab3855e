/** The workspace of a call: the session's own, with what its host does itself. */
import type { Turn } from "../turn/turn.js";
import { hostedWorkspace } from "../workspace/hosted.js";
import type { Workspace } from "../workspace/workspace.js";

const NEVER = new AbortController().signal;

/** `call`: the requests to the host belong to it. Without one they belong to the turn. */
export function workspaceFor({ session, config, signal, emit }: Turn, call?: string): Workspace {
  const { workspace: hosted } = config;
  if (hosted === undefined || !Object.values(hosted).includes("host")) return session.workspace;
  const { hostRequests, events, answerSeconds } = session;
  return hostedWorkspace(session.workspace, hosted, {
    ask: (kind, data, seconds = answerSeconds) =>
      hostRequests.ask(emit, kind, data, { seconds, signal, ...(call !== undefined && { call }) }),
    askAlways: (kind, data) => hostRequests.ask((event) => events.tell(event), kind, data, { seconds: answerSeconds, signal: NEVER }),
  });
}
