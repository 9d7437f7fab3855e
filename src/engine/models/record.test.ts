import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Redactor } from "../../core/secrets/redact.js";
import type { Model, ModelPart } from "./model.js";
import { scriptFiles } from "./record-file.js";
import { recorded } from "./record.js";
import { openRehearsal } from "./rehearsal/index.js";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "parley-record-"));
});
afterEach(() => rm(folder, { recursive: true }));

const REQUEST = { system: "", messages: [], tools: [] };

test("whatever a model says, the script says it again, piece by piece", async () => {
  // A piece that may end within the beginning of a secret is held back until more has come: a line break begins none.
  const piece = fc.string({ unit: "binary" }).map((text) => `${text}\n`);
  const pieces = fc.array(piece, { minLength: 1, maxLength: 4 });
  const args = fc.dictionary(
    fc.string({ unit: "grapheme" }).filter((key) => key !== "__proto__"),
    // JSON text has no negative zero.
    fc.jsonValue({ noUnicodeString: false }).map((value): unknown => JSON.parse(JSON.stringify(value))),
    {
      noNullPrototype: true,
    },
  );
  const block = fc.oneof(
    pieces.map((texts): ModelPart[] => [...texts.map((text) => ({ type: "text" as const, text })), { type: "text.end" }]),
    pieces.map((texts): ModelPart[] => [...texts.map((text) => ({ type: "thinking" as const, text })), { type: "thinking.end" }]),
    args.map((given): ModelPart[] => [{ type: "call", call: { id: "c", name: "Read", args: given } }]),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(block, { minLength: 1, maxLength: 5 }), fc.nat(), async (blocks, input) => {
      const said: ModelPart[] = [
        ...blocks.flat(),
        { type: "usage", usage: { input, output: 2, cacheRead: 3 } },
        { type: "finish", reason: "length" },
      ];
      const file = join(folder, "run.yaml");
      await partsOf(recorded(saying(said), scriptFiles(file)(), new Redactor()));
      const again = await partsOf(await openRehearsal({ script: file }));
      expect(again.filter(({ type }) => type !== "call.delta")).toEqual(said);
    }),
    { numRuns: 200 },
  );
});

test("answers stand in the order in which they were asked for, whichever is over first", async () => {
  const file = join(folder, "run.yaml");
  const [first, second] = [held(), held()];
  const answers = [first, second];
  const model = recorded(
    modelOf(() => answers.shift()?.stream() ?? []),
    scriptFiles(file)(),
    new Redactor(),
  );
  const asked = [partsOf(model), partsOf(model)];
  second.say("two");
  await asked[1];
  expect(await readFile(file, "utf8")).not.toContain("two");
  first.say("one");
  await asked[0];
  expect(await readFile(file, "utf8")).toMatch(/one[^]*two/);
});

function saying(parts: readonly ModelPart[]): Model {
  return modelOf(() => [[...parts]]);
}

function modelOf(answer: () => Iterable<ModelPart[]> | AsyncIterable<ModelPart[]>): Model {
  return {
    provider: "acme",
    id: "one",
    thinking: true,
    images: true,
    async *stream() {
      yield* answer();
    },
  };
}

/** An answer that is given when it is told to. */
function held() {
  let say: (text: string) => void = () => {};
  const told = new Promise<string>((resolve) => {
    say = resolve;
  });
  async function* stream(): AsyncIterable<ModelPart[]> {
    yield [
      { type: "text", text: await told },
      { type: "finish", reason: "stop" },
    ];
  }
  return { say: (text: string) => say(text), stream };
}

async function partsOf(model: Model): Promise<ModelPart[]> {
  const parts: ModelPart[] = [];
  for await (const batch of model.stream(REQUEST, new AbortController().signal)) parts.push(...batch);
  return parts;
}
