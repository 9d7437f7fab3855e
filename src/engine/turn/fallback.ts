/** Another model in the place of one whose server cannot answer now. */
import { ParleyError } from "../../core/errors.js";
import { windowOf } from "./compaction.js";
import type { Run } from "./run.js";

/** The run goes on with its next model, if there is one and the failure is of the kind that another server may not have. */
export async function fallBack(run: Run, error: unknown): Promise<boolean> {
  if (!(error instanceof ParleyError) || error.fault.retryable !== true) return false;
  const { fault } = error;
  const index = run.fallenBack;
  const next = run.fallbacks[index];
  if (next === undefined) return false;
  const from = run.model.id;
  run.fallenBack++;
  run.model = next;
  run.contextLimit = windowOf({ contextLimit: run.wantedWindow }, next);
  await run.emit({
    type: "notice",
    level: "warning",
    kind: "model_fallback",
    text: `${from} cannot answer now (${fault.message}); ${next.id} answers in its place for the rest of the turn`,
    data: { from, to: next.id, index, ...(fault.status !== undefined && { status: fault.status }) },
  });
  return true;
}
