/** Schemas as hosts and MCP servers write them, on every wire: none of them may have a request refused, and none may lose its arguments. */
import { describe, expect, test } from "vitest";
import { talk, VENDORS } from "./harness.js";

const name = { type: "string" };
const SCHEMAS: Record<string, Record<string, unknown>> = {
  none: {},
  "no properties": { type: "object" },
  "a choice at the top": {
    type: "object",
    oneOf: [
      { properties: { path: name }, required: ["path"] },
      { properties: { url: name }, required: ["url"] },
    ],
  },
  "parts at the top": { allOf: [{ $ref: "#/$defs/base" }, { properties: { url: name } }], $defs: { base: { properties: { path: name } } } },
  "a reference at the top": {
    $ref: "#/definitions/whole",
    definitions: { whole: { type: "object", properties: { path: name, url: name } } },
  },
  "references further down": {
    type: "object",
    properties: { path: { $ref: "#/$defs/node" }, url: { $ref: "#/properties/path" } },
    $defs: { node: { type: "object", properties: { next: { $ref: "#/$defs/node" } } } },
  },
  "kinds and nothing": { type: "object", properties: { path: { type: ["string", "null"] }, url: { anyOf: [name, { type: "null" }] } } },
  "many values": {
    type: "object",
    properties: { path: { enum: Array.from({ length: 5000 }, (_, at) => `v${at}`) }, url: { enum: [1, null] } },
  },
  "what is wrong at the top": { type: "object", properties: { path: name, url: name }, required: true },
};

describe.each(Object.values(VENDORS))("$name", (vendor) => {
  test.each(Object.keys(SCHEMAS))("%s", async (kind) => {
    const parameters = SCHEMAS[kind] ?? {};
    const host = await talk(vendor, [{ text: ["ok"] }], {
      config: { hostTools: [{ name: "Fetch", parameters }], allowedTools: ["Fetch"] },
    });
    expect(await host.turn("hi")).toMatchObject({ outcome: "completed" });
    const sent = JSON.stringify(host.body(1));
    const wanted = JSON.stringify(parameters).includes("path") ? ['"path":{', '"url":{'] : [];
    for (const property of wanted) expect(sent).toContain(property);
  });
});
