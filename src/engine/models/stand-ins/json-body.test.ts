import fc from "fast-check";
import { expect, test } from "vitest";
import { bodyText } from "./json-body.js";

test("is what JSON.stringify makes of it, whatever it is", () => {
  const body = fc.oneof(
    fc.jsonValue(),
    fc.record({ model: fc.string(), tools: fc.array(fc.jsonValue()), stream: fc.boolean() }, { requiredKeys: [] }),
    fc.dictionary(fc.string(), fc.oneof(fc.jsonValue(), fc.constant(undefined))),
  );
  fc.assert(
    fc.property(body, (value) => {
      expect(bodyText(value)).toBe(JSON.stringify(value));
    }),
  );
});

const wrappings = [
  (name: string, description: string, schema: object) => ({ type: "function", function: { name, description, parameters: schema } }),
  (name: string, description: string, schema: object) => ({ type: "function", name, description, parameters: schema, strict: undefined }),
  (name: string, description: string, schema: object) => ({
    name,
    description,
    input_schema: schema,
    cache_control: { type: "ephemeral" },
  }),
];

test.each(wrappings)("tools are told as they are now, in each shape (%#)", (wrap) => {
  const schemas = Array.from({ length: 3 }, (_, at) => ({ type: "object", properties: { [`p${at}`]: { type: "string" } } }));
  const tool = fc.tuple(fc.constantFrom("Read", "Write"), fc.constantFrom("one", "another"), fc.nat(2), fc.boolean());
  const request = fc.array(tool, { maxLength: 5 });
  fc.assert(
    fc.property(fc.array(request, { maxLength: 6 }), (requests) => {
      for (const tools of requests) {
        const body = {
          model: "m",
          tools: tools.map(([name, description, at, isMarked]) => ({
            ...wrap(name, description, schemas[at] ?? {}),
            ...(isMarked && { mark: { type: "x" } }),
          })),
          stream: true,
        };
        expect(bodyText(body)).toBe(JSON.stringify(body));
      }
    }),
  );
});
