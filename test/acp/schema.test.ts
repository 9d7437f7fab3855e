/**
 * Our schemas are written by hand, for a quick start. This holds them to the official ones: every record that our vectors write is a record
 * of the SDK's schema, and every record that the SDK's schema asks for can be read.
 */
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { isRecord } from "../../src/core/values/json-object.js";
import { argumentCheck } from "../../src/engine/calls/argument-check.js";
import { agentRequests, clientRequests } from "../../src/dialects/acp/wire/records.js";
import { parseTurns, type Turn } from "../support/conversation.js";

const Definition = v.looseObject({ "x-method": v.optional(v.string()), "x-side": v.optional(v.string()) });
const Schema = v.looseObject({ $defs: v.record(v.string(), Definition) });

const require = createRequire(import.meta.url);
const SCHEMA = schemaIn("schema.unstable.json");
const STABLE = schemaIn("schema.json");

/** Without formats of numbers that no validator knows. */
function schemaIn(name: string): v.InferOutput<typeof Schema> {
  const text = readFileSync(require.resolve(`@agentclientprotocol/sdk/schema/v1/${name}`), "utf8");
  const plain: unknown = JSON.parse(text, (key, value: unknown) => (key === "format" && typeof value === "string" ? undefined : value));
  return v.parse(Schema, plain);
}

/** Older agents have it; the schema had it. */
const BEYOND = new Set(["session/set_model", "_session/steering"]);

type End = "Request" | "Response" | "Notification";
interface Written {
  method: string;
  end: End;
  value: unknown;
}

function definition(method: string, end: End): string | undefined {
  return Object.keys(SCHEMA.$defs).find((name) => name.endsWith(end) && SCHEMA.$defs[name]?.["x-method"] === method);
}

async function problem({ method, end, value }: Written): Promise<string | undefined> {
  const name = definition(method, end);
  if (name === undefined) return `${method} has no ${end}`;
  const check = await argumentCheck({ $schema: SCHEMA["$schema"], $defs: SCHEMA.$defs, $ref: `#/$defs/${name}` });
  return check(isRecord(value) ? value : {});
}

const folder = join(import.meta.dirname, "../../src/dialects/acp/vectors/ok");
const files = readdirSync(folder).map((name) => [name, parseTurns(readFileSync(join(folder, name), "utf8"))] as const);

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : value === undefined ? [] : [value];
}

/** Everything that our side wrote, with the method that an answer answers. */
function written(turns: readonly Turn[]): Written[] {
  const asked = new Map<unknown, string>();
  return turns.flatMap((turn) => {
    const reads = (turn.side === "agent") === (turn.dir === "op");
    for (const theirs of reads ? list(turn.wire) : [])
      if (isRecord(theirs) && typeof theirs["method"] === "string") asked.set(theirs["id"], theirs["method"]);
    return [...(reads ? [] : list(turn.wire)), ...list(turn.answers)].flatMap((rec): Written[] => {
      if (!isRecord(rec)) return [];
      const method = rec["method"];
      if (typeof method === "string") return [{ method, end: "id" in rec ? "Request" : "Notification", value: rec["params"] }];
      return "result" in rec ? [{ method: asked.get(rec["id"]) ?? "", end: "Response", value: rec["result"] }] : [];
    });
  });
}

describe.each(files)("%s", (_name, turns) => {
  test("what our side writes is what the official schema has", async () => {
    const known = written(turns).filter(({ method }) => !BEYOND.has(method));
    expect(known.length).toBeGreaterThan(0);
    // What a driven agent of a later revision says is passed on as it said it.
    const ours = known.filter(({ value }) => !JSON.stringify(value ?? null).includes('"later"'));
    const checked = await Promise.all(ours.map(async (one) => ({ ...one, problem: await problem(one) })));
    expect(checked.filter((one) => one.problem !== undefined)).toEqual([]);
  });
});

test("every stable method of the official schema has its place", () => {
  const methods = (side: string): string[] => [
    ...new Set(
      Object.entries(STABLE.$defs).flatMap(([name, one]) =>
        one["x-side"] === side && name.endsWith("Request") ? [one["x-method"] ?? ""] : [],
      ),
    ),
  ];
  expect(methods("agent").filter((method) => !(method in clientRequests))).toEqual([]);
  expect(methods("client").filter((method) => !(method in agentRequests))).toEqual([]);
});
