import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { textPart, type Part } from "../../../core/content.js";
import type { AssistantBlock, CallResult, Message } from "../model.js";
import { repair, type Taste } from "./history.js";

const TASTE: Taste = { takesThinking: ({ meta }) => meta !== undefined, imagesInResults: true };
const PNG: Part = { type: "image", mime: "image/png", data: "AA==" };

describe("repair", () => {
  test("a whole conversation stays as it is", () => {
    const whole = [user("a"), assistant(text("b"), call("1")), tool(result("1")), assistant(text("c")), user("d")];
    expect(repair(whole, TASTE)).toEqual(whole);
  });

  test("a call that was never finished is closed with an error", () => {
    const told = repair([user("a"), assistant(call("1"), call("2")), tool(result("2")), user("b")], TASTE);
    expect(told[2]).toMatchObject({
      role: "tool",
      results: [
        { call: "1", failed: true, parts: [{ text: "The call of Read was cut off; whether it took effect is unknown" }] },
        { call: "2", failed: false },
      ],
    });
    expect(told[3]).toEqual(user("b"));
  });

  test("a result that came behind the user's next word stands behind its call", () => {
    const told = repair([user("a"), assistant(call("1")), user("b"), tool(result("1"))], TASTE);
    expect(told).toEqual([user("a"), assistant(call("1")), tool(result("1")), user("b")]);
  });

  test("a result without its call is dropped", () => {
    expect(repair([user("a"), tool(result("9")), assistant(text("b")), user("c")], TASTE)).toEqual([
      user("a"),
      assistant(text("b")),
      user("c"),
    ]);
  });

  test("what is empty is dropped, and a message that becomes empty", () => {
    const told = repair([user("a", " "), assistant(text(""), text("\n")), user(""), assistant(text("b")), user("c")], TASTE);
    expect(told).toEqual([user("a"), assistant(text("b")), user("c")]);
  });

  test("thinking stays where it is wanted, and not as the end of a message", () => {
    const wanted: AssistantBlock = { type: "thinking", text: "x", meta: {} };
    const foreign: AssistantBlock = { type: "thinking", text: "y" };
    const told = repair([user("a"), assistant(wanted, foreign, text("b"), wanted), user("c"), assistant(wanted), user("d")], TASTE);
    expect(told).toEqual([user("a"), assistant(wanted, text("b")), user("c", "d")]);
  });

  test("neighbours of one role become one message", () => {
    const told = repair([user("a"), user("b"), assistant(text("c")), assistant(text("d"), call("1")), tool(result("1"))], TASTE);
    expect(told).toEqual([user("a", "b"), assistant(text("c"), text("d"), call("1")), tool(result("1"))]);
  });

  test("the user has the first word and the last", () => {
    expect(repair([assistant(text("a"))], TASTE)).toEqual([
      user("(The conversation begins here.)"),
      assistant(text("a")),
      user("Continue."),
    ]);
    expect(repair([user(" ")], TASTE)).toEqual([user("Continue.")]);
  });

  test("images stand behind the results where a result is text", () => {
    const plain = { ...TASTE, imagesInResults: false };
    const shown = { ...result("1"), parts: [PNG] };
    const told = repair([user("a"), assistant(call("1"), call("2")), tool(shown, result("2")), user("b")], plain);
    expect(told.slice(2)).toEqual([
      tool({ ...shown, parts: [textPart("The image follows in the next message.")] }, result("2")),
      { role: "user", parts: [textPart("What Read (1) returned as an image:"), PNG, textPart("b")] },
    ]);
  });

  test("whatever comes in, what goes out is a conversation, and repairing it again changes nothing", () => {
    fc.assert(
      fc.property(fc.array(message(), { maxLength: 8 }), fc.boolean(), (messages, imagesInResults) => {
        const taste = { ...TASTE, imagesInResults };
        const told = repair(messages, taste);
        expect(wrongs(told)).toEqual([]);
        expect(repair(told, taste)).toEqual(told);
      }),
    );
  });

  test("whoever was told of the messages before, and with which taste, changes nothing", () => {
    const tastes: Taste[] = [
      TASTE,
      { takesThinking: () => true, imagesInResults: false },
      { takesThinking: () => false, imagesInResults: true },
    ];
    fc.assert(
      fc.property(
        fc.array(message(), { maxLength: 8 }),
        fc.shuffledSubarray(tastes, { minLength: 2 }),
        fc.nat(8),
        (messages, asked, cut) => {
          for (const [at, taste] of asked.entries()) {
            const some = messages.slice(at === 0 ? 0 : cut);
            expect(repair(some, taste)).toEqual(repair(structuredClone(some), taste));
          }
        },
      ),
    );
  });
});

/** The complaint of a strict vendor. */
function wrongs(messages: readonly Message[]): string[] {
  return messages.flatMap((message, at) => {
    const before = messages[at - 1];
    const wrong: string[] = [];
    if (at === 0 && message.role !== "user") wrong.push("does not begin with the user");
    if (at === messages.length - 1 && message.role === "assistant") wrong.push("ends with the model");
    if (before?.role === message.role) wrong.push(`${message.role} twice`);
    const asked = before?.role === "assistant" ? callsOf(before) : [];
    const answered = message.role === "tool" ? message.results.map(({ call: id }) => id) : [];
    if (asked.join() !== answered.join()) wrong.push(`asked ${asked.join()}, answered ${answered.join()}`);
    if (message.role === "user" && message.parts.length === 0) wrong.push("an empty message");
    if (message.role === "assistant" && message.blocks.at(-1)?.type === "thinking") wrong.push("ends with thinking");
    return wrong;
  });
}

function callsOf({ blocks }: Extract<Message, { role: "assistant" }>): string[] {
  return blocks.flatMap((block) => (block.type === "call" ? [block.call.id] : []));
}

/** Few ids and few words, so that calls and results meet, miss each other and repeat. */
function message(): fc.Arbitrary<Message> {
  const id = fc.integer({ min: 0, max: 3 }).map(String);
  const words = fc.constantFrom("", " ", "a", "b");
  const part: fc.Arbitrary<Part> = fc.oneof(words.map(textPart), fc.constant(PNG));
  const block: fc.Arbitrary<AssistantBlock> = fc.oneof(
    words.map(text),
    fc.record({ type: fc.constant("thinking" as const), text: words, meta: fc.option(fc.constant({}), { nil: undefined }) }),
  );
  const calls = fc.uniqueArray(id, { maxLength: 2 }).map((ids) => ids.map(call));
  return fc.oneof(
    fc.array(part, { maxLength: 2 }).map((parts): Message => ({ role: "user", parts })),
    fc
      .tuple(fc.array(block, { maxLength: 3 }), calls)
      .map(([blocks, more]): Message => ({ role: "assistant", blocks: [...blocks, ...more] })),
    fc
      .array(fc.tuple(id, fc.array(part, { maxLength: 2 })), { maxLength: 3 })
      .map((all): Message => ({ role: "tool", results: all.map(([of, parts]) => ({ ...result(of), parts })) })),
  );
}

function user(...words: string[]): Message {
  return { role: "user", parts: words.map(textPart) };
}

function assistant(...blocks: AssistantBlock[]): Message {
  return { role: "assistant", blocks };
}

function tool(...results: CallResult[]): Message {
  return { role: "tool", results };
}

function text(words: string): AssistantBlock {
  return { type: "text", text: words };
}

function call(id: string): AssistantBlock {
  return { type: "call", call: { id, name: "Read", args: {} } };
}

function result(id: string): CallResult {
  return { call: id, name: "Read", parts: [textPart("ok")], failed: false };
}
