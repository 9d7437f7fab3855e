/** Client → daemon: a record becomes a known operation, or a sentence about its problem. */
import { isRecord } from "../../../core/values/json-object.js";
import * as v from "valibot";
import { echo, issuesOf, shapeOf } from "../../kit/issues.js";
import { readId } from "../wire/ids.js";
import type { Operation } from "./state.js";
import { ops, UNIT_OPS, type OpName } from "../wire/records.js";

/** The problem of an operation, with the operation's id if it can be read. */
export interface Refusal {
  problem: string;
  id?: string;
  /** Real clients give up a running turn at an Error, so a harmless problem is an Info. */
  isHarmless?: true;
}

const Envelope = v.looseObject({ op: v.optional(v.unknown()), id: v.optional(v.unknown()) });

export function readOperation(rec: unknown): Operation | Refusal {
  if (!v.is(Envelope, rec)) return { problem: `An OpMsg is an object with "op" and "id"; this is ${shapeOf(rec)}` };
  if (rec.id === undefined) return { problem: "missing field `id`" };
  if (typeof rec.id !== "string") return { problem: `id: expected a string, not ${shapeOf(rec.id)}` };
  const read = readId(rec.id);
  if ("problem" in read) return { problem: `id '${echo(rec.id)}': ${read.problem}` };
  const { id } = read;
  if (rec.op === undefined) return { problem: "missing field `op`", id };
  const tagged = readTagged(rec.op);
  if ("problem" in tagged) return { ...tagged, id };
  return (
    checked(tagged.name, tagged.payload, id) ?? { problem: `Invalid ${tagged.name}: ${issuesOf(ops[tagged.name], tagged.payload)}`, id }
  );
}

/** One case for each operation, so that each has its own type. */
function checked(name: OpName, fields: unknown, id: string): Operation | undefined {
  switch (name) {
    case "StartSession":
      return v.is(ops.StartSession, fields) ? { name, fields, id } : undefined;
    case "UpdateSession":
      return v.is(ops.UpdateSession, fields) ? { name, fields, id } : undefined;
    case "ResumeSession":
      return v.is(ops.ResumeSession, fields) ? { name, fields, id } : undefined;
    case "Steer":
      return v.is(ops.Steer, fields) ? { name, fields, id } : undefined;
    case "UserInput":
      return v.is(ops.UserInput, fields) ? { name, fields, id } : undefined;
    case "ApprovalResponse":
      return v.is(ops.ApprovalResponse, fields) ? { name, fields, id } : undefined;
    case "SlashCommand":
      return v.is(ops.SlashCommand, fields) ? { name, fields, id } : undefined;
    case "RegisterLocalProvider":
      return v.is(ops.RegisterLocalProvider, fields) ? { name, fields, id } : undefined;
    case "Interrupt":
      return v.is(ops.Interrupt, fields) ? { name, fields, id } : undefined;
    case "Shutdown":
      return v.is(ops.Shutdown, fields) ? { name, fields, id } : undefined;
    case "RestoreLocalProvider":
      return v.is(ops.RestoreLocalProvider, fields) ? { name, fields, id } : undefined;
    default:
      name satisfies never;
      return undefined;
  }
}

/** The variant: a string for one without fields, else an object with its name as the only key. */
function readTagged(op: unknown): { name: OpName; payload: unknown } | { problem: string } {
  if (typeof op === "string") {
    if (!isOpName(op)) return { problem: `unknown variant \`${echo(op)}\`; there are ${Object.keys(ops).join(", ")}` };
    return UNIT_OPS.has(op) ? { name: op, payload: null } : { problem: `${op} needs something in it: {"${op}": …}` };
  }
  if (!isRecord(op)) return { problem: `op: expected a variant, not ${shapeOf(op)}` };
  const [entry, ...more] = Object.entries(op);
  if (entry === undefined || more.length > 0) return { problem: `op: expected exactly one variant, not ${Object.keys(op).length}` };
  const [name, payload] = entry;
  return isOpName(name) ? { name, payload } : { problem: `unknown variant \`${echo(name)}\`; there are ${Object.keys(ops).join(", ")}` };
}

function isOpName(name: string): name is OpName {
  return Object.hasOwn(ops, name);
}
