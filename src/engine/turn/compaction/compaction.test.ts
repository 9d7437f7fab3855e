import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import { plainText, type Part } from "../../../core/content.js";
import type { Event } from "../../../core/event.js";
import { compactNow, type Compactable } from "./compaction.js";
import { estimate, fitted, tailStart, trimmed } from "./cut.js";
import { keptWords } from "./keep.js";
import { summaryMessage } from "./summary.js";
import { History, isOfUser, todosIn } from "../../session/history.js";
import { SeenFileMap } from "../../session/seen-files.js";
import type { Message } from "../../models/model.js";
import { openRehearsal } from "../../models/rehearsal/index.js";
import { Interrupted } from "../interrupt.js";
import { unsound } from "../../store/testing.js";

const PNG = { type: "image" as const, mime: "image/png", data: "AAAA" };

const NOTE: Message = { role: "user", kind: "note", parts: [{ type: "text", text: "note" }] };
const NO_FILES = new SeenFileMap();

/** A sound conversation: what users, models and tools may say, in any order that a vendor takes. */
function conversations(): fc.Arbitrary<Message[]> {
  const words = fc.oneof(
    fc.string({ maxLength: 20 }),
    fc.nat(900).map((length) => "x".repeat(length)),
  );
  const part = fc.oneof(
    words.map((text) => ({ type: "text" as const, text })),
    fc.constant(PNG),
  );
  const list = words.map((text): Part => ({ type: "todo", items: [{ text, status: "pending" }] }));
  const user = fc.array(part, { minLength: 1, maxLength: 2 }).map((parts): Message[] => [{ role: "user", parts }]);
  const said = words.map((text): Message[] => [{ role: "assistant", blocks: [{ type: "text", text }] }]);
  const called = fc
    .array(fc.record({ name: fc.constantFrom("Bash", "Read"), arg: words, parts: fc.array(fc.oneof(part, list), { maxLength: 2 }) }), {
      minLength: 1,
      maxLength: 3,
    })
    .map((calls) => (at: number): Message[] => [
      {
        role: "assistant",
        blocks: calls.map(({ name, arg }, nth) => ({ type: "call", call: { id: `c${at}-${nth}`, name, args: { arg } } })),
      },
      { role: "tool", results: calls.map(({ name, parts }, nth) => ({ call: `c${at}-${nth}`, name, parts, failed: false })) },
    ]);
  const unit = fc.oneof(user, said, called);
  return fc.array(unit, { maxLength: 12 }).map((units) => units.flatMap((one, at) => (typeof one === "function" ? one(at) : one)));
}

describe("trimming", () => {
  test("leaves every message in its place, the newest as they are, and does nothing the second time", () => {
    fc.assert(
      fc.property(conversations(), (messages) => {
        expect(unsound(messages)).toEqual([]);
        const lean = trimmed(messages, 0);
        expect(unsound(lean)).toEqual([]);
        expect(lean.map(({ role }) => role)).toEqual(messages.map(({ role }) => role));
        expect(estimate(lean)).toBeLessThanOrEqual(estimate(messages));
        expect(trimmed(lean, 0)).toEqual(lean);
        expect(todosIn(lean)).toEqual(todosIn(messages));
        const newest = messages.filter(({ role }) => role === "tool").slice(-3);
        expect(lean.filter(({ role }) => role === "tool").slice(-3)).toEqual(newest);
      }),
    );
  });

  test("clears the oldest first, and no more than is needed", () => {
    fc.assert(
      fc.property(conversations(), fc.nat(3000), (messages, tokens) => {
        const lean = trimmed(messages, tokens);
        expect(unsound(lean)).toEqual([]);
        const whole = trimmed(messages, 0);
        expect(estimate(lean) <= tokens || estimate(lean) === estimate(whole)).toBe(true);
        const last = lean.findLastIndex((message, at) => message !== messages[at]);
        expect(lean.slice(0, Math.max(0, last))).toEqual(whole.slice(0, Math.max(0, last)));
        const oneLess = lean.map((message, at) => (at === last ? (messages[at] ?? message) : message));
        expect(last === -1 || estimate(oneLess) > tokens).toBe(true);
      }),
    );
  });

  test("long results and images go, short ones stay", () => {
    const result = (text: string): Message[] => [
      { role: "assistant", blocks: [{ type: "call", call: { id: text, name: "Read", args: {} } }] },
      {
        role: "tool",
        results: [{ call: text, name: "Read", parts: [{ type: "text", text }, ...(text === "image" ? [PNG] : [])], failed: false }],
      },
    ];
    const texts = ["short", "x".repeat(300), "image", "1", "2", "3"];
    const lean = trimmed([{ role: "user", parts: [PNG, { type: "text", text: "look" }] }, ...texts.flatMap(result)], 0);
    const told = lean.flatMap((message) => (message.role === "tool" ? message.results.map(({ parts }) => plainText(parts)) : []));
    expect(told).toEqual(["short", "[Tool result cleared to make room]", "[Tool result cleared to make room]", "1", "2", "3"]);
    expect(lean[0]).toEqual({
      role: "user",
      parts: [
        { type: "text", text: "[Image cleared to make room]" },
        { type: "text", text: "look" },
      ],
    });
  });
});

test("the tail never begins with results, is sound behind a summary, and is as large as it may be", () => {
  fc.assert(
    fc.property(conversations(), fc.nat(2000), (messages, tokens) => {
      const start = tailStart(messages, tokens);
      const tail = messages.slice(start);
      expect(tail[0]?.role).not.toBe("tool");
      expect(messages.length === 0 || tail.length > 0).toBe(true);
      const whole = [
        ...keptWords(messages.slice(0, start), tail, tokens),
        summaryMessage("sum", messages.slice(0, start), tail, NO_FILES),
        ...tail,
      ];
      expect(unsound(whole)).toEqual([]);
      expect(todosIn(whole)).toEqual(todosIn(messages));
      const isSmallest = tail.findLastIndex(({ role }) => role !== "tool") === 0;
      expect(isSmallest || estimate(tail) <= tokens).toBe(true);
      const before = messages.slice(0, start).findLastIndex(({ role }) => role !== "tool");
      if (before >= 0) expect(estimate(messages.slice(before))).toBeGreaterThan(tokens);
    }),
  );
});

describe("the words of the user", () => {
  const words = fc.array(
    fc.nat(4000).map((length) => "x".repeat(length)),
    { maxLength: 8 },
  );
  const said = (texts: readonly string[]): Message[] => texts.map((text) => ({ role: "user", parts: [{ type: "text", text }] }));

  test("stay in their order: the first, and the newest for which there is room", () => {
    fc.assert(
      fc.property(words, words, fc.nat(20_000), (before, behind, allowed) => {
        const head = said(before);
        const kept = keptWords(head, said(behind), allowed);
        expect(kept).toHaveLength(Math.min(head.length, kept.length));
        expect(kept[0]).toEqual(head[0] && isOfUser(head[0]) ? fitted(head[0], Math.max(50, Math.floor(allowed / 4))) : undefined);
        // Only the oldest of the newest may have lost its middle.
        const newest = kept.slice(2);
        expect(newest).toEqual(newest.length === 0 ? [] : head.slice(-newest.length));
        expect(keptWords(kept, said(behind), allowed).slice(1).length).toBeLessThanOrEqual(kept.length);
      }),
    );
  });

  test("are the user's own: no summary and no note", () => {
    const [task = NOTE] = said(["task"]);
    expect(keptWords([task, { ...NOTE, kind: "summary" }, NOTE, ...said(["more"])], [], 1000)).toEqual([task, ...said(["more"])]);
  });
});

describe("at the user's wish", () => {
  test("a summary and the newest messages are left; again and again it grows no further", async () => {
    const history = new History([...talk(20), { role: "user", parts: [{ type: "text", text: "the last wish" }] }, ...calls(2000)]);
    const { target, events } = await compactable(history, ["They talked.", "They talked.", "They talked."]);
    const first = await compactNow(target);
    expect(first).toMatchObject({ summary: "They talked.", before: expect.any(Number) });
    expect(first.after).toBeLessThan(first.before);
    const users = history.messages.filter(isOfUser).map(({ parts }) => plainText(parts));
    expect([users[0], users.at(-1)]).toEqual([expect.stringMatching(/^0 word/), "the last wish"]);
    const [summary, ...tail] = history.messages.slice(users.length);
    expect(summary).toMatchObject({ role: "user", kind: "summary" });
    expect(summary?.role === "user" && plainText(summary.parts)).toMatch(/They talked\.\n\nFiles that were .*:\n\/w\/b\n\/w\/a$/);
    expect(tail.map(({ role }) => role)).toEqual(["assistant", "tool"]);
    expect(events).toMatchObject([
      { type: "compaction", phase: "started", before: first.before },
      { type: "usage", scope: "call" },
      { type: "compaction", phase: "ended", before: first.before, after: first.after, summary: "They talked." },
    ]);
    const second = await compactNow(target);
    expect(second.after).toBeLessThanOrEqual(first.after);
    expect(unsound(history.messages)).toEqual([]);
  });

  test("where there is nothing to sum up, nothing is asked and nothing told", async () => {
    const history = new History([{ role: "user", parts: [{ type: "text", text: "hi" }] }]);
    const { target, events } = await compactable(history, ["never"]);
    expect(await compactNow(target)).toEqual({ before: 1, after: 1 });
    expect(await compactNow({ ...target, history: new History() })).toEqual({ before: 0, after: 0 });
    expect(events).toEqual([]);
  });

  test.each([
    ["fails", { fail: 400 }, /invalid/],
    ["says nothing", { say: "" }, /gave no summary/],
    ["is longer than what it stands for", { say: { text: "words ", pieces: 5000 } }, /no shorter/],
  ])("a summary that %s is told, and the conversation stays", async (_, response, failure) => {
    const history = new History(talk(20));
    const before = [...history.messages];
    const { target, events } = await compactable(history, [response]);
    expect((await compactNow(target)).failure).toMatch(failure);
    expect(history.messages).toEqual(before);
    expect(events.map((event) => (event.type === "compaction" ? event.phase : event.type))).toEqual(
      expect.arrayContaining(["started", "failed", "notice"]),
    );
  });

  test("a window that is smaller than we think gets less and less to read", async () => {
    const { target } = await compactable(new History(talk(40)), [{ fail: { status: 413, times: 2 }, say: "In short." }]);
    expect(await compactNow(target)).toMatchObject({ summary: "In short." });
  });

  test("an interrupt ends it, and nothing has changed", async () => {
    const history = new History(talk(20));
    const before = [...history.messages];
    const abort = new AbortController();
    const { target, events } = await compactable(history, [{ steps: [{ wait: "forever" }] }], abort.signal);
    const working = compactNow(target);
    abort.abort();
    await expect(working).rejects.toThrow(Interrupted);
    expect(history.messages).toEqual(before);
    expect(events.at(-1)).toMatchObject({ type: "compaction", phase: "failed" });
  });
});

function talk(length: number): Message[] {
  return Array.from({ length }, (_, at): Message => {
    const text = `${at} ${"word ".repeat(20)}`;
    return at % 2 === 0 ? { role: "user", parts: [{ type: "text", text }] } : { role: "assistant", blocks: [{ type: "text", text }] };
  });
}

function calls(length: number): Message[] {
  return [
    { role: "assistant", blocks: [{ type: "call", call: { id: "c", name: "Bash", args: {} } }] },
    { role: "tool", results: [{ call: "c", name: "Bash", parts: [{ type: "text", text: "y".repeat(length) }], failed: false }] },
  ];
}

async function compactable(history: History, responses: unknown[], signal = new AbortController().signal) {
  const folder = mkdtempSync(join(tmpdir(), "parley-test-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, "script.json"), JSON.stringify(responses));
  const events: Event[] = [];
  const target: Compactable = {
    history,
    model: await openRehearsal({ script: join(folder, "script.json") }),
    config: {},
    emit: (event) => void events.push(event),
    signal,
    trace: undefined,
    used: { total: undefined },
    seen: new SeenFileMap({ "/w/b": "1", "/w/a": "1" }),
  };
  return { target, events };
}
