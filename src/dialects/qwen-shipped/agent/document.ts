/** Output in one piece: the whole conversation for `--output-format json`; for `text` with a schema, the structured value. */
import type { Op } from "../../../core/op.js";
import type { Out, Step } from "../../dialect.js";
import { isRecord } from "../../../core/values/json-object.js";
import type { AgentState } from "./state.js";

/** A run with one document writes it when its prompt is answered, or when it ends. */
export function collected(step: Step<Op>, state: AgentState): Step<Op> {
  if (state.switches.format === "lines") return step;
  const lines = step.out.flatMap((out) => ("rec" in out ? [out.rec] : []));
  if (state.switches.format === "value") return { ...step, out: step.out.flatMap((out) => ("rec" in out ? valueIn(out.rec) : [out])) };
  state.document.push(...lines);
  const isWhole = lines.some((rec) => isRecord(rec) && rec["type"] === "result");
  const rest = step.out.filter((out) => !("rec" in out));
  if (!isWhole) return { ...step, out: rest };
  return { ...step, out: [{ rec: state.document.splice(0) }, ...rest] };
}

/** Errors are on stderr and in the exit code. */
function valueIn(rec: unknown): Out[] {
  return isRecord(rec) && "structured_result" in rec ? [{ rec: rec["structured_result"] }] : [];
}
