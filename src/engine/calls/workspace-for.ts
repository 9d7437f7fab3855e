/** The workspace of a call: the session's own, with what its host does itself. Changes are noted, so that the turn can be undone. */
import type { SessionServices } from "../session/services.js";
import type { Turn } from "../turn/turn.js";
import { hostedWorkspace } from "../workspace/hosted.js";
import type { Workspace } from "../workspace/workspace.js";

const NEVER = new AbortController().signal;

/** `call`: the requests to the host belong to it. Without one they belong to the turn. */
export function workspaceFor({ session, config, signal, emit, changes }: Turn, call?: string): Workspace {
  const workspace = workspaceOf(session, { hosted: config.workspace, signal, emit, call });
  return changes?.within(workspace) ?? workspace;
}

interface Asking {
  hosted: Turn["config"]["workspace"];
  signal: AbortSignal;
  emit: Turn["emit"];
  call?: string | undefined;
}

type Asked = Pick<SessionServices, "workspace" | "hostRequests" | "events" | "answerSeconds">;

export function workspaceOf({ workspace, hostRequests, events, answerSeconds }: Asked, { hosted, signal, emit, call }: Asking): Workspace {
  if (hosted === undefined || !Object.values(hosted).includes("host")) return workspace;
  return hostedWorkspace(workspace, hosted, {
    ask: (kind, data, seconds = answerSeconds) =>
      hostRequests.ask(emit, kind, data, { seconds, signal, ...(call !== undefined && { call }) }),
    askAlways: (kind, data) => hostRequests.ask((event) => events.tell(event), kind, data, { seconds: answerSeconds, signal: NEVER }),
  });
}
