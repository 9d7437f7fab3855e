/** Switching provider and model within a session, from every wire to every other and back. */
import { expect, test } from "vitest";
import type { ModelSource } from "../../src/engine/models/access.js";
import { modelServer, type ModelServer } from "../support/model-server.js";
import { talk, VENDORS, type VendorUnderTest } from "./harness.js";

const ALL = Object.values(VENDORS);
/** A provider is at one address and speaks one wire in a session, so those of one provider are not paired. */
const PAIRS = ALL.flatMap((from) => ALL.filter((to) => to.provider !== from.provider).map((to) => ({ from, to })));

test.each(PAIRS)("$from.name to $to.name and back", async ({ from, to }) => {
  const elsewhere = await modelServer(to.wire, [{ calls: [look("other.txt", "functions.Read:7")] }, { text: ["The sky."] }]);
  const proof = `proof-of-${from.wire}`;
  const thoughts = from.lacks?.thinking === undefined ? { thinking: ["Deep thoughts."], signature: proof } : {};
  const script = [{ ...thoughts, calls: [look("note.txt", "call|odd/1")] }, { text: ["The sea."] }, { text: ["So it is."] }];
  const there = addressed(to, elsewhere);
  const host = await talk(from, script, {
    files: { "note.txt": "the sea\n", "other.txt": "the sky\n" },
    config: { thinking: "low" },
    source: (server) => joined(addressed(from, server), there),
  });
  expect(await host.turn("what is in it?")).toMatchObject({ outcome: "completed" });

  await host.configure({ provider: to.provider, model: to.model });
  expect(await host.turn("and in the other?")).toMatchObject({ outcome: "completed" });
  const told = JSON.stringify(elsewhere.requests[0]?.body);
  expect(told).toContain("The sea.");
  expect(told).not.toContain(proof);
  expect(told).not.toContain("Deep thoughts.");

  await host.configure({ provider: from.provider, model: from.model });
  expect(await host.turn("back again")).toMatchObject({ outcome: "completed" });
  expect(JSON.stringify(host.body(3))).toContain("The sky.");
});

/** Ids as other vendors make them, which this one might refuse. */
function look(file_path: string, id: string) {
  return { id, name: "Read", args: { file_path } };
}

/** With the address as the provider's own, so that two of them fit into one session. */
function addressed(vendor: VendorUnderTest, server: ModelServer): ModelSource {
  const { env = {}, providers = {}, baseUrl } = vendor.source(server);
  const own = { ...providers[vendor.provider], ...(baseUrl !== undefined && { baseUrl }) };
  return { env, chosen: undefined, providers: { ...providers, [vendor.provider]: own } };
}

function joined(one: ModelSource, other: ModelSource): ModelSource {
  return { ...one, env: { ...one.env, ...other.env }, providers: { ...one.providers, ...other.providers } };
}
