/** A host's answer to a request for permission, in either form. */
import * as v from "valibot";
import type { Answer } from "../../../core/op.js";
import { stringField } from "../../kit/issues.js";
import { isRecord } from "../../../core/json-object.js";
import { parseJson } from "../../../core/parse-json.js";
import { PermissionAnswer, RESPONSE } from "../wire/records.js";

/** Undefined where the line is no answer; one that names its request and cannot be understood denies. */
export function readAnswer(line: unknown): Answer | undefined {
  const said = typeof line === "string" ? parseJson(line.startsWith(RESPONSE) ? line.slice(RESPONSE.length) : line)?.json : line;
  const call = stringField(said, "request_id");
  if (!isRecord(said) || call === undefined) return undefined;
  if (!v.is(PermissionAnswer, said)) return { call, decision: "deny", reason: "the answer could not be understood" };
  const { behavior, updated_input, message } = said;
  if (behavior === "allow") return { call, decision: "allow", ...(updated_input !== undefined && { args: updated_input }) };
  return { call, decision: "deny", ...(message !== undefined && { reason: message }) };
}
