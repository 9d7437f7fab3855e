/** Modes and options of a session, as the client lets its user choose them. */
import { Mode, Thinking, type SessionConfig } from "../../../core/config.js";
import { needsSandbox } from "../../../core/modes.js";
import type { ConfigOption, ModeState } from "../wire/sessions.js";
import type { ClientSession } from "./state.js";
import * as v from "valibot";

const MODES: Readonly<Record<Mode, { name: string; description: string }>> = {
  default: { name: "Default", description: "Asks before it changes files or runs commands" },
  auto_edit: { name: "Auto edit", description: "Edits files of the workspace unasked, asks before it runs commands" },
  sandboxed: { name: "Sandboxed", description: "Edits files of the workspace and runs commands in the sandbox unasked" },
  plan: { name: "Plan", description: "Reads and plans; changes nothing" },
  yolo: { name: "Yolo", description: "Runs everything unasked, but for what its rules and its own home protect" },
};

export function modesOf({ config, capabilities }: ClientSession): ModeState {
  const offered = capabilities["modes"];
  const isOffered = (mode: Mode): boolean =>
    (Array.isArray(offered) ? offered.includes(mode) : !needsSandbox(mode)) || mode === currentMode(config);
  return {
    currentModeId: currentMode(config),
    availableModes: Mode.options.filter(isOffered).map((id) => ({ id, ...MODES[id] })),
  };
}

function currentMode({ mode = "default" }: SessionConfig): Mode {
  return mode;
}

const Models = v.array(v.union([v.string(), v.looseObject({ id: v.string(), name: v.optional(v.string()) })]));

export function optionsOf(session: ClientSession): ConfigOption[] {
  const { config, capabilities } = session;
  const { currentModeId, availableModes } = modesOf(session);
  const modes: ConfigOption = {
    id: "mode",
    name: "Mode",
    category: "mode",
    type: "select",
    currentValue: currentModeId,
    options: availableModes.map(({ id, ...words }) => ({ value: id, ...words })),
  };
  const efforts = capabilities["efforts"];
  return [
    modes,
    ...(config.model === undefined ? [] : [models(config.model, capabilities["models"])]),
    ...(capabilities["thinking"] === true ? [select("thinking", "Thinking", config.thinking ?? "disabled", Thinking.options)] : []),
    ...(v.is(v.array(v.string()), efforts) && efforts.length > 0
      ? [select("effort", "Effort", config.effort ?? efforts[0] ?? "", efforts)]
      : []),
  ];
}

function models(current: string, listed: unknown): ConfigOption {
  const known = v.is(Models, listed) ? listed.map((model) => (typeof model === "string" ? { id: model } : model)) : [];
  const all = known.some(({ id }) => id === current) ? known : [{ id: current }, ...known];
  return {
    id: "model",
    name: "Model",
    category: "model",
    type: "select",
    currentValue: current,
    options: all.map(({ id, name = id }) => ({ value: id, name })),
  };
}

function select(id: string, name: string, currentValue: string, values: readonly string[]): ConfigOption {
  const options = values.map((value) => ({ value, name: value.charAt(0).toUpperCase() + value.slice(1) }));
  return { id, name, category: "thought_level", type: "select", currentValue, options };
}

/** The change of the config that a chosen value stands for; a sentence if the option or the value does not exist. */
export function patchOf(configId: string, value: string | boolean): SessionConfig | string {
  if (typeof value !== "string") return `The option '${configId}' takes one of its values, not true or false`;
  switch (configId) {
    case "mode":
      return v.is(Mode, value) ? { mode: value } : `There is no mode '${value}'; there are ${Mode.options.join(", ")}`;
    case "model":
      return value.trim() === "" ? "A model has a name" : { model: value };
    case "thinking":
      return v.is(Thinking, value) ? { thinking: value } : `There is no level '${value}'; there are ${Thinking.options.join(", ")}`;
    case "effort":
      return { effort: value };
    default:
      return `There is no option '${configId}'; there are mode, model, thinking and effort`;
  }
}

/** The same for an option, which the session must have. */
export function choiceOf(session: ClientSession, configId: string, value: string | boolean): SessionConfig | string {
  const patch = patchOf(configId, value);
  if (typeof patch === "string") return patch;
  const offered = optionsOf(session).map(({ id }) => id);
  return offered.includes(configId) ? patch : `This session has no option '${configId}'; it has ${offered.join(", ")}`;
}
