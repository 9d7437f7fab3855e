/** Output in one piece: the result for `--output-format json`; for `text` with a schema, the structured value. */
import { isRecord } from "../../../core/values/json-object.js";
import type { Op } from "../../../core/op.js";
import type { Out, Step } from "../../dialect.js";
import type { Switches } from "../../kit/stream-json/agent/switches.js";

export function collected(step: Step<Op>, { format }: Switches): Step<Op> {
  if (format === "lines") return step;
  return { ...step, out: step.out.flatMap((out) => ("rec" in out ? resultIn(out.rec, format) : [out])) };
}

function resultIn(rec: unknown, format: "whole" | "value"): Out[] {
  if (!isRecord(rec) || rec["type"] !== "result") return [];
  if (format === "whole") return [{ rec }];
  return "structured_output" in rec ? [{ rec: rec["structured_output"] }] : [];
}
