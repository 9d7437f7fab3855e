/** Client → server: performs each request. A handler that returns a string refuses the request with it. */
import type { Op, OpOf } from "../../../core/op.js";
import type { Out, SideEnv, Step } from "../../dialect.js";
import { NOTHING } from "../../kit/step.js";
import type { RequestId } from "../wire/requests.js";
import { readInput } from "../wire/input.js";
import type { AnyRequest, RequestOf } from "./calls.js";
import { changesOf, openingOf, promptOf, seedOf } from "./read-requests.js";
import type { AgentState, ClientThread, OpenThread } from "./state.js";
import { archive, list, refused, remove, revert, setName, unarchive } from "./stored-threads.js";
import { freshTurn, openedView, threadView, turnView, VERSION } from "./views.js";
import { beginTurn, type Notice } from "./write-events.js";

export interface Context {
  state: AgentState;
  env: SideEnv;
  respond(id: RequestId, result: unknown): Out;
  open(id: RequestId, op: OpOf<"session.open">, opening: OpenThread, withTurns: boolean): Step<Op>;
  tell(notices: readonly Notice[], at: number | undefined): Out[];
}

export function handle(request: AnyRequest, context: Context): Step<Op> | string {
  const { id } = request;
  const { state, respond } = context;
  const answer = (result: unknown): Step<Op> => ({ in: [], out: [respond(id, result)] });
  switch (request.method) {
    case "initialize":
      return initialize(request, context);
    case "thread/start":
      return start(request, context);
    case "thread/resume":
      return resume(request, context);
    case "thread/fork":
      return resume(request, context, { last: request.params.lastTurnId ?? undefined });
    case "thread/list":
      return list(request, context);
    case "thread/loaded/list":
      return answer({ data: [...state.threads.keys()], nextCursor: null });
    case "thread/read":
      return onThread(request.params, state, (thread) =>
        answer({ thread: threadView(thread, request.params.includeTurns === true ? turnsOf(thread) : []) }),
      );
    case "thread/turns/list":
      return onThread(request.params, state, (thread) =>
        answer({
          data: turnsOf(thread)
            .map((turn) => turnView(turn, "full"))
            .toReversed(),
          nextCursor: null,
          backwardsCursor: null,
        }),
      );
    case "thread/unsubscribe":
      return unsubscribe(request, context);
    case "thread/name/set":
      return setName(request, context);
    case "thread/archive":
      return archive(request, context);
    case "thread/unarchive":
      return unarchive(request, context);
    case "thread/delete":
      return remove(request, context);
    case "thread/revert":
      return onThread(request.params, state, (thread) => revert(request, thread, context));
    case "thread/compact/start":
      return onThread(request.params, state, (thread) => compact(id, thread, context));
    case "thread/inject_items":
      return onThread(request.params, state, (thread) => inject(request, thread, context));
    case "thread/settings/update":
      return onThread(request.params, state, (thread) => settings(request, thread, context));
    case "turn/start":
      return onThread(request.params, state, (thread) => startTurn(request, thread, context));
    case "turn/steer":
      return onThread(request.params, state, (thread) => steer(request, thread, context));
    case "turn/interrupt":
      return onThread(request.params, state, (thread) => interrupt(request, thread, context));
    case "model/list":
      return answer({ data: modelsOf(state), nextCursor: null });
    case "account/read":
      return answer({ account: null, requiresOpenaiAuth: false });
    case "mcpServerStatus/list":
      return answer({ data: [], nextCursor: null });
    case "skills/list":
      return answer({ data: [] });
    default:
      request satisfies never;
      return NOTHING;
  }
}

function onThread(
  { threadId }: { threadId: string },
  { threads }: AgentState,
  act: (thread: ClientThread) => Step<Op> | string,
): Step<Op> | string {
  const thread = threads.get(threadId);
  return thread === undefined ? `thread not loaded: ${threadId}` : act(thread);
}

function turnsOf({ turns, lanes }: ClientThread): ClientThread["turns"] {
  const running = lanes.get("")?.turn;
  return running === undefined ? turns : [...turns, running];
}

function initialize({ id, params }: RequestOf<"initialize">, { state, respond }: Context): Step<Op> | string {
  if (state.isGreeted) return "Already initialized";
  state.isGreeted = true;
  state.client = params.clientInfo.name;
  state.muted = new Set(params.capabilities?.optOutNotificationMethods ?? []);
  const userAgent = `${params.clientInfo.name}/${VERSION} (parley; ${params.clientInfo.name}; ${params.clientInfo.version ?? "0"})`;
  return { in: [], out: [respond(id, { userAgent, codexHome: "", platformFamily: "unix", platformOs: "linux" })] };
}

// --- threads ---

function start({ id, params }: RequestOf<"thread/start">, { state, env, open }: Context): Step<Op> {
  const session = env.stamp().id;
  const opening = openingOf(session, { ...params, cwd: params.cwd ?? state.cwd }, state);
  return open(id, { type: "session.open", id: env.stamp().id, session, open: "new", config: opening.config }, opening, false);
}

/** Resumes or forks a thread, the latter up to its `last` turn. A thread that is loaded already is answered with its present state. */
function resume(
  { id, params }: RequestOf<"thread/resume"> | RequestOf<"thread/fork">,
  { state, env, open, respond }: Context,
  fork?: { last: string | undefined },
): Step<Op> | string {
  const { threadId, excludeTurns } = params;
  const live = state.threads.get(threadId);
  const withTurns = excludeTurns !== true;
  if (live !== undefined && fork === undefined) {
    return { in: [], out: [respond(id, openedView(live, withTurns ? turnsOf(live) : []))] };
  }
  const last = fork?.last;
  if (last !== undefined && live?.lanes.get("")?.turn.id === last) return `turn is in progress: ${last}`;
  const session = fork !== undefined ? env.stamp().id : threadId;
  const opening = { ...openingOf(session, params, state), ...(fork !== undefined && { forkedFrom: threadId }) };
  const after = withTurns ? { after: { seq: -1 } } : {};
  const op: OpOf<"session.open"> = {
    type: "session.open",
    id: env.stamp().id,
    session,
    open: "resume",
    sessionId: threadId,
    ...after,
    config: opening.config,
  };
  const before = last === undefined ? {} : { before: { turn: last, next: true } };
  return open(id, fork === undefined ? op : { ...op, fork: true, ...before }, opening, withTurns);
}

function unsubscribe({ id, params }: RequestOf<"thread/unsubscribe">, { state, env, respond }: Context): Step<Op> {
  const thread = state.threads.get(params.threadId);
  if (thread === undefined) return { in: [], out: [respond(id, { status: "notLoaded" })] };
  const op = env.stamp().id;
  thread.closer = id;
  // `session.ended` answers the request, unless the agent refuses to close.
  state.waiting.set(op, (event) => {
    if (event.type !== "reply" || event.status !== "error") return NOTHING;
    thread.closer = undefined;
    return refused(id, event.fault?.message);
  });
  return { in: [{ type: "session.close", id: op, session: thread.handle }], out: [] };
}

/** Compacts a thread. This is a turn on this wire and a command of our vocabulary. */
function compact(id: RequestId, thread: ClientThread, { env, respond, tell }: Context): Step<Op> | string {
  if (thread.lanes.has("")) return "a turn is running";
  const turn = env.stamp().id;
  thread.compacting = { turn, begun: true };
  const op: Op = { type: "turn.prompt", id: env.stamp().id, session: thread.handle, turn, parts: [], command: { name: "compact" } };
  return { in: [op], out: [respond(id, {}), ...tell(beginTurn(turn, thread, env.stamp().at), undefined)] };
}

function inject(
  { id, params }: RequestOf<"thread/inject_items">,
  thread: ClientThread,
  { state, env, respond }: Context,
): Step<Op> | string {
  const messages = seedOf(params.items);
  if (messages === undefined) return "thread/inject_items: only messages of the user and the assistant can be put into a thread";
  const op = env.stamp().id;
  state.waiting.set(op, (event) =>
    event.type === "reply" && event.status === "error" ? refused(id, event.fault?.message) : { in: [], out: [respond(id, {})] },
  );
  const text = messages.map((message) => `${message.role}: ${message.text}`).join("\n\n");
  return { in: [{ type: "session.seed", id: op, session: thread.handle, text, messages }], out: [] };
}

function settings({ id, params }: RequestOf<"thread/settings/update">, thread: ClientThread, context: Context): Step<Op> {
  const { state, respond } = context;
  const op = configured(params, thread, context);
  if (op === undefined) return { in: [], out: [respond(id, {})] };
  state.waiting.set(op.id ?? "", (event) =>
    event.type === "reply" && event.status === "error" ? refused(id, event.fault?.message) : { in: [], out: [respond(id, {})] },
  );
  return { in: [op], out: [] };
}

/** Takes over the approval policy at once; returns an op for the changes that the agent has to make. */
function configured(params: Parameters<typeof changesOf>[0], thread: ClientThread, { env }: Context): Op | undefined {
  const changes = changesOf(params, thread);
  if (changes === undefined) return undefined;
  thread.never = changes.asking?.never ?? thread.never;
  thread.shown = changes.shown ?? thread.shown;
  if (Object.keys(changes.patch).length === 0) return undefined;
  const id = env.stamp().id;
  thread.changing.add(id);
  return { type: "session.configure", id, session: thread.handle, patch: changes.patch };
}

// --- turns ---

/** Prompts the agent. A prompt during a turn is queued and gets a turn of its own. */
function startTurn({ id, params }: RequestOf<"turn/start">, thread: ClientThread, context: Context): Step<Op> | string {
  const { env, respond } = context;
  const turn = env.stamp().id;
  const op = promptOf(params, thread, turn, env);
  if (typeof op === "string") return `turn/start: ${op}`;
  const change = configured(params, thread, context);
  return { in: [...(change === undefined ? [] : [change]), op], out: [respond(id, { turn: freshTurn(turn) })] };
}

function steer({ id, params }: RequestOf<"turn/steer">, thread: ClientThread, { env, respond }: Context): Step<Op> | string {
  const running = thread.lanes.get("")?.turn.id;
  if (running === undefined) return "no active turn to steer";
  if (params.expectedTurnId !== running) return `expected active turn id ${params.expectedTurnId} but found ${running}`;
  const parts = readInput(params.input);
  if (typeof parts === "string") return `turn/steer: ${parts}`;
  return { in: [{ type: "turn.steer", id: env.stamp().id, session: thread.handle, parts }], out: [respond(id, { turnId: running })] };
}

/** Interrupts a turn. An empty turn id stands for the newest queued turn, else the running one. */
function interrupt({ id, params }: RequestOf<"turn/interrupt">, thread: ClientThread, { env, respond }: Context): Step<Op> | string {
  const running = thread.lanes.get("")?.turn.id;
  const [waiting] = [...thread.inputs.keys()].toReversed();
  const isKnown = params.turnId === running || thread.inputs.has(params.turnId);
  const turn = params.turnId === "" ? (waiting ?? running) : isKnown ? params.turnId : undefined;
  if (turn === undefined) return running === undefined ? "no active turn" : `expected active turn id ${params.turnId} but found ${running}`;
  const meant = thread.renamed?.client === turn ? thread.renamed.agent : turn;
  return { in: [{ type: "turn.interrupt", id: env.stamp().id, session: thread.handle, turn: meant }], out: [respond(id, {})] };
}

// --- models ---

/** The models in use by sessions: agents do not list others. */
function modelsOf({ threads, defaults }: AgentState): object[] {
  const names = new Set([...threads.values()].map(({ config }) => config.model).concat(defaults.model));
  return [...names].flatMap((model, at) =>
    model === undefined
      ? []
      : [
          {
            id: model,
            model,
            upgrade: null,
            displayName: model,
            description: "",
            hidden: false,
            supportedReasoningEfforts: [],
            defaultReasoningEffort: "medium",
            inputModalities: ["text", "image"],
            supportsPersonality: false,
            isDefault: at === 0,
          },
        ],
  );
}
