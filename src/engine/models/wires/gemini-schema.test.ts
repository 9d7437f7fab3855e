import { GoogleGenerativeAILanguageModel } from "@ai-sdk/google/internal";
import fc from "fast-check";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { schemaProblem } from "../../../../test/support/gemini-schema-check.js";
import { geminiSchema } from "./gemini-schema.js";

describe("what Google has no field for is said in words", () => {
  test.each<[given: Record<string, unknown>, sent: Record<string, unknown>]>([
    [
      { type: "string", format: "uri", maxLength: 9, pattern: "^h" },
      { type: "string", description: '(maxLength: 9; pattern: "^h"; format: uri)' },
    ],
    [
      { type: "string", format: "date-time", minLength: 2 },
      { type: "string", format: "date-time", minLength: 2 },
    ],
    [
      { type: "integer", minimum: 1, exclusiveMaximum: 9, default: 3, description: "How many." },
      { type: "integer", description: "How many. (default: 3; minimum: 1; exclusiveMaximum: 9)" },
    ],
    [
      { type: "object", additionalProperties: { type: "number" } },
      { type: "object", description: '(additionalProperties: {"type":"number"})' },
    ],
    [{ enum: ["a", "b"] }, { type: "string", enum: ["a", "b"] }],
    [
      { type: ["string", "null"], enum: ["a", null] },
      { type: "string", nullable: true, enum: ["a"] },
    ],
    [{ const: "a" }, { type: "string", enum: ["a"] }],
    [{ const: 5 }, { type: "number", description: "(one of [5])" }],
    [{ enum: ["", "a"] }, { type: "string", description: '(one of ["","a"])' }],
    [{ enum: [1, "a"] }, { type: "number", description: '(one of [1,"a"])' }],
    [
      { type: "array", minItems: 1, items: [{ type: "string" }, { type: "number" }] },
      { type: "array", description: "(minItems: 1)", items: { anyOf: [{ type: "string" }, { type: "number" }] } },
    ],
    [
      { type: ["string", "array"], items: { type: "string" } },
      { anyOf: [{ type: "string" }, { type: "array", items: { type: "string" } }] },
    ],
    [
      { anyOf: [{ type: "string", description: "A name." }, { type: "null" }], description: "Maybe." },
      { type: "string", nullable: true, description: "Maybe. A name." },
    ],
    [{ oneOf: [{ type: "string" }, { type: "number" }] }, { anyOf: [{ type: "string" }, { type: "number" }] }],
    [
      { allOf: [{ properties: { a: { type: "string" } } }, { properties: { b: { type: "string" } }, required: ["b"] }] },
      { type: "object", properties: { a: { type: "string" }, b: { type: "string" } }, required: ["b"] },
    ],
    [
      { properties: { a: { type: "string" } }, anyOf: [{ required: ["a"] }], required: ["a", "gone"] },
      { type: "object", properties: { a: { type: "string" } }, required: ["a"], description: '(any of [{"required":["a"]}])' },
    ],
    [
      { $ref: "#/$defs/name", description: "Yours." },
      { type: "string", description: "Yours." },
    ],
    [{ $ref: "#/$defs/tree" }, { type: "object", properties: { next: { type: "object" } } }],
    [{ $ref: "https://elsewhere.example/schema" }, { type: "object" }],
    [{ $ref: "#/properties/other" }, { type: "string", description: "Another." }],
    [{ $ref: "#/$defs/a%20b~1c" }, { type: "number" }],
    [{ allOf: [{ allOf: [{ $ref: "#/$defs/name" }] }] }, { type: "string" }],
    [{ type: "string", description: null, required: true }, { type: "string" }],
  ])("%j", async (given, sent) => {
    const tree = { type: "object", properties: { next: { $ref: "#/$defs/tree" } } };
    const $defs = { name: { type: "string" }, "a b/c": { type: "number" }, tree };
    const other = { type: "string", description: "Another." };
    expect(await declared({ type: "object", properties: { it: given, other }, $defs })).toEqual({
      type: "object",
      properties: { it: sent, other },
    });
  });

  test("definitions that all use each other do not multiply without end", async () => {
    const names = Array.from({ length: 16 }, (_, at) => `kind${at}`);
    const properties = Object.fromEntries(names.map((one) => [one, { $ref: `#/$defs/${one}` }]));
    const $defs = Object.fromEntries(names.map((one) => [one, { type: "object", properties }]));
    const sent = await declared({ type: "object", properties, $defs });
    expect(schemaProblem(sent, "parameters")).toBeUndefined();
    expect(JSON.stringify(sent).length).toBeLessThan(1_000_000);
  });

  test.each([{}, { type: "object" }, { type: "object", properties: {} }, { nonsense: true }, { type: "object", properties: null }])(
    "no parameters at all: %j",
    async (given) => {
      expect(await declared(given)).toBeUndefined();
    },
  );

  test("a choice between kinds of arguments offers the properties of all", async () => {
    const kinds = [
      { type: "object", properties: { a: { type: "string" } } },
      { properties: { b: { type: "number" } }, required: ["b"] },
    ];
    expect(await declared({ oneOf: kinds })).toEqual({ type: "object", properties: { a: { type: "string" }, b: { type: "number" } } });
  });
});

const kind = fc.constantFrom("string", "number", "integer", "boolean", "object", "array", "null");
const name = fc.constantFrom("a", "b", "c");
const { schema } = fc.letrec<{ schema: unknown }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 3 },
    fc.boolean(),
    fc.constant({ $ref: "#/$defs/a" }),
    fc.record(
      {
        type: fc.oneof(kind, fc.uniqueArray(kind, { minLength: 1, maxLength: 3 })),
        description: fc.string(),
        format: fc.constantFrom("uri", "date-time", "int32", "double"),
        enum: fc.array(fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null)), { minLength: 1, maxLength: 3 }),
        const: fc.oneof(fc.string(), fc.integer()),
        minLength: fc.nat(9),
        maximum: fc.integer(),
        items: fc.oneof(tie("schema"), fc.array(tie("schema"), { maxLength: 2 })),
        properties: fc.dictionary(name, tie("schema")),
        required: fc.array(name),
        additionalProperties: tie("schema"),
        anyOf: fc.array(tie("schema"), { maxLength: 3 }),
        oneOf: fc.array(tie("schema"), { maxLength: 3 }),
        allOf: fc.array(tie("schema"), { maxLength: 3 }),
      },
      { requiredKeys: [] },
    ),
  ),
}));

test("whatever the schema is, Google takes what is sent, with every property in it", async () => {
  await fc.assert(
    fc.asyncProperty(fc.dictionary(name, schema, { minKeys: 1 }), schema, async (properties, a) => {
      const sent = await declared({ type: "object", properties, required: ["a"], $defs: { a } });
      expect(schemaProblem(sent, "parameters")).toBeUndefined();
      expect(sent).toMatchObject({ properties: Object.fromEntries(Object.keys(properties).map((key) => [key, expect.anything()])) });
    }),
    { numRuns: 300 },
  );
});

const Sent = v.pipe(
  v.string(),
  v.parseJson(),
  v.object({ tools: v.tuple([v.object({ functionDeclarations: v.tuple([v.object({ parameters: v.optional(v.unknown()) })]) })]) }),
);

/** The parameters of a tool with that schema, as the package sends them. */
async function declared(given: Record<string, unknown>): Promise<unknown> {
  let body: unknown;
  const fetch: typeof globalThis.fetch = async (_, init) => {
    body = init?.body;
    return new Response("{}", { status: 500 });
  };
  const settings = { provider: "google", baseURL: "http://g.example", headers: {}, generateId: () => "1", fetch };
  const tools = [{ type: "function" as const, name: "T", inputSchema: geminiSchema(given) }];
  const prompt = [{ role: "user" as const, content: [{ type: "text" as const, text: "hi" }] }];
  await expect(new GoogleGenerativeAILanguageModel("gemini-2.5-pro", settings).doStream({ prompt, tools })).rejects.toMatchObject({
    statusCode: 500,
  });
  return v.parse(Sent, body).tools[0].functionDeclarations[0].parameters;
}
