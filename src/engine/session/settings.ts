/** The settings of a session: its config, its model, and the permissions that follow from them. */
import type { Mode, SessionConfig } from "../../core/config.js";
import { ParleyError } from "../../core/errors.js";
import { UNASKED } from "../permissions/permissions.js";
import type { Model } from "../models/model.js";
import { boundedBy } from "./configured-bounds.js";
import { namesOf, withModel } from "./open.js";
import type { Rules } from "../permissions/rules.js";
import { checkLimits, refuseUnsupported } from "./check-config.js";
import type { EngineServices, SessionServices } from "./services.js";
import { hasPattern } from "../permissions/tool-lists.js";

export interface OpenedSettings {
  config: SessionConfig;
  model: Model;
  fallbacks: readonly Model[];
}

export class SessionSettings {
  config: SessionConfig;
  model: Model;
  fallbacks: readonly Model[];
  readonly #session: SessionServices;
  #changes: Promise<void> = Promise.resolve();

  constructor(session: SessionServices, { config, model, fallbacks }: OpenedSettings) {
    this.#session = session;
    this.config = { ...config, provider: model.provider, model: model.id };
    this.model = model;
    this.fallbacks = fallbacks;
  }

  /** Opens another model than the session's, for a sub-agent. */
  openNamed(config: SessionConfig, name: string): Promise<Model> {
    const { openModel, providers } = this.#session.engine;
    return openModel(withModel(config, name, providers));
  }

  /** Applies changes one after another: a slow change must not undo a later one. */
  change(patch: SessionConfig): Promise<void> {
    const change = this.#changes.then(() => this.#apply(patch));
    this.#changes = change.catch(() => {});
    return change;
  }

  /** Sets the mode within a turn, ahead of changes that wait for the turn's end. */
  setMode(mode: Mode): void {
    this.config = { ...this.config, mode };
    this.#session.permissions.mode = mode;
    void this.#session.extensions.configure(this.config);
  }

  /** The mode takes effect with the next call, the rest with the next turn. An invalid part rejects the whole change. */
  async #apply(patch: SessionConfig): Promise<void> {
    const { engine, permissions, extensions } = this.#session;
    if (patch.maxTurns !== undefined && patch.maxTurns < 1) throw wrong("A turn needs at least one model call", "maxTurns");
    if (patch.cwd !== undefined && patch.cwd !== this.config.cwd)
      throw wrong("The folder of a session cannot change; open another session", "cwd");
    if (patch.directories !== undefined && patch.directories.join("\0") !== (this.config.directories ?? []).join("\0"))
      throw wrong("The folders of a session cannot change; open another session", "directories");
    for (const key of ["agent", "labels"] as const)
      if (patch[key] !== undefined) throw wrong(`The ${key} of a session cannot change; open another session`, key);
    engine.learnSecrets(patch.mcpServers ?? {});
    const { provider: _provider, model: _model, ...rest } = { ...this.config, ...patch, ...boundedBy(engine.bounds, patch) };
    const next: SessionConfig = { ...rest, ...namesOf(patch, this.config, engine.providers) };
    refuseUnsupported(next, { hub: engine.hub, extensions: engine.extensions !== undefined });
    checkLimits(patch);
    const reopened = patch.model !== undefined || patch.provider !== undefined ? await engine.openModel(next) : this.model;
    settleEffort(next, patch, reopened);
    const fallbacks = patch.fallbackModels === undefined ? this.fallbacks : await openFallbacks(next, engine);
    const rules = await rulesOf(next);
    // A plan that was approved meanwhile has changed the mode.
    if (patch.mode === undefined) next.mode = this.config.mode;
    this.model = reopened;
    this.config = { ...next, provider: reopened.provider, model: reopened.id };
    permissions.rules = rules;
    permissions.mode = next.mode ?? "default";
    permissions.approveTools = next.approveTools ?? UNASKED;
    this.fallbacks = fallbacks;
    await extensions.configure(this.config);
  }
}

/** Opens the fallback models with the session, so that a missing one is reported then. */
export function openFallbacks(
  config: SessionConfig,
  { openModel, providers }: Pick<EngineServices, "openModel" | "providers">,
): Promise<Model[]> {
  return Promise.all((config.fallbackModels ?? []).map((name) => openModel(withModel(config, name, providers))));
}

const NO_RULES: Rules = { judge: () => Promise.resolve({ decision: "none" }), hiding: () => undefined };

/** Most sessions have no rules and no lists of tools, and do not load this code. */
export async function rulesOf(config: SessionConfig): Promise<Rules> {
  const { rules = [], allowedTools = [], disallowedTools = [], approveTools = [] } = config;
  if (rules.length + allowedTools.length + disallowedTools.length === 0 && !approveTools.some(hasPattern)) return NO_RULES;
  const { compileLimits } = await import("../permissions/tool-limits.js");
  return compileLimits(config);
}

/** An empty effort is none. The effort of the old model ends with it; a requested effort must exist. */
function settleEffort(next: SessionConfig, patch: SessionConfig, { id, efforts }: Model): void {
  if (next.effort === "") delete next.effort;
  if (next.effort === undefined || efforts?.includes(next.effort) === true) return;
  if (patch.effort !== undefined) {
    const known = efforts === undefined ? "it takes none" : `there are ${efforts.join(", ")}`;
    throw wrong(`There is no effort '${next.effort}' for ${id}; ${known}`, "effort");
  }
  delete next.effort;
}

function wrong(message: string, param: string): ParleyError {
  return new ParleyError({ code: "config", message, retryable: false, param });
}
