/** `--output-format json`: everything that is said, as one line. */
import type { Op } from "../../core/op.js";
import type { Step } from "../dialect.js";
import { isRecord } from "../kit/record.js";
import type { AgentState } from "./state.js";

/** A run that is one document writes it when its prompt is answered, or when it ends. */
export function collected(step: Step<Op>, state: AgentState): Step<Op> {
  if (state.switches.format !== "document") return step;
  const lines = step.out.flatMap((out) => ("rec" in out ? [out.rec] : []));
  state.document.push(...lines);
  const isWhole = lines.some((rec) => isRecord(rec) && rec["type"] === "result");
  const rest = step.out.filter((out) => !("rec" in out));
  if (!isWhole) return { ...step, out: rest };
  return { ...step, out: [{ rec: state.document.splice(0) }, ...rest] };
}
