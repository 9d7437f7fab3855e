/** How long a vendor may take: each limit is told by its name, and what comes of it depends on whether anything was said. */
import { expect, test } from "vitest";
import { ParleyError } from "../../src/core/errors.js";
import { TIME_LIMITS } from "../../src/core/limits.js";
import { TimedOut } from "../../src/engine/models/time-limits.js";
import { vendorFault } from "../../src/engine/models/vendor/fault.js";
import { run, scratch } from "../process/harness.js";
import { modelServer } from "../support/model-server.js";
import { talk, VENDORS } from "./harness.js";

const { anthropic, local } = VENDORS;
const limited = (limits: Partial<typeof TIME_LIMITS>) => ({ source: { limits: { ...TIME_LIMITS, ...limits } } });

test.each([anthropic, local])("$name: no first byte in time is tried again", async (vendor) => {
  const host = await talk(vendor, [{ text: ["late"], hold: "start" }, { text: ["Here."] }], limited({ firstByteSeconds: 2 }));
  expect(await host.turn("hi")).toMatchObject({ outcome: "completed" });
  expect(host.of("notice").map(({ text }) => text)).toEqual([
    `${vendor.provider} did not begin to answer within 2 s (limits.firstByteSeconds in config.yaml sets how long). Retrying (1/3)`,
  ]);
  expect(host.texts("text.done")).toEqual(["Here."]);
});

test.each([anthropic, local])("$name: silence after output is the end of the try, and the model is asked again", async (vendor) => {
  const host = await talk(vendor, [{ text: ["Well"], hold: "end" }, { text: ["Here."] }], limited({ idleSeconds: 2 }));
  const message = `${vendor.provider} fell silent for 2 s in the middle of its answer (limits.idleSeconds in config.yaml sets how long)`;
  expect(await host.turn("hi")).toMatchObject({ outcome: "completed" });
  expect(host.of("notice")).toMatchObject([{ kind: "retry", text: expect.stringContaining(message) }]);
  expect(host.texts("text.done")).toEqual(["Well", "Here."]);
});

test("no connection in time", () => {
  const thrown = new TypeError("fetch failed", { cause: new TimedOut("connectSeconds", 10) });
  const error = vendorFault(thrown, { provider: "acme" }, false);
  expect(error instanceof ParleyError && error.fault).toMatchObject({
    message: "There was no connection to acme within 10 s (limits.connectSeconds in config.yaml sets how long)",
    retryable: true,
  });
});

test("the built command keeps the limits of the user's config file", async () => {
  const server = await modelServer("anthropic", [{ text: ["Well"], hold: "end" }]);
  const home = scratch({ "config.yaml": "limits: { idleSeconds: 2, retries: 0 }" });
  const env = { PARLEY_HOME: home, ANTHROPIC_API_KEY: server.key, ANTHROPIC_BASE_URL: server.url };
  const { code, stderr } = await run(["-p", "hi", "--provider", "anthropic"], { env });
  expect(stderr).toContain("anthropic fell silent for 2 s in the middle of its answer (limits.idleSeconds in config.yaml sets how long)");
  expect(code).toBe(1);
});
