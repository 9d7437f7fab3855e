/** The rehearsal model's answer to one request, before it is streamed. Scripts and plain orders both make it. */
import type { Usage } from "../../../core/event.js";
import type { Finish } from "../model.js";

/** Text as it is to be streamed: a string goes out word by word, a list piece by piece, `times` the same piece again and again. */
export type Speech = string | readonly string[] | { readonly piece: string; readonly times: number };

/** `args` as a string is sent as written, for arguments that are not JSON. */
export interface WantedCall {
  readonly tool: string;
  readonly args: Record<string, unknown> | string;
  readonly id?: string;
  /** The call breaks off in its arguments. */
  readonly partial?: true;
}

/** A provider's error. Without a status it is a lost connection. `times` counts the failures after which the response succeeds. */
export interface Failure {
  readonly status?: number;
  readonly message?: string;
  readonly retryAfter?: number;
  /** The fault's code; `provider` unless given. */
  readonly code?: string;
  /** Overrides the rule that 429 and 5xx may be retried. */
  readonly retryable?: boolean;
  readonly times?: number;
}

/** Speech after speech of the same kind continues the same block, unless the first ended it. */
export type Output =
  | { readonly type: "say"; readonly speech: Speech; readonly end?: true }
  | { readonly type: "think"; readonly speech: Speech; readonly end?: true }
  | { readonly type: "call"; readonly call: WantedCall }
  | { readonly type: "wait"; readonly ms: number | "forever" }
  | { readonly type: "fail"; readonly failure: Failure }
  | { readonly type: "cut" };

export interface Response {
  readonly outputs: readonly Output[];
  /** False: the provider counts nothing. */
  readonly usage?: Usage | false;
  /** Remarks to the host about the request. */
  readonly notes?: readonly string[];
  readonly finish?: Finish;
}
