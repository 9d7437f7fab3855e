/** Control requests of a host without an answer yet. */
import type { Fault } from "../../../../core/errors.js";
import { isRecord } from "../../../../core/values/json-object.js";
import type { Out, SideEnv } from "../../../dialect.js";
import { stringField } from "../../issues.js";
import { uuidOf } from "../uuid.js";
import { controlRequestLine } from "../write-lines.js";

/** An answer: the purpose of its request, and the data or the fault. */
export interface RequestAnswer<Purpose> {
  purpose: Purpose;
  fault: Fault | undefined;
  data: Record<string, unknown>;
}

/** `Purpose` says for what a request was written. */
export class SentRequests<Purpose> {
  readonly #env: SideEnv;
  readonly #waiting = new Map<string, Purpose>();

  constructor(env: SideEnv) {
    this.#env = env;
  }

  send(request: { subtype: string }, purpose: Purpose): Out {
    const request_id = uuidOf(this.#env.stamp().id);
    this.#waiting.set(request_id, purpose);
    return controlRequestLine(request_id, request);
  }

  get waiting(): readonly Purpose[] {
    return [...this.#waiting.values()];
  }

  /** Reads the `response` of a `control_response`; undefined if no request of ours waits for it. */
  take(response: unknown): RequestAnswer<Purpose> | undefined {
    const id = stringField(response, "request_id");
    const purpose = id === undefined ? undefined : this.#waiting.get(id);
    if (id === undefined || purpose === undefined || !isRecord(response)) return undefined;
    this.#waiting.delete(id);
    const fault = response["subtype"] === "error" ? faultIn(response["error"]) : undefined;
    return { purpose, fault, data: isRecord(response["response"]) ? response["response"] : {} };
  }
}

function faultIn(error: unknown): Fault {
  const message = typeof error === "string" ? error : (stringField(error, "message") ?? "The agent refused, and not why");
  return { code: "agent", message, retryable: false };
}
