/** What a session is set to: its configuration, its model, and what its calls may do because of them. */
import type { McpServer, Mode, SessionConfig } from "../../core/config.js";
import { ParleyError } from "../../core/errors.js";
import { ANSWER_SECONDS, NESTING } from "../../core/limits.js";
import { UNASKED } from "../permissions/permissions.js";
import type { ExtensionSources } from "../extensions/extensions.js";
import type { OwnProviders } from "../../core/choose-provider.js";
import type { Model } from "../models/model.js";
import { boundedBy, type Bounds } from "./configured-bounds.js";
import { namesOf, withModel } from "./open.js";
import type { Rules } from "../permissions/rules.js";
import { checkLimits } from "./limits.js";
import type { SessionState } from "./state.js";
import { hasPattern } from "../permissions/tool-lists.js";
import { refuseUnsupported } from "./unsupported.js";

interface SettingsDeps {
  config: SessionConfig;
  model: Model;
  fallbacks: readonly Model[];
  openModel(config: SessionConfig): Promise<Model>;
  /** The config's own: whose models are whose. */
  providers: OwnProviders;
  /** What the config forbids, whatever a host says. */
  bounds: Bounds;
  extensions?: ExtensionSources | undefined;
  /** What is given to these servers is redacted from now on. */
  learnSecrets(servers: Readonly<Record<string, McpServer>>): void;
}

export class SessionSettings {
  config: SessionConfig;
  model: Model;
  fallbacks: readonly Model[];
  readonly #deps: SettingsDeps;
  readonly #state: SessionState;
  readonly #onChange: (config: SessionConfig) => Promise<void>;
  #changes: Promise<void> = Promise.resolve();

  constructor(deps: SettingsDeps, state: SessionState, onChange: (config: SessionConfig) => Promise<void>) {
    const { config, model, fallbacks } = deps;
    this.config = { ...config, provider: model.provider, model: model.id };
    this.model = model;
    this.fallbacks = fallbacks;
    this.#deps = deps;
    this.#state = state;
    this.#onChange = onChange;
  }

  /** One after the other: a change that is still opening its model must not undo one that came in the meantime. */
  change(patch: SessionConfig): Promise<void> {
    const change = this.#changes.then(() => this.#apply(patch));
    this.#changes = change.catch(() => {});
    return change;
  }

  /** From within a turn, which must not wait for what waits behind it. */
  setMode(mode: Mode): void {
    this.config = { ...this.config, mode };
    this.#state.permissions.mode = mode;
    void this.#onChange(this.config);
  }

  /** The mode counts from the next call on, the rest from the next turn on. Nothing changes when a part of it is wrong. */
  async #apply(patch: SessionConfig): Promise<void> {
    if (patch.maxTurns !== undefined && patch.maxTurns < 1) throw wrong("A turn needs at least one model call", "maxTurns");
    if (patch.cwd !== undefined && patch.cwd !== this.config.cwd)
      throw wrong("The folder of a session cannot change; open another session", "cwd");
    if (patch.directories !== undefined && patch.directories.join("\0") !== (this.config.directories ?? []).join("\0"))
      throw wrong("The folders of a session cannot change; open another session", "directories");
    this.#deps.learnSecrets(patch.mcpServers ?? {});
    const { provider: _provider, model: _model, ...rest } = { ...this.config, ...patch, ...boundedBy(this.#deps.bounds, patch) };
    const next: SessionConfig = { ...rest, ...namesOf(patch, this.config, this.#deps.providers) };
    refuseUnsupported(next, this.#deps.extensions !== undefined);
    checkLimits(patch);
    const reopened = patch.model !== undefined || patch.provider !== undefined ? await this.#deps.openModel(next) : this.model;
    settleEffort(next, patch, reopened);
    const fallbacks = patch.fallbackModels === undefined ? this.fallbacks : await openFallbacks(next, this.#deps);
    const rules = await rulesOf(next);
    // A plan that was approved meanwhile has changed the mode.
    if (patch.mode === undefined) next.mode = this.config.mode;
    this.model = reopened;
    this.config = { ...next, provider: reopened.provider, model: reopened.id };
    const { permissions } = this.#state;
    permissions.rules = rules;
    permissions.mode = next.mode ?? "default";
    permissions.approveTools = next.approveTools ?? UNASKED;
    this.fallbacks = fallbacks;
    this.#state.nesting = next.nesting ?? NESTING;
    this.#state.answerSeconds = next.answerSeconds ?? ANSWER_SECONDS;
    await this.#onChange(this.config);
  }
}

/** Opened with the session, so that one that is not there is told then. */
export function openFallbacks(
  config: SessionConfig,
  { openModel, providers }: Pick<SettingsDeps, "openModel" | "providers">,
): Promise<Model[]> {
  return Promise.all((config.fallbackModels ?? []).map((name) => openModel(withModel(config, name, providers))));
}

const NO_RULES: Rules = { judge: () => Promise.resolve({ decision: "none" }), hiding: () => undefined };

/** Most sessions have no rules and no lists of tools, and then their machinery is not loaded. */
export async function rulesOf(config: SessionConfig): Promise<Rules> {
  const { rules = [], allowedTools = [], disallowedTools = [], approveTools = [] } = config;
  if (rules.length + allowedTools.length + disallowedTools.length === 0 && !approveTools.some(hasPattern)) return NO_RULES;
  const { compileLimits } = await import("../permissions/tool-limits.js");
  return compileLimits(config);
}

/** An empty effort is none. One that was meant for another model goes with it; one that is asked for must be there. */
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
