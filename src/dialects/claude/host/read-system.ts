/** Agent → host, read: the lines of type `system` around a turn. */
import * as v from "valibot";
import type { Event } from "../../../core/event.js";
import { stringField } from "../../kit/issues.js";
import { systemLines } from "../wire/event-records.js";
import { modeNamed } from "../wire/names.js";
import type { HostState } from "./state.js";
import { updated } from "./surroundings.js";

/** Lines about states that our vocabulary lacks, or that it takes from other lines. */
const PASSED_OVER: ReadonlySet<string> = new Set([
  "session_state_changed",
  "thinking_tokens",
  "background_tasks_changed",
  "task_started",
  "task_updated",
  "task_progress",
  "hook_started",
  "hook_progress",
  "hook_response",
  "permission_denied",
  "files_persisted",
  "commands_changed",
]);

export function onSystem(rec: Record<string, unknown>, state: HostState): Event[] {
  const subtype = stringField(rec, "subtype") ?? "";
  if (PASSED_OVER.has(subtype)) return [];
  if (v.is(systemLines.status, rec)) return onStatus(rec, state);
  const address = state.running?.told.address ?? { session: state.session };
  if (v.is(systemLines.compact_boundary, rec)) {
    const { pre_tokens: before, post_tokens: after } = rec.compact_metadata;
    return [{ type: "compaction", session: state.session, phase: "ended", before, ...(after !== undefined && { after }) }];
  }
  if (v.is(systemLines.api_retry, rec)) {
    const { attempt, max_retries: maxAttempts, retry_delay_ms: delayMs, error_status: status } = rec;
    const data = { attempt, maxAttempts, delayMs, ...(typeof status === "number" && { status }) };
    const text = `Trying again, attempt ${attempt} of ${maxAttempts}${typeof status === "number" ? ` (${status})` : ""}`;
    return [{ type: "notice", ...address, level: "warning", text, kind: "retry", data }];
  }
  if (v.is(systemLines.informational, rec)) {
    if (rec.tag === "error")
      return [{ type: "error", session: state.session, fault: { code: "protocol", message: rec.content, retryable: false } }];
    return [
      { type: "notice", ...address, level: rec.level === "warning" ? "warning" : "info", text: rec.content, kind: rec.tag ?? subtype },
    ];
  }
  if (v.is(systemLines.task_notification, rec)) {
    const text = `Task ${rec.status}${rec.summary === undefined ? "" : `: ${rec.summary}`}`;
    return [{ type: "notice", ...address, level: "info", text, kind: "task" }];
  }
  return [{ type: "other", session: state.session, name: subtype, data: rec }];
}

function onStatus(rec: v.InferOutput<typeof systemLines.status>, state: HostState): Event[] {
  const { session } = state;
  if (rec.status === "compacting") return [{ type: "compaction", session, phase: "started" }];
  if (rec.compact_result === "failed")
    return [{ type: "compaction", session, phase: "failed", ...(rec.compact_error !== undefined && { summary: rec.compact_error }) }];
  const mode = rec.permissionMode === undefined ? undefined : modeNamed(rec.permissionMode);
  if (mode === undefined || state.sessionId === undefined) return [];
  return updated({ model: state.config.model, mode, sessionId: state.sessionId }, state).map((event) =>
    event.type === "session.updated" ? { ...event, config: { mode: state.config.mode ?? mode } } : event,
  );
}
