/** Two sessions of one driven agent whose calls have the same names: what is said in one never counts for the other. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { qwen } from "../../src/dialects/qwen/index.js";
import { PARLEY, scratch } from "../process/harness.js";
import { Driver } from "../support/driver.js";

/** The rehearsal model names the calls of every session alike: call_1, call_2, … */
function two(config: Parameters<Driver["open"]>[0] = {}, more: Parameters<Driver["open"]>[0] = {}): { driver: Driver; cwd: string } {
  const cwd = scratch();
  const driver = new Driver(qwen, [process.execPath, PARLEY, "--provider", "rehearsal"]);
  driver.open({ cwd, ...config }, { session: "a", id: "open-a" });
  driver.open({ cwd, ...config, ...more }, { session: "b", id: "open-b" });
  return { driver, cwd };
}

async function asked(driver: Driver, session: string): Promise<string> {
  const { calls } = await driver.next("approval.requested", (event) => event.session === session);
  return calls[0]?.id ?? "";
}

describe("approvals", () => {
  it("an answer allows the call of its own session", async () => {
    const { driver, cwd } = two();
    for (const session of ["a", "b"]) driver.prompt(`t-${session}`, `run \`touch ${session}\``, { session, id: `p-${session}` });
    const calls = [await asked(driver, "a"), await asked(driver, "b")];
    expect(calls[0]).toBe(calls[1]);
    driver.send({ type: "approval.answer", session: "b", answers: [{ call: calls[1] ?? "", decision: "allow" }] });
    await driver.ended("t-b");
    expect([existsSync(join(cwd, "a")), existsSync(join(cwd, "b"))]).toEqual([false, true]);
    driver.send({ type: "approval.answer", session: "a", answers: [{ call: calls[0] ?? "", decision: "deny" }] });
    await driver.ended("t-a");
    expect(driver.of("tool.ended").map(({ session, status }) => [session, status])).toEqual([
      ["b", "ok"],
      ["a", "denied"],
    ]);
  });

  it("what the mode of one allows is not allowed in the other", async () => {
    const { driver, cwd } = two({}, { mode: "yolo" });
    driver.prompt("t-a", "run `touch a`", { session: "a", id: "p-a" });
    const call = await asked(driver, "a");
    driver.prompt("t-b", "run `touch b`", { session: "b", id: "p-b" });
    await driver.ended("t-b");
    expect([existsSync(join(cwd, "a")), existsSync(join(cwd, "b"))]).toEqual([false, true]);
    driver.send({ type: "approval.answer", session: "a", answers: [{ call, decision: "deny" }] });
    await driver.ended("t-a");
    expect(existsSync(join(cwd, "a"))).toBe(false);
  });
});

describe("tools of the host", () => {
  it("are asked for in both, and each result reaches its own", async () => {
    const { driver } = two({ hostTools: [{ name: "lookup", parameters: { type: "object" } }] });
    for (const session of ["a", "b"]) driver.prompt(`t-${session}`, "call the tool lookup with {}", { session, id: `p-${session}` });
    for (const session of ["b", "a"]) {
      const { request } = await driver.next("host.request", (event) => event.session === session);
      driver.send({ type: "host.answer", session, request, ok: true, data: `for ${session}` });
      await driver.ended(`t-${session}`);
    }
    expect(driver.text("t-a")).toContain("for a");
    expect(driver.text("t-b")).toContain("for b");
  });
});
