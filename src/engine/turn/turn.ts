/** One turn: from a prompt to exactly one `turn.ended`, whatever happens in between. Loaded with the first one, tools and all. */
import type { Mode, SessionConfig } from "../../core/config.js";
import { textPart, type Part } from "../../core/content.js";
import { ParleyError, toFault } from "../../core/errors.js";
import type { EventOf, Usage } from "../../core/event.js";
import type { Redactor } from "../../core/redact.js";
import { addUsage } from "../../core/usage.js";
import type { SubAgent } from "./built-in-agents.js";
import type { Hooks } from "../extensions/hooks/hooks.js";
import type { History } from "../session/history.js";
import { loadAttachments } from "./attachments.js";
import { Budget } from "./budget.js";
import { windowOf } from "./compaction.js";
import { runLoop, type LoopEnd } from "./loop.js";
import type { Model, ModelCall, ToolSpec } from "../models/model.js";
import { systemPrompt } from "./system-prompt.js";
import { MAX_TURNS } from "../../core/limits.js";
import { Interrupted, untilAborted, type Emit, type Outfit, type Run } from "./run.js";
import type { SessionState } from "../session/state.js";
import { runSubAgents } from "./sub-agents.js";
import type { Trace } from "../trace/trace.js";
import type { Tool } from "../tools/tool.js";

export { toolbox, toolNames } from "./toolbox.js";
export { tellUnknownOfPrompt, tellUnknownOfSession } from "../permissions/unknown-tools.js";

export interface TurnInput {
  turn: string;
  hooks: Hooks | undefined;
  state: SessionState;
  config: SessionConfig;
  model: Model;
  /** Models that answer in its place, in this order, when its server cannot. */
  fallbacks: readonly Model[];
  tools: ReadonlyMap<string, Tool>;
  /** Another model than the turn's, for a sub-agent. */
  openModel(name: string): Promise<Model>;
  /** What the extensions add to the system prompt. */
  instructions: string;
  history: History;
  persist(): Promise<void>;
  redactor: Redactor;
  signal: AbortSignal;
  trace: Trace | undefined;
  parts: Part[];
  /** What the host asks to be run first, in the model's place. */
  calls: readonly ModelCall[];
  /** There is no new message: the turn goes on from the history. */
  continues: boolean;
  /** What the words of the prompt attach. */
  mentioned: (() => Promise<Part[]>) | undefined;
  takeSteering(): Part[];
  setMode(mode: Mode): void;
  emit: Emit;
  emitUnder(call: string): Emit;
}

type End = Omit<EventOf<"turn.ended">, "type">;

/** Never throws: what goes wrong is how the turn ended. */
export async function runTurn(input: TurnInput): Promise<End> {
  let usage: Usage | undefined;
  try {
    if (bringsMessage(input)) input.history.push({ role: "user", parts: await attached(input) });
    const run = await prepareRun(input, (more) => {
      usage = addUsage(usage, more);
    });
    const { finish } = await runToStop(run, input.calls);
    return { outcome: "completed", finish, ...withUsage() };
  } catch (error) {
    // Aborted with a fault: not the user's will, but a limit.
    const limit: unknown = input.signal.aborted && input.signal.reason instanceof ParleyError ? input.signal.reason : undefined;
    if (limit === undefined && (error instanceof Interrupted || input.signal.aborted)) return { outcome: "interrupted", ...withUsage() };
    const fault = toFault(limit ?? error);
    await input.emit({ type: "error", fault });
    return { outcome: "failed", reason: fault.message, fault, ...withUsage() };
  }

  function withUsage(): { usage?: Usage } {
    return usage === undefined ? {} : { usage };
  }
}

/** Calls alone are what the host wants as well; nobody said anything then. */
function bringsMessage({ parts, calls, continues }: TurnInput): boolean {
  return !continues && (parts.length > 0 || calls.length === 0);
}

/** How often hooks may keep a turn from ending. */
const MOST_STOPS = 3;

/** A hook that blocks the end has the last word said to the model, and the loop goes on. */
async function runToStop(run: Run, asked: readonly ModelCall[]): Promise<LoopEnd> {
  let end = await runLoop(run, asked);
  for (let blocked = 0; blocked < MOST_STOPS && run.budget.mayAsk; blocked++) {
    const reason = await run.hooks?.atStop(end.text, run);
    if (run.signal.aborted) throw new Interrupted();
    if (reason === undefined) break;
    await run.emit({ type: "notice", level: "info", kind: "hook", text: `A stop hook lets the turn go on: ${reason}` });
    run.history.push({ role: "user", parts: [textPart(reason)] });
    end = await runLoop(run);
  }
  return end;
}

/** The prompt with its files and what hooks add; interrupted on the way, it is at least known what was asked. A blocked one is not said. */
async function attached(input: TurnInput): Promise<Part[]> {
  const { signal, mentioned } = input;
  const hooks = input.hooks?.any === true ? input.hooks : undefined;
  if (hooks === undefined && mentioned === undefined && withoutFiles(input.parts).length === input.parts.length) return input.parts;
  try {
    const context = hooks === undefined ? "" : await untilAborted(signal, hooks.beforePrompt(input.parts, input));
    const parts = (await untilAborted(signal, Promise.all([loadAttachments(input), mentioned?.() ?? []]))).flat();
    return context === "" ? parts : [...parts, textPart(context)];
  } catch (error) {
    if (error instanceof ParleyError && error.fault.code === "hook") throw error;
    input.history.push({ role: "user", parts: withoutFiles(input.parts) });
    throw error;
  }
}

/** What was said meanwhile, with its files. */
async function steered(input: TurnInput): Promise<Part[]> {
  const parts = input.takeSteering();
  if (withoutFiles(parts).length === parts.length) return parts;
  try {
    return await untilAborted(input.signal, loadAttachments({ ...input, parts }));
  } catch (error) {
    input.history.push({ role: "user", parts: withoutFiles(parts) });
    throw error;
  }
}

function withoutFiles(parts: readonly Part[]): Part[] {
  return parts.filter((part) => part.type !== "file");
}

async function prepareRun(input: TurnInput, onUsage: (usage: Usage) => void): Promise<Run> {
  const { config, state } = input;
  const tools: ToolSpec[] = [];
  for (const tool of input.tools.values()) tools.push(specs.get(tool) ?? (await specOf(tool)));
  const limit = config.maxTurns ?? MAX_TURNS;
  if (limit < 1)
    throw new ParleyError({ code: "config", message: `maxTurns is ${limit}; a turn needs at least one model call`, retryable: false });
  const opening = input.hooks?.any !== true ? "" : await untilAborted(input.signal, input.hooks.opened());
  const instructions = [input.instructions, opening].filter((part) => part !== "").join("\n\n");
  const run: Run = {
    turn: input.turn,
    hooks: input.hooks,
    state,
    model: input.model,
    fallbacks: input.fallbacks,
    fallenBack: 0,
    contextLimit: windowOf(config, input.model),
    wantedWindow: config.contextLimit,
    history: input.history,
    tools: input.tools,
    request: {
      system: systemPrompt(config, state.workspace, instructions),
      tools,
      maxTokens: config.maxTokens,
      temperature: config.temperature,
      topP: config.topP,
      topK: config.topK,
      stop: config.stop,
      thinking: config.thinking,
      thinkingBudget: config.thinkingBudget,
      effort: config.effort,
      images: config.images,
    },
    emit: input.emit,
    redactor: input.redactor,
    streaming: config.streaming ?? true,
    outputCompaction: config.outputCompaction ?? "off",
    signal: input.signal,
    budget: new Budget(limit, config.maxToolCalls),
    trace: input.trace,
    takeSteering: () => steered(input),
    persist: () => input.persist(),
    addUsage: onUsage,
    outfit: (agent) => outfit(input, agent),
    setMode: (mode) => input.setMode(mode),
    spawn: (call, tasks, trace) => runSubAgents(run, tasks, call, { depth: 0, trace, emitUnder: (under) => input.emitUnder(under) }),
  };
  return run;
}

/** A tool is told to the model in the same words for as long as it is the same. */
const specs = new WeakMap<Tool, ToolSpec>();

async function specOf(tool: Tool): Promise<ToolSpec> {
  const spec = { name: tool.name, description: tool.description, parameters: await tool.parameters() };
  specs.set(tool, spec);
  return spec;
}

async function outfit({ config, state, instructions, openModel, model: own }: TurnInput, agent: SubAgent | undefined): Promise<Outfit> {
  const { root } = state.workspace;
  const described = agent?.system === undefined ? config : { ...config, system: `${agent.system}\n\nWorkspace: ${root}` };
  const system = systemPrompt(described, state.workspace, instructions);
  if (agent?.model === undefined) return { system };
  const model = await openModel(agent.model);
  if (agent.untrusted === true && model.provider !== own.provider) {
    const message = `The sub-agent '${agent.name}' wants ${model.id} of ${model.provider}, and the workspace is not trusted: it stays with ${own.provider} ('parley trust' changes that)`;
    throw new ParleyError({ code: "config", message, retryable: false });
  }
  return { system, model, contextLimit: windowOf(config, model) };
}
