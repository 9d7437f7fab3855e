import { expect, test } from "vitest";
import { textPart } from "../../src/core/content.js";
import { modelAt, VENDORS } from "../providers/harness.js";
import { modelServer } from "../support/model-server.js";

const TRACEPARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

test.each(Object.values(VENDORS))(
  "$name: a request carries its trace context, signed where requests are, and none where there is none",
  async (vendor) => {
    const server = await modelServer(vendor.wire, [{ text: ["Hello"] }, { text: ["Hello"] }]);
    const model = await modelAt(vendor, server);
    for (const traceparent of [TRACEPARENT, undefined]) {
      const request = { system: "", messages: [{ role: "user" as const, parts: [textPart("hi")] }], tools: [], traceparent };
      const parts = [];
      for await (const batch of model.stream(request, new AbortController().signal)) parts.push(...batch);
      expect(parts).toContainEqual({ type: "finish", reason: "stop" });
    }
    expect(server.requests.map(({ headers }) => headers["traceparent"])).toEqual([TRACEPARENT, undefined]);
  },
);
