import { expect, test } from "vitest";
import type { Event } from "../../core/event.js";
import { HostRequests } from "./host-requests.js";

test("a host in the same process may answer while it is still being asked", async () => {
  const requests = new HostRequests();
  const told: string[] = [];
  const emit = (event: Event): undefined => {
    told.push(event.type);
    if (event.type === "host.request") expect(requests.answer(event.request, { ok: true, data: "here" })).toBe(true);
  };
  const reply = await requests.ask(emit, "tool", {}, { seconds: 60, signal: new AbortController().signal });
  expect(reply).toEqual({ ok: true, data: "here" });
  expect(told).toEqual(["host.request", "host.settled"]);
});
