/** /model and /mode: shown, offered, and changed as the host itself would change them. */
import { Mode } from "../../../core/config.js";
import { ParleyError, toFault } from "../../../core/errors.js";
import { ownerOfModel, PROVIDERS } from "../../../core/providers/providers.js";
import { needsSandbox } from "../../../core/modes.js";
import type { CommandContext } from "./builtins.js";
import { hintAt, message, suggestion, usageFault, withoutArguments, type Command } from "./command.js";

type Context = Pick<CommandContext, "control" | "env" | "models">;

export function modelCommand(context: Context): Command {
  const { control } = context;
  return {
    name: "model",
    description: "Shows the model, or changes it from the next turn on",
    argumentHint: "[name]",
    source: "builtin",
    immediate: withoutArguments,
    complete: async () => knownModels(context).map((name) => suggestion(name)),
    async run(args) {
      const name = args.trim();
      const current = control.model();
      if (name === "") {
        const text = `The model is ${current.id} (${current.provider})`;
        return {
          type: "dialog",
          dialog: "model",
          text,
          choices: knownModels(context).map((value) => ({ value, current: value === current.id })),
        };
      }
      const known = knownModels(context);
      try {
        // A name that no provider claims belongs to the session's provider.
        const isOpen = ownerOfModel(name) === undefined && !context.models.includes(name);
        await control.configure({ model: name, ...(isOpen && { provider: current.provider }) });
      } catch (error) {
        const fault = toFault(error);
        throw new ParleyError({ ...fault, message: `${fault.message}${hintAt(name, known)}` }, { cause: error });
      }
      const { id, provider } = control.model();
      const hint = known.includes(name) ? "" : hintAt(name, known);
      return message(`The model is ${id} (${provider}) from the next turn on${hint}`, hint === "" ? "info" : "warning");
    },
  };
}

/** The present model, the config's models, and the defaults of providers that have a key. */
function knownModels({ control, env, models }: Context): string[] {
  const defaults = Object.values(PROVIDERS).flatMap(({ keyVariable, defaultModel }) =>
    keyVariable !== undefined && env[keyVariable] && defaultModel !== undefined ? [defaultModel] : [],
  );
  return [...new Set([control.model().id, ...models, ...defaults])];
}

const MODES: Record<Mode, string> = {
  default: "asks before anything that is not read-only or allowed",
  auto_edit: "edits without asking, asks before commands",
  sandboxed: "edits and commands in the sandbox without asking, asks before other commands",
  plan: "only reads, and presents a plan",
  yolo: "never asks",
};

export function modeCommand({ control }: Pick<Context, "control">): Command {
  const offered = (): Mode[] => Mode.options.filter((mode) => control.session.workspace.sandbox !== undefined || !needsSandbox(mode));
  return {
    name: "mode",
    description: "Shows when the agent asks before it acts, or changes that",
    argumentHint: `[${offered().join(" | ")}]`,
    source: "builtin",
    immediate: withoutArguments,
    complete: async () => offered().map((mode) => suggestion(mode, MODES[mode])),
    async run(args) {
      const name = args.trim();
      const current = control.config().mode ?? "default";
      if (name === "") {
        const choices = offered().map((value) => ({ value, description: MODES[value], current: value === current }));
        return { type: "dialog", dialog: "mode", text: `The mode is ${current}: ${MODES[current]}`, choices };
      }
      const mode = Mode.options.find((option) => option === name);
      if (mode === undefined) throw usageFault(`There is no mode '${name}'${hintAt(name, Mode.options)} (${Mode.options.join(", ")})`);
      await control.configure({ mode });
      return message(`The mode is ${mode}: ${MODES[mode]}`);
    },
  };
}
