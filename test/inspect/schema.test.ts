/** `parley schema native`: every key is explained, shared shapes stand once, and what is said on the wire is valid. */
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { EVENT_WORDS } from "../../src/cli/inspect/words/events.js";
import { OP_WORDS } from "../../src/cli/inspect/words/ops.js";
import { SHAPE_WORDS } from "../../src/cli/inspect/words/shapes.js";
import { isRecord } from "../../src/core/values/json-object.js";
import { argumentCheck } from "../../src/engine/calls/argument-check.js";
import { PARLEY } from "../process/harness.js";

type Json = Record<string, unknown>;
interface Schema {
  definitions: Record<"op" | "event", { oneOf: Json[] }>;
  $defs: Record<string, Json>;
}

let schema: Schema;
let text = "";

beforeAll(() => {
  text = execFileSync(process.execPath, [PARLEY, "schema", "native"], { encoding: "utf8", maxBuffer: 2 ** 24 });
  schema = JSON.parse(text);
});

/** The nodes below this one, with their paths. */
function nodes(node: unknown, path = ""): { path: string; node: Json }[] {
  if (Array.isArray(node)) return node.flatMap((each: unknown, at) => nodes(each, `${path}/${at}`));
  if (!isRecord(node)) return [];
  return [{ path, node }, ...Object.entries(node).flatMap(([key, each]) => nodes(each, `${path}/${key}`))];
}

const isDescribed = (node: unknown): boolean =>
  isRecord(node) && (typeof node["description"] === "string" || typeof node["$ref"] === "string");

describe("every op, event and key", () => {
  test("has a description, by itself or where it refers to", () => {
    const keys = nodes(schema).flatMap(({ path, node }) =>
      isRecord(node["properties"]) ? Object.entries(node["properties"]).map(([key, value]) => ({ path: `${path}.${key}`, value })) : [],
    );
    expect(keys.length).toBeGreaterThan(400);
    expect(keys.filter(({ value }) => !isDescribed(value)).map(({ path }) => path)).toEqual([]);
    const messages = [...schema.definitions.op.oneOf, ...schema.definitions.event.oneOf, ...Object.values(schema.$defs)];
    expect(messages.filter((message) => typeof message["description"] !== "string")).toEqual([]);
  });

  test("refers to nothing that is not there", () => {
    const refs = nodes(schema).flatMap(({ node }) => (typeof node["$ref"] === "string" ? [node["$ref"]] : []));
    const at = (ref: string): unknown =>
      ref
        .split("/")
        .slice(1)
        .reduce<unknown>((node, key) => (isRecord(node) ? node[key] : undefined), schema);
    expect([...new Set(refs)].filter((ref) => !isRecord(at(ref)))).toEqual([]);
  });

  test("is the only one that its words are about", () => {
    for (const [words, side] of [
      [OP_WORDS, "op"],
      [EVENT_WORDS, "event"],
    ] as const) {
      const types = new Map(schema.definitions[side].oneOf.map((message) => [constOf(message), message]));
      const stray = Object.keys(words).filter((path) => {
        const [type = "", ...keys] = path.split("/");
        return !has(types.get(type), keys);
      });
      expect(stray).toEqual([]);
    }
    const shapes = Object.keys(SHAPE_WORDS).filter((path) => {
      const [name = "", ...keys] = path.split("/");
      // Entries of catalogues have no shape of their own.
      return name !== "Listed" && !has(schema.$defs[name === "meta" ? "Meta" : name], keys);
    });
    expect(shapes).toEqual([]);
  });
});

function constOf({ properties }: Json): string {
  return isRecord(properties) && isRecord(properties["type"]) ? String(properties["type"]["const"]) : "";
}

/** Whether the keys lead somewhere, through lists and alternatives. */
function has(node: unknown, [key, ...rest]: readonly string[]): boolean {
  if (!isRecord(node)) return false;
  if (key === undefined) return true;
  const { properties } = node;
  if (isRecord(properties) && has(properties[key], rest)) return true;
  const inner = [node["items"], node["additionalProperties"], ...["oneOf", "anyOf", "allOf"].map((word) => node[word])].flat();
  return inner.some((each: unknown) => has(each, [key, ...rest]));
}

test("a session's configuration stands once, and the whole is no longer than it was", () => {
  expect(text.match(/"fallbackModels":/g)).toHaveLength(1);
  expect(text.match(/"#\/\$defs\/SessionConfig"/g)?.length).toBeGreaterThan(3);
  expect(text.length).toBeLessThan(160_000);
});

describe("the schema", () => {
  const folder = join(import.meta.dirname, "../../src/dialects/native/vectors/ok");
  const lines = readdirSync(folder).flatMap((name) => readFileSync(join(folder, name), "utf8").trim().split("\n"));

  test("takes every op and event of the native vectors", async () => {
    const checks = {
      op: await argumentCheck({ type: "object", ...schema.definitions.op, $defs: schema.$defs }),
      event: await argumentCheck({ type: "object", ...schema.definitions.event, $defs: schema.$defs }),
    };
    const said = lines.flatMap((line) => {
      const { dir, wire }: { dir?: "op" | "event"; wire?: unknown } = JSON.parse(line);
      return (dir === "op" || dir === "event") && isRecord(wire) && wire["type"] !== "other" ? [{ dir, wire }] : [];
    });
    expect(said.length).toBeGreaterThan(50);
    expect(said.flatMap(({ dir, wire }) => checks[dir](wire) ?? [])).toEqual([]);
    expect(checks.op({ type: "shutdown", when: "later" })).toContain("when");
    expect(checks.op({ type: "session.open", session: "s", open: "new", config: { mode: "wild" } })).toBeDefined();
  });
});

test("the README of native that the package has points into no sources", () => {
  const page = readFileSync(join(import.meta.dirname, "../../src/dialects/native/README.md"), "utf8");
  expect(page).not.toMatch(/\bsrc\/|\.ts\b/);
});
