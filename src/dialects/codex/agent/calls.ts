/** Client → server, read: sorts a line into request, notification, answer or invalid record. */
import * as v from "valibot";
import { echo, issuesOf, shapeOf } from "../../kit/issues.js";
import { Answered, Called, Refused, requests, type Method, type ParamsOf, type RequestId } from "../wire/requests.js";

export type RequestOf<M extends Method> = { is: "request"; id: RequestId; method: M; params: ParamsOf<M> };
export type AnyRequest = { [M in Method]: RequestOf<M> }[Method];

export type Call =
  | AnyRequest
  | { is: "notification" }
  | { is: "answer"; id: RequestId; answer: { result: unknown } | { error: { message: string } } }
  | { is: "bad"; id: RequestId | null; message: string };

export function readCall(rec: unknown): Call {
  if (!v.is(Called, rec)) return readAnswer(rec);
  const { id, method, params } = rec;
  if (id === undefined) return method === "initialized" ? { is: "notification" } : unknown(null, method);
  if (!isMethod(method)) return unknown(id, method);
  return (
    parsed(id, method, params ?? {}) ?? { is: "bad", id, message: `Invalid request: ${method}: ${issuesOf(requests[method], params)}` }
  );
}

function isMethod(method: string): method is Method {
  return Object.hasOwn(requests, method);
}

function unknown(id: RequestId | null, method: string): Call {
  return {
    is: "bad",
    id,
    message: `Invalid request: unknown variant \`${echo(method)}\`, expected one of ${Object.keys(requests)
      .map((name) => `\`${name}\``)
      .join(", ")}`,
  };
}

function readAnswer(rec: unknown): Call {
  if (v.is(Answered, rec) && "result" in rec) return { is: "answer", id: rec.id, answer: { result: rec.result } };
  if (v.is(Refused, rec) && rec.id !== null) return { is: "answer", id: rec.id, answer: { error: rec.error } };
  return { is: "bad", id: null, message: `Invalid request: this is ${shapeOf(rec)} and neither a request nor an answer` };
}

/** One case for each method, so that its parameters have their own type. */
function parsed(id: RequestId, method: Method, params: unknown): AnyRequest | undefined {
  const head = { is: "request", id } as const;
  switch (method) {
    case "initialize":
      return v.is(requests.initialize, params) ? { ...head, method, params } : undefined;
    case "thread/start":
      return v.is(requests["thread/start"], params) ? { ...head, method, params } : undefined;
    case "thread/resume":
      return v.is(requests["thread/resume"], params) ? { ...head, method, params } : undefined;
    case "thread/fork":
      return v.is(requests["thread/fork"], params) ? { ...head, method, params } : undefined;
    case "thread/list":
      return v.is(requests["thread/list"], params) ? { ...head, method, params } : undefined;
    case "thread/read":
      return v.is(requests["thread/read"], params) ? { ...head, method, params } : undefined;
    case "thread/turns/list":
    case "thread/unsubscribe":
    case "thread/compact/start":
    case "thread/archive":
    case "thread/unarchive":
    case "thread/delete":
      return v.is(requests["thread/turns/list"], params) ? { ...head, method, params } : undefined;
    case "thread/name/set":
      return v.is(requests["thread/name/set"], params) ? { ...head, method, params } : undefined;
    case "thread/revert":
      return v.is(requests["thread/revert"], params) ? { ...head, method, params } : undefined;
    case "thread/inject_items":
      return v.is(requests["thread/inject_items"], params) ? { ...head, method, params } : undefined;
    case "thread/settings/update":
      return v.is(requests["thread/settings/update"], params) ? { ...head, method, params } : undefined;
    case "turn/start":
      return v.is(requests["turn/start"], params) ? { ...head, method, params } : undefined;
    case "turn/steer":
      return v.is(requests["turn/steer"], params) ? { ...head, method, params } : undefined;
    case "turn/interrupt":
      return v.is(requests["turn/interrupt"], params) ? { ...head, method, params } : undefined;
    case "thread/loaded/list":
    case "model/list":
    case "account/read":
    case "mcpServerStatus/list":
    case "skills/list":
      return v.is(requests["model/list"], params) ? { ...head, method, params } : undefined;
    default:
      method satisfies never;
      return undefined;
  }
}
