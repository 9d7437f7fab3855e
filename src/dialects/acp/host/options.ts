/** Modes, models and levels of a driven agent: its names and ours. */
import { Mode, Thinking, type SessionConfig } from "../../../core/config.js";
import * as v from "valibot";
import { choicesOf, ConfigOption, isSteerable, type SessionResult } from "../wire/sessions.js";
import type { DrivenSession, HostState } from "./state.js";

export interface Choosing {
  method: string;
  params: Record<string, unknown>;
}

/** Agents' names of our modes, in lower case and letters only. Our `default` is the mode that asks. */
const NAMES: Readonly<Record<Mode, readonly string[]>> = {
  default: ["default", "ask", "manual", "readonly", "untrusted", "suggest"],
  // Modes that also run commands unasked are not listed: without an exact match our side allows the edits.
  auto_edit: ["autoedit", "acceptedits"],
  sandboxed: ["sandboxed"],
  plan: ["plan", "architect"],
  yolo: ["yolo", "bypasspermissions", "agentfullaccess", "fullaccess", "dangerfullaccess", "allowall"],
};

function modeNamed(id: string): Mode | undefined {
  const letters = id.toLowerCase().replace(/[^a-z]/g, "");
  return Mode.options.find((mode) => NAMES[mode].includes(letters));
}

// --- choices that the agent offers ---

export function knowOptions(session: DrivenSession, { modes, configOptions }: Pick<SessionResult, "modes" | "configOptions">): void {
  if (modes != null) session.modes = modes;
  if (configOptions != null) session.options = configOptions.filter((option) => v.is(ConfigOption, option));
}

export function knowModels(session: DrivenSession, { models }: SessionResult): void {
  if (models == null) return;
  const choices = models.availableModels.map(({ modelId, name }) => ({ value: modelId, name: name ?? modelId }));
  session.models = { current: models.currentModelId, choices };
}

/** A place where the agent offers modes: its mode list, or an option for the mode or for tool approval. Some agents have several. */
interface ModeSource {
  ids: string[];
  current: string;
  choose(id: string): Choosing;
}

function modeSources({ id: sessionId, modes, options }: DrivenSession): ModeSource[] {
  const named = modes && {
    ids: modes.availableModes.map(({ id }) => id),
    current: modes.currentModeId,
    choose: (modeId: string): Choosing => ({ method: "session/set_mode", params: { sessionId, modeId } }),
  };
  const others = options.flatMap((option): ModeSource[] => {
    const isMode = option.category === "mode" || option.id === "mode";
    // Beside a mode list, the option for the mode repeats it.
    if (option.type !== "select" || (isMode ? modes !== undefined : option.category !== "tool_approval")) return [];
    const choose = (value: string): Choosing => ({
      method: "session/set_config_option",
      params: { sessionId, configId: option.id, value },
    });
    return [{ ids: choicesOf(option).map(({ value }) => value), current: option.currentValue, choose }];
  });
  return [...(named === undefined ? [] : [named]), ...others];
}

/** Plan wins if the sources name different modes. */
function currentMode(session: DrivenSession): Mode | undefined {
  const known = modeSources(session).flatMap(({ current }) => modeNamed(current) ?? []);
  return known.includes("plan") ? "plan" : known[0];
}

function optionOf(options: readonly ConfigOption[], category: string): ConfigOption | undefined {
  return options.find((option) => option.category === category) ?? options.find(({ id }) => id === category);
}

/** The session's current config in our words. */
export function configNow(session: DrivenSession): SessionConfig {
  const mode = session.answeredMode ?? currentMode(session);
  const model = optionOf(session.options, "model")?.currentValue ?? session.models?.current;
  const level = optionOf(session.options, "thought_level")?.currentValue;
  return {
    ...session.config,
    ...(mode !== undefined && { mode }),
    ...(typeof model === "string" && model !== "" && { model }),
    ...(v.is(Thinking, level) && { thinking: level }),
  };
}

export function capabilitiesOf(session: DrivenSession, { agent }: HostState): Record<string, unknown> {
  const modes = [...new Set(modeSources(session).flatMap(({ ids }) => ids.flatMap((id) => modeNamed(id) ?? [])))];
  const option = optionOf(session.options, "model");
  const models = option === undefined ? (session.models?.choices ?? []) : choicesOf(option);
  return {
    approvals: true,
    steering: isSteerable(agent),
    images: agent?.agentCapabilities?.promptCapabilities?.image === true,
    ...(modes.length > 0 && { modes }),
    ...(models.length > 0 && { models: models.map(({ value, name }) => ({ id: value, name })) }),
  };
}

// --- choosing ---

/** `choose`: requests to send. `answered`: our side plays this mode by answering permission requests. `refusal`: the reason. */
type ModeChoice = { choose: Choosing[]; answered?: Mode; warning?: string } | { refusal: string };

/** If the host names no mode and the agent's current one is unknown to us, the agent's asking mode is chosen. */
export function chooseMode(session: DrivenSession, wanted: Mode | undefined): ModeChoice {
  const sources = modeSources(session);
  const has = (mode: Mode): boolean => sources.some(({ ids }) => ids.some((id) => modeNamed(id) === mode));
  const select = (mode: Mode): Choosing[] => sources.flatMap((source) => selected(source, mode));
  if (wanted === undefined) return { choose: currentMode(session) === undefined ? select("default") : [] };
  if (has(wanted)) return { choose: select(wanted) };
  switch (wanted) {
    case "plan": {
      const ids = sources.flatMap((source) => source.ids);
      return { refusal: `has no plan mode${ids.length === 0 ? "" : ` among ${ids.join(", ")}`}` };
    }
    case "default":
      return { choose: select(wanted), warning: "has no mode that asks before it acts, and may do things unasked" };
    case "auto_edit":
    case "sandboxed":
    case "yolo":
      return { choose: select("default"), answered: wanted };
    default:
      return wanted satisfies never;
  }
}

/** The choice of a mode. Leaving plan for a mode that the source lacks takes its first mode that is not plan. */
function selected({ ids, current, choose }: ModeSource, mode: Mode): Choosing[] {
  const named = ids.find((id) => modeNamed(id) === mode);
  const next = named ?? (modeNamed(current) === "plan" && mode !== "plan" ? ids.find((id) => modeNamed(id) !== "plan") : undefined);
  return next === undefined || next === current ? [] : [choose(next)];
}

/** Finds a choice by its value, its name, or its value without the provider's name; a sentence if there is none. */
export function chooseOption(session: DrivenSession, key: "model" | "thinking" | "effort", wanted: string): Choosing | string {
  const { id: sessionId, options, models } = session;
  const option = optionOf(options, key === "model" ? "model" : "thought_level") ?? optionOf(options, key);
  const choices = option === undefined ? (key === "model" ? (models?.choices ?? []) : []) : choicesOf(option);
  const found = choices.find(({ value }) => value === wanted) ?? choices.find((choice) => isMeant(choice, wanted));
  if (found === undefined) {
    const known = choices.map(({ value }) => value);
    return `has no ${key} '${wanted}'${known.length === 0 ? "" : `; it has ${known.slice(0, 8).join(", ")}${known.length > 8 ? ", …" : ""}`}`;
  }
  if (option !== undefined) return { method: "session/set_config_option", params: { sessionId, configId: option.id, value: found.value } };
  return { method: "session/set_model", params: { sessionId, modelId: found.value } };
}

function isMeant({ value, name }: { value: string; name: string }, wanted: string): boolean {
  return name === wanted || value.endsWith(`/${wanted}`) || value.startsWith(`${wanted}[`);
}

/** Updates the session after the agent accepted a choice. */
export function chosen(session: DrivenSession, { method, params }: Choosing): void {
  const { modes, models, options } = session;
  if (method === "session/set_mode" && modes !== undefined) session.modes = { ...modes, currentModeId: String(params["modeId"]) };
  if (method === "session/set_model" && models !== undefined) session.models = { ...models, current: String(params["modelId"]) };
  if (method !== "session/set_config_option") return;
  const value = params["value"];
  session.options = options.map((option) =>
    option.id === params["configId"] && option.type === "select" && typeof value === "string" ? { ...option, currentValue: value } : option,
  );
}
