import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import fc from "fast-check";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { jsonEvents, type Parsed } from "./json-events.js";

/** As the packages' own: some records are cut down to what they know, others are passed on whole. */
const Chunk = v.looseObject({
  id: v.optional(v.string()),
  created: v.optional(v.pipe(v.number(), v.finite())),
  usage: v.optional(v.object({ prompt_tokens: v.number(), completion_tokens: v.nullish(v.number()) })),
  choices: v.array(
    v.object({
      delta: v.object({
        role: v.nullish(v.picklist(["assistant", ""])),
        content: v.nullish(v.union([v.string(), v.array(v.looseObject({ type: v.string() }))])),
        reasoning: v.nullish(v.string()),
      }),
      finish_reason: v.nullish(v.string()),
    }),
  ),
});

async function parse(text: string): Promise<Parsed> {
  try {
    const rawValue: unknown = JSON.parse(text);
    const { success, output, issues } = v.safeParse(Chunk, rawValue);
    return success ? { success, value: output, rawValue } : { success, error: issues[0].message, rawValue };
  } catch (error) {
    return { success: false, error: String(error), rawValue: undefined };
  }
}

/** Every event through the transformer, and how many of them were parsed fully. */
async function taken(events: readonly string[], schema: object = {}): Promise<{ results: Parsed[]; full: number }> {
  const results: Parsed[] = [];
  let full = 0;
  const { transform } = jsonEvents((text) => {
    full++;
    return parse(text);
  }, schema);
  for (const data of events) await transform({ data }, { enqueue: (parsed) => results.push(parsed) });
  return { results, full };
}

/** The raw value may be made only when it is asked for. */
const plain = (parsed: Parsed): object => ({ ...parsed, rawValue: parsed.rawValue });
const chunk = (delta: object, more: object = {}): string => JSON.stringify({ id: "1", ...more, choices: [{ delta, finish_reason: null }] });

/** Few, so that the same comes again in another place. */
const word = fc.constantFrom("a", "b", "1", "assistant", "");
const text = fc.oneof(word, fc.string(), fc.string({ unit: "binary" }), fc.constantFrom('","content":"b', "\\", '"', "\u2028\n"));

const number = fc.oneof(fc.nat(20), fc.nat(), fc.maxSafeNat());

const usual = [
  text.map((content) => chunk({ content })),
  text.map((reasoning) => chunk({ reasoning })),
  text.map((content) => chunk({ role: "assistant", content })),
  text.map((content) => chunk({ content: [{ type: "text", text: content }] })),
  text.map((content) => JSON.stringify({ id: "1", choices: [{ delta: { content } }] }, null, " ").replaceAll("\n", "")),
  fc.tuple(text, text).map(([content, id]) => chunk({ content }, { id })),
  fc.tuple(text, number, text).map(([content, created, obfuscation]) => chunk({ content }, { created, obfuscation })),
  fc.tuple(number, number).map(([prompt_tokens, completion_tokens]) => chunk({}, { usage: { prompt_tokens, completion_tokens } })),
];

/** Texts that would mislead a reader that looks for a text in them. */
const odd = [
  word.map((role) => chunk({ role, content: "a" })),
  word.map((unknown) => chunk({ text: unknown })),
  fc.tuple(word, word).map(([content, top]) => chunk({ content }, { content: top })),
  fc.tuple(word, word).map(([content, reasoning]) => chunk({ content, reasoning })),
  fc.tuple(word, word).map(([first, last]) => `{"choices":[{"delta":{"content":"${first}","content":"${last}"}}]}`),
  fc.tuple(word, word).map(([first, last]) => `{"choices":[{"delta":{"content":"${first}","\\u0063ontent":"${last}"}}]}`),
  fc.tuple(word, word).map(([first, last]) => `{"choices":[{"content":"${first}","delta":{"content":"${last}"}}]}`),
  fc.tuple(word, word).map(([id, call]) => chunk({ content: "a" }, { id, tool: { id: call } })),
  fc.tuple(word, word).map(([first, last]) => `{"id":"${first}","id":"${last}","choices":[]}`),
  fc.tuple(word, word).map(([first, last]) => `{"id":"${first}","i\\u0064":"${last}","choices":[]}`),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((created) => chunk({ content: "a" }, { created })),
  fc
    .constantFrom("1.5", "1e5", "2e5", "01", "-1", "1 ", "12345678901234567890", "9".repeat(400), '"1"', "null", "1,2", "")
    .map((created) => `{"created":${created},"choices":[]}`),
  text.map((content) => chunk({ content }).replaceAll("\\", "")),
  fc.tuple(text, fc.nat(40)).map(([content, end]) => chunk({ content }).slice(0, -end)),
  fc.tuple(text, fc.string({ maxLength: 3 })).map(([content, end]) => chunk({ content }) + end),
  fc.constantFrom("", "null", "[]", '"content"', chunk({ content: 5 }), chunk({}), '{"choices":[]}'),
];

/** Several of a kind, then of another. */
const events = fc.array(fc.oneof(...[...usual, ...odd].map((kind) => fc.array(kind, { minLength: 1, maxLength: 4 }))), { maxLength: 5 });

describe("what comes of an event", () => {
  test("is what the package makes of it, whatever came before", async () => {
    await fc.assert(
      fc.asyncProperty(events, async (kinds) => {
        const all = kinds.flat();
        const expected = await Promise.all(all.map(parse));
        const { results } = await taken(all);
        expect(results.map(plain)).toEqual(expected.map(plain));
      }),
      { numRuns: 3000 },
    );
  });

  test("is made anew each time: nobody changes an event by changing another", async () => {
    const { results } = await taken(["a", "b", "c"].map((content) => chunk({ content })));
    const values = results.map((result) => (result.success ? result.value : undefined));
    expect(new Set(values.flatMap((value) => (v.is(Chunk, value) ? [value, value.choices, value.choices[0]?.delta] : []))).size).toBe(9);
  });

  test("the end of an OpenAI stream is no event", async () => {
    expect((await taken(["[DONE]"])).results).toEqual([]);
  });
});

describe("the package is spared", () => {
  test("events that differ in their text alone", async () => {
    const pieces = ["Hello", " ", "wörld", "\n", '"quoted"', "\u0000", "😀"].map((content) => chunk({ content }));
    expect((await taken([chunk({ role: "assistant", content: "a" }), ...pieces, chunk({})])).full).toBe(3);
  });

  test("also after an event without a text, such as a ping", async () => {
    expect((await taken([chunk({ content: "a" }), chunk({}), chunk({ content: "b" })])).full).toBe(2);
  });

  test("those of the next answer, with another id and other numbers", async () => {
    const answer = (id: string, created: number): string[] => [
      chunk({ role: "assistant", content: "" }, { id, created }),
      chunk({ content: "Hello" }, { id, created }),
      chunk({}, { id, created, usage: { prompt_tokens: created, completion_tokens: 2 } }),
    ];
    const schema = {};
    expect((await taken(answer("one", 1), schema)).full).toBe(3);
    const second = answer("two", 20);
    const { results, full } = await taken(second, schema);
    expect(full).toBe(0);
    expect(results.map(plain)).toEqual((await Promise.all(second.map(parse))).map(plain));
  });

  test("as OpenAI sends them, each with a number and something that hides its length", async () => {
    const pieces = ["Hello", " world", "!"].map((content, at) => chunk({ content }, { sequence_number: at, obfuscation: "x".repeat(at) }));
    expect((await taken(pieces)).full).toBe(1);
  });

  test("no more patterns are kept than there is a use for", async () => {
    const kinds = Array.from({ length: 12 }, (_, at) => chunk({ content: "a" }, { kind: at }));
    const schema = {};
    await taken([...kinds, chunk({})], schema);
    expect((await taken(kinds.slice(-4), schema)).full).toBe(0);
    expect((await taken(kinds.slice(0, 4), schema)).full).toBe(4);
  });

  test("no patterns are made for a server whose events always differ elsewhere", async () => {
    const differing = Array.from({ length: 40 }, (_, at) => chunk({ content: "a" }, { nonce: String(at) }));
    const repeated = Array.from({ length: 5 }, () => chunk({ content: "b" }));
    expect((await taken([...differing, ...repeated])).full).toBe(45);
  });
});

describe("an event from a server that means harm", () => {
  /** Longer than any pattern; what it is made of decides how long a pattern would take, or how deep it would go. */
  const counters = Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`a${at}_tokens`, 1]));
  const nested = (depth: number): string => `{"choices":[],"deep":${"[".repeat(depth)}${"]".repeat(depth)}}`;

  test.for([
    ["with thousands of counters", JSON.stringify({ choices: [], counters })],
    ["nested as deeply as nobody does", nested(20_000)],
    ["nested as deeply as a pattern may be", nested(2000)],
  ] as const)("%s is taken like any other", async ([, data]) => {
    const { results } = await taken([data, data, chunk({ content: "a" })]);
    expect(results.map(({ success }) => success)).toEqual([true, true, true]);
  });

  test("leaves nothing of its size behind", async () => {
    const schemas = Array.from({ length: 8 }, () => ({}));
    const before = heapUsed();
    for (const schema of schemas) await muchAround(schema);
    await new Promise(setImmediate);
    expect(heapUsed() - before).toBeLessThan(30_000_000);
  });

  async function muchAround(schema: object): Promise<void> {
    const long = "x".repeat(4_000_000);
    // As the parser of events cuts one out: of a text with all that came before.
    const behindMuch = [long, chunk({ content: "a" })].join("").slice(long.length);
    await taken([behindMuch, chunk({ content: `b${long}` }), chunk({ content: "c" }, { long }), chunk({})], schema);
  }
});

function heapUsed(): number {
  setFlagsFromString("--expose-gc");
  const collect: unknown = runInNewContext("gc");
  if (typeof collect !== "function") throw new Error("no gc in this Node");
  collect();
  return process.memoryUsage().heapUsed;
}
