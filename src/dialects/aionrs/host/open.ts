/** Opens a session of a driven agent: its process, and the settings that are sent after `ready`. */
import type { SessionConfig } from "../../../core/config.js";
import type { Event } from "../../../core/event.js";
import type { OpOf } from "../../../core/op.js";
import type { Out, Step } from "../../dialect.js";
import { openingGap } from "../../kit/covers.js";
import { refused, warning } from "../../kit/reply.js";
import { writeLaunch } from "../launch.js";
import { modeName } from "../wire/revision.js";
import { configLines, configProblem, noMode } from "./changes.js";
import type { HostState } from "./state.js";

/** Opening starts the process. A restriction that the wire lacks refuses the open. */
export function openOp(op: OpOf<"session.open">, state: HostState): Step<Event> {
  const { revision } = state;
  state.session = op.session;
  const { mode } = op.config ?? {};
  if (mode !== undefined && modeName(revision, mode) === undefined) return refused(op, noMode(mode, revision));
  const gap = openingGap(revision.name, op.config ?? {}, revision.coverage["session.open"]);
  if (gap.refusal !== undefined) return refused(op, gap.refusal);
  const wrong = configProblem(op.config ?? {}, state);
  if (wrong !== undefined) return refused(op, wrong);
  state.opener = op.id;
  state.atReady = revision.isLater ? atReady(op.config ?? {}) : mode === "auto_edit" ? { mode } : {};
  return {
    in: gap.warning === undefined ? [] : [warning(gap.warning, state.session, state.revision.id)],
    out: [{ launch: writeLaunch(op, revision) }],
  };
}

/** Servers come first: the real program takes none after any other command. */
export function linesAtReady(state: HostState): Out[] {
  return configLines(state.atReady, state);
}

/** The settings that the command line lacks. */
function atReady({ mode, thinking, thinkingBudget, effort, outputCompaction, mcpServers }: SessionConfig): SessionConfig {
  return { ...(mode === "auto_edit" && { mode }), thinking, thinkingBudget, effort, outputCompaction, mcpServers };
}
