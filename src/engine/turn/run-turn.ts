/** The work of one turn, from its prompt to the way that it ended. Loaded with the first turn, tools and all. */
import { textPart, type Part } from "../../core/content.js";
import { ParleyError, toFault } from "../../core/errors.js";
import type { EventOf } from "../../core/event.js";
import { MAX_TURNS } from "../../core/limits.js";
import { digest } from "../../os/digest.js";
import type { ToolSpec } from "../models/model.js";
import type { Tool } from "../tools/tool.js";
import { loadAttachments, withoutFiles } from "./attachments/attachments.js";
import { Budget } from "./budget.js";
import { mayAsk } from "./cost-limit.js";
import { Interrupted, untilAborted } from "./interrupt.js";
import { runLoop, type LoopEnd } from "./loop.js";
import { systemPrompt } from "./system-prompt.js";
import type { Turn } from "./turn.js";

export { toolbox, toolNames } from "./toolbox.js";
export { tellUnknownOfPrompt, tellUnknownOfSession } from "../permissions/unknown-tools.js";

export type TurnEnd = Omit<EventOf<"turn.ended">, "type">;

/** Never throws: what goes wrong is how the turn ended. */
export async function runTurn(turn: Turn): Promise<TurnEnd> {
  const withUsage = () => (turn.used.total === undefined ? {} : { usage: turn.used.total });
  try {
    if (bringsMessage(turn)) {
      const parts = await attached(turn);
      turn.history.push({ role: "user", parts: [...parts, ...news(turn).map(textPart)] });
    }
    await equip(turn);
    const { finish } = await runToStop(turn);
    return { outcome: "completed", finish, ...withUsage() };
  } catch (error) {
    const { signal } = turn;
    // Aborted with a fault: a limit ended the turn, and not the user.
    const limit: unknown = signal.aborted && signal.reason instanceof ParleyError ? signal.reason : undefined;
    if (limit === undefined && (error instanceof Interrupted || signal.aborted)) return { outcome: "interrupted", ...withUsage() };
    const fault = toFault(limit ?? error);
    await turn.emit({ type: "error", fault });
    return { outcome: "failed", reason: fault.message, fault, ...withUsage() };
  }
}

/** The agent's own words behind the user's: instructions that changed, and commands in the background that ended. */
function news({ history, instructions, shell }: Turn): string[] {
  return [...history.briefing.changes(instructions), ...shell.commands.endings()];
}

/** A prompt that continues has no message; nor has one that brings calls alone. */
function bringsMessage({ prompt, calls }: Turn): boolean {
  return prompt.continues !== true && (prompt.parts.length > 0 || calls.length === 0);
}

/** How often hooks may keep a turn from ending. */
const MOST_STOPS = 3;

/** A hook that blocks the end has the last word said to the model, and the loop goes on. */
async function runToStop(turn: Turn): Promise<LoopEnd> {
  let end = await runLoop(turn, turn.calls);
  for (let blocked = 0; blocked < MOST_STOPS && mayAsk(turn); blocked++) {
    const reason = await turn.hooks?.atStop(end.text, turn);
    if (turn.signal.aborted) throw new Interrupted();
    if (reason === undefined) break;
    await turn.emit({ type: "notice", level: "info", kind: "hook", text: `A stop hook lets the turn go on: ${reason}` });
    turn.history.push({ role: "user", kind: "note", parts: [textPart(reason)] });
    end = await runLoop(turn);
  }
  return end;
}

/**
 * The prompt with its files and the hooks' words. Interrupted on the way, the prompt is in the history without its files; blocked, it is
 * not.
 */
async function attached(turn: Turn): Promise<Part[]> {
  const { signal, prompt, session } = turn;
  const hooks = turn.hooks?.any === true ? turn.hooks : undefined;
  if (hooks === undefined && prompt.mentions !== true && withoutFiles(prompt.parts).length === prompt.parts.length) return prompt.parts;
  try {
    const context = hooks === undefined ? "" : await untilAborted(signal, hooks.beforePrompt(prompt.parts, turn));
    const mentioned = prompt.mentions === true ? session.extensions.mentioned(prompt, turn.emit, signal) : [];
    const parts = (await untilAborted(signal, Promise.all([loadAttachments(prompt.parts, turn), mentioned]))).flat();
    return context === "" ? parts : [...parts, textPart(context)];
  } catch (error) {
    if (error instanceof ParleyError && error.fault.code === "hook") throw error;
    turn.history.push({ role: "user", parts: withoutFiles(prompt.parts) });
    throw error;
  }
}

/** Gives the turn its request and its budget; tools and hooks are there already. */
async function equip(turn: Turn): Promise<void> {
  const { config, hooks, session } = turn;
  const tools: ToolSpec[] = [];
  for (const tool of turn.tools.values()) tools.push(specs.get(tool) ?? (await specOf(tool)));
  const limit = config.maxTurns ?? MAX_TURNS;
  if (limit < 1)
    throw new ParleyError({ code: "config", message: `maxTurns is ${limit}; a turn needs at least one model call`, retryable: false });
  turn.budget = new Budget(limit, config.maxToolCalls);
  const opening = hooks?.any !== true ? "" : await untilAborted(turn.signal, hooks.opened());
  const instructions = turn.history.briefing.opening(turn.instructions);
  const ofHooks = opening === "" ? [] : [{ source: "the words of hooks", text: opening }];
  turn.request = {
    system: await systemPrompt(session, config, { ...turn, instructions: [...instructions, ...ofHooks] }),
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
    cacheKey: digest(session.sessionId ?? session.handle, 32),
  };
}

/** A tool is told to the model in the same words for as long as it is the same. */
const specs = new WeakMap<Tool, ToolSpec>();

async function specOf(tool: Tool): Promise<ToolSpec> {
  const spec = { name: tool.name, description: tool.description, parameters: await tool.parameters() };
  specs.set(tool, spec);
  return spec;
}
