/** Opens a session of a driven daemon: the process and the operations. */
import type { SessionConfig } from "../../../core/config.js";
import type { OpOf } from "../../../core/op.js";
import type { Event } from "../../../core/event.js";
import type { Covers, Out, SideEnv, Step } from "../../dialect.js";
import { openingGap } from "../../kit/covers.js";
import { coverage, SPEC } from "../coverage.js";
import { wireId } from "../wire/ids.js";
import { writeSpec, writeThinking } from "../wire/spec.js";
import type { HostState } from "./state.js";
import { refused, warning } from "../../kit/reply.js";
import { line, sentAs } from "./write-ops.js";

/** Starts a daemon for each session. */
export function openOp(op: OpOf<"session.open">, state: HostState, env: SideEnv): Step<Event> {
  const { config = {} } = op;
  state.session = op.session;
  const isNew = op.open === "new";
  const gap = openingGap("Ante", config, isNew ? coverage["session.open"] : RESUME, isNew ? [] : restrictionsOfNew(config));
  if (gap.refusal !== undefined) return refused(op, gap.refusal);
  const warnings = gap.warning === undefined ? [] : [warning(gap.warning, state.session, "ante")];
  if (!isNew && op.sessionId === "latest") return refused(op, "Ante has no word for the session last used; ask for it by its name");
  state.wantsReplay = op.after !== undefined;
  const launch: Out = { launch: { argv: ["serve", "--stdio"], env: {}, ...(config.cwd !== undefined && { cwd: config.cwd }) } };
  if (!isNew) {
    state.opener = op.id;
    state.answeredMode = config.mode;
    const resume = line("ResumeSession", { session_id: wireId("ses", op.sessionId ?? op.session) }, sentAs(op), state, env);
    return { in: warnings, out: [launch, resume, ...specLine(config, state, env)] };
  }
  const { model, provider } = config;
  if (model === undefined || provider === undefined)
    return refused(op, "Ante wants to be told a provider and a model; name both (--provider, --model)");
  state.opener = op.id;
  state.runsAll = config.mode === "yolo";
  state.answeredMode = state.runsAll ? undefined : config.mode;
  const start = line("StartSession", startFields({ ...config, model, provider }), sentAs(op), state, env);
  const { name: _name, thinking: _thinking, ...more } = writeSpec(config);
  // A model's specification has fields that StartSession lacks.
  const rest = Object.keys(more).length === 0 ? [] : specLine(config, state, env);
  return { in: warnings, out: [launch, start, ...rest] };
}

function startFields(config: SessionConfig & { model: string; provider: string }): Record<string, unknown> {
  return {
    model: config.model,
    provider: config.provider,
    policy: config.mode === "yolo" ? "yolo" : config.mode === undefined ? null : "default",
    streaming: config.streaming ?? true,
    system_prompt: config.system ?? null,
    append_system_prompt: config.appendSystem ?? null,
    allowed_tools: config.allowedTools ?? null,
    disallowed_tools: config.disallowedTools ?? null,
    cwd: config.cwd ?? null,
    thinking: config.thinking === undefined ? null : writeThinking(config.thinking),
  };
}

/** Sent without an id, as no op of ours waits for the answer. */
function specLine(config: SessionConfig, state: HostState, env: SideEnv): Out[] {
  if (config.model === undefined) return [];
  return [line("UpdateSession", { model: writeSpec(config) }, { type: "session.configure", id: undefined }, state, env)];
}

/** A resumed session keeps its own lists and mode: these keys of the host's config cannot be met. */
function restrictionsOfNew(config: SessionConfig): string[] {
  const lists = (["allowedTools", "disallowedTools"] as const).filter((key) => config[key] !== undefined);
  return [...lists, ...(config.mode === undefined || config.mode === "yolo" ? [] : [`the mode ${config.mode}`])].map(
    (what) => `${what} of a session that is resumed`,
  );
}

/** The keys that a resumed session takes: those of a change. Its own lists and mode are handled by `restrictionsOfNew`. */
const RESUME: Covers = { only: [...SPEC, "cwd", "mode", "allowedTools", "disallowedTools"] };
