import { expect, test } from "vitest";
import { Approvals } from "./approvals.js";
import { approversOf } from "./approvers.js";

const here = { platform: "p", chat: "c", from: "ann" };
const ONE = approversOf(new Set(["ann"]), undefined);
const several = new Set(["ann", "bob"]);
const request = { id: "r1", tool: "Bash", input: { command: "rm -rf /" }, description: "clean up" };

test("is shown whole, answered by its name from its own chat alone, and once", async () => {
  const approvals = new Approvals(300, () => ONE);
  const { told, answer } = ask(approvals);
  const [, name = ""] = /^Permission \[(\w{4})\]: Bash \(clean up\)\n[^]*rm -rf [^]*denied in 5 minutes/.exec(told[0] ?? "") ?? [];
  expect(name).toHaveLength(4);
  expect(approvals.answer({ ...here, chat: "other" }, name, { behavior: "allow" })).toContain("There is no request");
  expect(approvals.answer({ ...here, platform: "other" }, name, { behavior: "allow" })).toContain("There is no request");
  expect(approvals.answer(here, "", { behavior: "allow" })).toBe(`Which one? ${name}`);
  expect(approvals.answer(here, name.toUpperCase(), { behavior: "deny", message: "no" })).toBe(`Permission [${name}]: denied.`);
  expect(approvals.answer(here, name, { behavior: "allow" })).toContain("There is no request");
  expect(await answer).toEqual({ behavior: "deny", message: "no" });
  expect(approvals.answer(here, "", { behavior: "allow" })).toBe("Nothing is waiting for permission here.");
});

test("is denied at its deadline, and the chat is told", async () => {
  const { told, answer } = ask(new Approvals(300, () => ONE), { ...request, deadline: Date.now() - 1 });
  expect(await answer).toEqual({ behavior: "deny", message: "Nobody answered in time." });
  expect(told[1]).toMatch(/was denied, because nobody answered/);
});

test("is void when its turn ends, before or after it was asked", async () => {
  const controller = new AbortController();
  const { answer } = ask(new Approvals(300, () => ONE), request, controller.signal);
  controller.abort();
  expect(await answer).toEqual({ behavior: "deny", message: "The turn is over." });
  const late = ask(new Approvals(300, () => ONE), request, AbortSignal.abort());
  expect([await late.answer, late.told]).toEqual([{ behavior: "deny", message: "The turn is over." }, []]);
});

test("is not answered by somebody who is no approver: that does nothing, and says so", async () => {
  const approvals = new Approvals(300, () => approversOf(several, ["bob"]));
  const { told, answer } = ask(approvals);
  const [, name = ""] = /\[(\w{4})\][^]*\nOnly bob may answer\.$/.exec(told[0] ?? "") ?? [];
  for (const behavior of ["allow", "deny"] as const) {
    expect(approvals.answer(here, name, { behavior })).toBe(
      "You may not answer permissions here, so this did nothing. Only bob may. Whoever runs the bridge can add 'ann' to 'approvers'.",
    );
  }
  expect(approvals.answer({ ...here, from: "bob" }, name, { behavior: "allow" })).toBe(`Permission [${name}]: allowed.`);
  expect(await answer).toEqual({ behavior: "allow" });
});

test("is denied at once where nobody may approve, and both sides hear why", async () => {
  const approvals = new Approvals(300, () => approversOf(several, undefined));
  const { told, answer } = ask(approvals);
  const why = "Nobody may approve anything here: more than one sender may talk, and 'approvers' names nobody.";
  expect(await answer).toEqual({ behavior: "deny", message: why });
  expect(told).toEqual([`Bash (clean up) was denied. ${why} Whoever runs the bridge can name 'approvers'.`]);
  expect(approvals.answer(here, "", { behavior: "allow" })).toContain(why);
});

test.each([
  [["ann"], undefined, ["ann"], undefined, false],
  [["ann", "bob"], undefined, [], "more than one sender may talk", false],
  [["*"], undefined, [], "everybody may talk", false],
  [[], undefined, [], "nobody may talk", false],
  [["ann", "bob"], "senders", ["ann", "bob"], undefined, false],
  [["*"], "senders", ["*"], undefined, false],
  [[], "senders", [], "nobody may talk", false],
  [["ann", "bob"], ["bob", "bob"], ["bob"], undefined, true],
  [["*"], ["bob"], ["bob"], undefined, true],
  [["ann"], [], [], "its list 'approvers' is empty", false],
] as const)("senders %j and approvers %j are the approvers %j", (allow, named, ids, why, areFew) => {
  const approvers = approversOf(new Set(allow), named);
  expect([approvers.ids, approvers.areFew]).toEqual([ids, areFew]);
  if (why === undefined) expect(approvers.noneBecause).toBeUndefined();
  else expect(approvers.noneBecause).toContain(why);
  const everybody = ids.some((id) => id === "*");
  expect(["ann", "bob", "eve"].filter((from) => approvers.includes(from))).toEqual(everybody ? ["ann", "bob", "eve"] : ids);
});

function ask(approvals: Approvals, asked: Parameters<Approvals["ask"]>[1] = request, signal = new AbortController().signal) {
  const told: string[] = [];
  return { told, answer: approvals.ask(here, asked, signal, (text) => told.push(text)) };
}
