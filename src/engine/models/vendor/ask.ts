/** The wire's settings of a request, and fewer of them if the vendor refuses one that is not essential. */
import type { LanguageModelV3, LanguageModelV3CallOptions } from "@ai-sdk/provider";
import { messageOf } from "../../../core/errors.js";
import type { ModelFacts } from "../facts.js";
import type { ModelRequest } from "../model.js";
import type { WireSettings } from "../wires/wire.js";
import { beginsWithoutThinking, type Target } from "./prompt.js";
import type { Loaded, VendorModel } from "./vendor.js";

/** Claude with a budget refuses a turn that begins with a call, as another model or an interrupt may leave it. */
export function settingsFor(model: string, request: ModelRequest, facts: ModelFacts, target: Target): WireSettings {
  const { wire } = target;
  const settings = wire.settings(model, request, facts);
  if (wire.wantsThinkingFirst?.(settings) !== true || !beginsWithoutThinking(request.messages, target)) return settings;
  const { thinkingBudget: _, ...rest } = request;
  return wire.settings(model, { ...rest, thinking: "disabled" }, facts);
}

/** The refusals of settings by a model's server: it does not get that setting again. */
const refusals = new WeakMap<VendorModel, string>();

export async function askWith(
  { model, wire }: Loaded,
  vendor: VendorModel,
  settings: WireSettings,
  options: (settings: WireSettings) => LanguageModelV3CallOptions,
): Promise<Awaited<ReturnType<LanguageModelV3["doStream"]>>> {
  const refusal = refusals.get(vendor);
  if (refusal !== undefined) return model.doStream(options(wire.withoutRefused?.(settings, refusal) ?? settings));
  try {
    return await model.doStream(options(settings));
  } catch (error) {
    const fewer = wire.withoutRefused?.(settings, messageOf(error));
    if (fewer === undefined) throw error;
    refusals.set(vendor, messageOf(error));
    return model.doStream(options(fewer));
  }
}
