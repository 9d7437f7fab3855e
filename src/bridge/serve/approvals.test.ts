import { expect, test } from "vitest";
import { Approvals } from "./approvals.js";

const here = { platform: "p", chat: "c" };
const request = { id: "r1", tool: "Bash", input: { command: "rm -rf /" }, description: "clean up" };

test("is shown whole, answered by its name from its own chat alone, and once", async () => {
  const approvals = new Approvals(300);
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
  const { told, answer } = ask(new Approvals(300), { ...request, deadline: Date.now() - 1 });
  expect(await answer).toEqual({ behavior: "deny", message: "Nobody answered in time." });
  expect(told[1]).toMatch(/was denied, because nobody answered/);
});

test("is void when its turn ends, before or after it was asked", async () => {
  const controller = new AbortController();
  const { answer } = ask(new Approvals(300), request, controller.signal);
  controller.abort();
  expect(await answer).toEqual({ behavior: "deny", message: "The turn is over." });
  const late = ask(new Approvals(300), request, AbortSignal.abort());
  expect([await late.answer, late.told]).toEqual([{ behavior: "deny", message: "The turn is over." }, []]);
});

function ask(approvals: Approvals, asked: Parameters<Approvals["ask"]>[1] = request, signal = new AbortController().signal) {
  const told: string[] = [];
  return { told, answer: approvals.ask(here, asked, signal, (text) => told.push(text)) };
}
