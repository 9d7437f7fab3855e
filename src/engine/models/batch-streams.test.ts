import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { batchesOf, BatchReadableStream } from "./stand-ins/batch-readable.js";
import { BatchTextDecoderStream, BatchTransformStream } from "./stand-ins/batch-transform.js";

/** Node's classes are the model: each law runs the same plan on theirs and on ours. */
interface Streams {
  Readable: typeof ReadableStream;
  Transform: typeof TransformStream;
  Decoder: typeof TextDecoderStream;
}

const node: Streams = { Readable: ReadableStream, Transform: TransformStream, Decoder: TextDecoderStream };
// Ours lack what the packages do not use.
const ours = { Readable: BatchReadableStream, Transform: BatchTransformStream, Decoder: BatchTextDecoderStream } as unknown as Streams;

type Failure = "throw" | "reject" | "error";

interface SourcePlan {
  /** How many chunks each pull gives, and whether it takes its time. */
  pulls: { count: number; later: boolean }[];
  /** The pull that fails, and how. */
  failing?: { at: number; how: Failure };
}

interface StagePlan {
  later: boolean;
  /** Chunk n becomes this many, by turns. */
  spread: number[];
  /** Chunks that `start` and `flush` add. */
  first: number;
  last: number;
  failing?: { at: number; how: Failure | "terminate" };
}

interface Outcome {
  values: string[];
  end: string;
}

const source = fc.record({ pulls: fc.array(fc.record({ count: fc.integer({ min: 1, max: 4 }), later: fc.boolean() }), { maxLength: 6 }) });
const stage = fc.record({
  later: fc.boolean(),
  spread: fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 1, maxLength: 3 }),
  first: fc.integer({ min: 0, max: 2 }),
  last: fc.integer({ min: 0, max: 2 }),
});
const stages = fc.array(stage, { maxLength: 3 });
const failure = fc.constantFrom<Failure>("throw", "reject", "error");

describe("a pipeline gives what Node's gives", () => {
  test("when all goes well", async () => {
    await fc.assert(
      fc.asyncProperty(source, stages, async (from, through) => {
        expect(await outcomeOf(pipeline(ours, from, through))).toEqual(await outcomeOf(pipeline(node, from, through)));
      }),
    );
  });

  test("when a stage ends it early", async () => {
    await fc.assert(
      fc.asyncProperty(source, stage, stages, fc.nat(8), async (from, ending, through, at) => {
        const plan = [{ ...ending, failing: { at, how: "terminate" as const } }, ...through];
        expect(await outcomeOf(pipeline(ours, from, plan))).toEqual(await outcomeOf(pipeline(node, from, plan)));
      }),
    );
  });

  // Node loses what was under way when the failure struck; we hand on all that came before it.
  test("when the source fails, and not less of it", async () => {
    await fc.assert(
      fc.asyncProperty(source, stages, fc.nat(6), failure, async (from, through, at, how) => {
        const broken = { ...from, failing: { at, how } };
        await expectFailure(broken, through, from, through);
      }),
    );
  });

  test("when a stage fails, and not less of it", async () => {
    await fc.assert(
      fc.asyncProperty(source, stages, stage, stages, fc.nat(8), failure, async (from, before, failing, after, at, how) => {
        const plan = [...before, { ...failing, failing: { at, how } }, ...after];
        await expectFailure(from, plan, from, [...before, failing, ...after]);
      }),
    );
  });

  async function expectFailure(from: SourcePlan, through: StagePlan[], whole: SourcePlan, wholly: StagePlan[]): Promise<void> {
    const mine = await outcomeOf(pipeline(ours, from, through));
    const theirs = await outcomeOf(pipeline(node, from, through));
    const clean = await outcomeOf(pipeline(node, whole, wholly));
    expect(mine.end).toBe(theirs.end);
    expect(mine.values.slice(0, theirs.values.length)).toEqual(theirs.values);
    expect(clean.values.slice(0, mine.values.length)).toEqual(mine.values);
  }
});

describe("a reader that has enough", () => {
  const endless = { pulls: Array.from({ length: 1000 }, () => ({ count: 2, later: false })) };
  const passing = fc.array(
    stage.filter(({ spread }) => spread.some((count) => count > 0)),
    { maxLength: 3 },
  );

  // No model here: Node's own, cancelled between two chunks, sometimes gives the source an error of its making as the reason.
  test("cancels the source, with its reason", async () => {
    await fc.assert(
      fc.asyncProperty(passing, fc.nat(10), async (through, count) => {
        const cancelled: unknown[] = [];
        const reader = pipeline(ours, endless, through, (reason) => cancelled.push(reason)).getReader();
        for (let read = 0; read < count; read++) expect((await reader.read()).done).toBe(false);
        await reader.cancel("enough");
        expect(cancelled).toEqual(["enough"]);
        expect(await reader.read()).toEqual({ done: true, value: undefined });
      }),
    );
  });

  test("cancels it by leaving a loop", async () => {
    const cancelled: unknown[] = [];
    for await (const value of pipeline(ours, endless, [], (reason) => cancelled.push(reason))) {
      expect(value).toBe("0");
      break;
    }
    expect(cancelled).toEqual([undefined]);
  });

  test("cancels it by leaving the batches", async () => {
    for (const streams of [node, ours]) {
      const cancelled: unknown[] = [];
      for await (const batch of batchesOf(pipeline(streams, endless, [], (reason) => cancelled.push(reason)))) {
        expect(batch[0]).toBe("0");
        break;
      }
      expect(cancelled).toEqual([undefined]);
    }
  });
});

describe("two branches", () => {
  const order = fc.array(fc.constantFrom<0 | 1>(0, 1), { maxLength: 12 });

  test("both get everything, in whatever order they ask", async () => {
    await fc.assert(
      fc.asyncProperty(source, stages, order, fc.boolean(), async (from, through, asks, failing) => {
        const plan = failing ? { ...from, failing: { at: 3, how: "reject" as const } } : from;
        const [mine, theirs] = [await branchesOf(ours), await branchesOf(node)];
        expect(mine.map(({ end }) => end)).toEqual(theirs.map(({ end }) => end));
        if (!failing) expect(mine).toEqual(theirs);

        async function branchesOf(streams: Streams): Promise<Outcome[]> {
          const readers = pipeline(streams, plan, through)
            .tee()
            .map((branch) => branch.getReader());
          const values: string[][] = [[], []];
          const ends = ["", ""];
          for (const index of [...asks, ...Array<0>(200).fill(0), ...Array<1>(200).fill(1)]) {
            if (ends[index] !== "") continue;
            try {
              const result = await readers[index]?.read();
              if (result?.done === false) values[index]?.push(result.value);
              else ends[index] = "done";
            } catch (error) {
              ends[index] = String(error);
            }
          }
          return [0, 1].map((index) => ({ values: values[index] ?? [], end: ends[index] ?? "" }));
        }
      }),
    );
  });

  test("one goes on when the other has looked and left", async () => {
    const plan = { pulls: Array.from({ length: 5 }, () => ({ count: 2, later: true })) };
    const [looking, staying] = pipeline(ours, plan, []).tee();
    const reader = looking.getReader();
    expect(await reader.read()).toEqual({ done: false, value: "0" });
    const left = reader.cancel();
    reader.releaseLock();
    expect(await outcomeOf(staying)).toEqual({ values: ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"], end: "done" });
    await left;
  });

  test("a batch that one has taken is its own", async () => {
    const [one, other] = pipeline(ours, { pulls: Array.from({ length: 3 }, () => ({ count: 1, later: true })) }, []).tee();
    const taken: string[][] = [];
    for await (const batch of batchesOf(one)) taken.push(batch);
    expect(taken).toEqual([["0"], ["1"], ["2"]]);
    for await (const batch of batchesOf(other)) expect(batch).toEqual(["0", "1", "2"]);
  });

  test("the source is cancelled when both have left", async () => {
    for (const streams of [node, ours]) {
      const cancelled: unknown[] = [];
      const [one, other] = pipeline(streams, { pulls: [{ count: 1, later: false }] }, [], (reason) => cancelled.push(reason)).tee();
      const first = one.cancel("first");
      expect(cancelled).toEqual([]);
      await other.cancel("second");
      await first;
      expect(cancelled).toEqual([["first", "second"]]);
    }
  });
});

test("bytes are decoded as by Node, wherever they are cut", async () => {
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 40 }),
    fc.string({ unit: "grapheme" }).map((text) => new TextEncoder().encode(text)),
    fc.string({ unit: fc.constantFrom("\uFEFF", "é", "a") }).map((text) => new TextEncoder().encode(text)),
  );
  await fc.assert(
    fc.asyncProperty(bytes, fc.array(fc.nat(40), { maxLength: 4 }), async (whole, marks) => {
      const cuts = [0, ...marks.map((mark) => Math.min(mark, whole.length)).sort((a, b) => a - b), whole.length];
      const chunks = cuts.slice(1).map((cut, index) => whole.slice(cuts[index], cut));
      const [mine, theirs] = await Promise.all([ours, node].map(textOf));
      expect(mine).toBe(theirs);

      async function textOf({ Readable, Decoder }: Streams): Promise<string> {
        const stream = new Readable<Uint8Array<ArrayBuffer>>({
          start(controller) {
            for (const chunk of chunks) controller.enqueue(chunk);
            controller.close();
          },
        });
        return (await outcomeOf(stream.pipeThrough(new Decoder()))).values.join("");
      }
    }),
  );
});

test("what came at once is one batch, through every stage", async () => {
  const stream = pipeline(ours, { pulls: [{ count: 1, later: true }] }, [spreading(100), spreading(3)]);
  const sizes: number[] = [];
  for await (const batch of batchesOf(stream)) sizes.push(batch.length);
  expect(sizes).toEqual([300]);
});

test.each(["throw", "reject", "error", "terminate"] as const)(
  "a stage that is over (%s) cancels its source and is not called again",
  async (how) => {
    const cancelled: unknown[] = [];
    let calls = 0;
    const stage = new BatchTransformStream<string, string>({
      transform(_, controller) {
        if (++calls === 2) return how === "terminate" ? controller.terminate() : fail(how, "stage", controller);
      },
    });
    const from = pipeline(ours, { pulls: [{ count: 1, later: true }] }, [spreading(5)], (reason) => cancelled.push(String(reason)));
    const { end } = await outcomeOf(from.pipeThrough(stage as unknown as TransformStream<string, string>));
    expect(end).toBe(how === "terminate" ? "done" : "Error: the stage broke");
    expect(cancelled).toEqual([how === "terminate" ? "TypeError: The transform was terminated" : "Error: the stage broke"]);
    expect(calls).toBe(2);
  },
);

test("nothing is read before somebody asks", async () => {
  let pulls = 0;
  const stream = new BatchReadableStream<number>({
    pull(controller) {
      controller.enqueue(pulls++);
    },
  });
  const reader = stream.pipeThrough(new BatchTransformStream<number, number>()).getReader();
  await new Promise(setImmediate);
  expect(pulls).toBe(0);
  expect(await reader.read()).toEqual({ done: false, value: 0 });
  await new Promise(setImmediate);
  expect(pulls).toBe(1);
});

test("reads that wait are served in order", async () => {
  const reader = pipeline(
    ours,
    {
      pulls: [
        { count: 2, later: true },
        { count: 1, later: true },
      ],
    },
    [],
  ).getReader();
  const results = await Promise.all([reader.read(), reader.read(), reader.read(), reader.read()]);
  expect(results.map(({ value }) => value)).toEqual(["0", "1", "2", undefined]);
});

test("a stream has one reader at a time, and a released one reads no more", async () => {
  const stream = new BatchReadableStream<number>();
  const reader = stream.getReader();
  expect(stream.locked).toBe(true);
  expect(() => stream.getReader()).toThrow(TypeError);
  await expect(stream.cancel()).rejects.toThrow(TypeError);
  const waiting = reader.read();
  reader.releaseLock();
  await expect(waiting).rejects.toThrow(TypeError);
  await expect(reader.read()).rejects.toThrow(TypeError);
  stream.getReader().releaseLock();
  expect(stream.locked).toBe(false);
});

test("`closed` tells the end and the failure", async () => {
  let give = (_: "close" | "error"): void => {};
  const make = () =>
    new BatchReadableStream<number>({
      start(controller) {
        give = (how) => (how === "close" ? controller.close() : controller.error(new Error("broken")));
      },
    }).getReader();
  const closing = make().closed;
  give("close");
  await closing;
  const failing = make().closed;
  give("error");
  await expect(failing).rejects.toThrow("broken");
});

test("a controller knows whether there is room, and refuses what comes after the end", async () => {
  const stream = new BatchReadableStream<number>({
    start(controller) {
      expect(controller.desiredSize).toBe(1);
      controller.enqueue(1);
      expect(controller.desiredSize).toBe(0);
      controller.close();
      expect(() => controller.enqueue(2)).toThrow(TypeError);
      expect(() => controller.close()).toThrow(TypeError);
    },
  });
  const reader = stream.getReader();
  expect(await reader.read()).toEqual({ done: false, value: 1 });
  expect(await reader.read()).toEqual({ done: true, value: undefined });
});

/** Chunks are numbers in text, and what the stages add to them. */
function pipeline(streams: Streams, from: SourcePlan, through: StagePlan[], onCancel?: (reason: unknown) => void): ReadableStream<string> {
  let stream = sourceOf(streams, from, onCancel);
  for (const plan of through) stream = stream.pipeThrough(stageOf(streams, plan));
  return stream;
}

function sourceOf({ Readable }: Streams, { pulls, failing }: SourcePlan, onCancel?: (reason: unknown) => void): ReadableStream<string> {
  let [at, next] = [0, 0];
  return new Readable<string>({
    pull(controller) {
      const index = at++;
      if (failing?.at === index) return fail(failing.how, "source", controller);
      const pull = pulls[index];
      if (pull === undefined) return controller.close();
      const give = (): void => {
        for (let count = 0; count < pull.count; count++) controller.enqueue(String(next++));
      };
      return pull.later ? Promise.resolve().then(give) : give();
    },
    cancel: onCancel,
  });
}

function stageOf({ Transform }: Streams, plan: StagePlan): TransformStream<string, string> {
  const { later, spread, first, last, failing } = plan;
  let at = 0;
  return new Transform<string, string>({
    start(controller) {
      for (let count = 0; count < first; count++) controller.enqueue(`start${count}`);
    },
    transform(chunk, controller) {
      const index = at++;
      if (failing?.at === index) return failing.how === "terminate" ? controller.terminate() : fail(failing.how, "stage", controller);
      const give = (): void => {
        for (let count = 0; count < (spread[index % spread.length] ?? 1); count++) controller.enqueue(`${chunk}.${count}`);
      };
      return later ? Promise.resolve().then(give) : give();
    },
    flush(controller) {
      for (let count = 0; count < last; count++) controller.enqueue(`end${count}`);
    },
  });
}

function fail(how: Failure, who: string, controller: { error(error: unknown): void }): Promise<void> | void {
  const error = new Error(`the ${who} broke`);
  if (how === "throw") throw error;
  if (how === "reject") return Promise.reject(error);
  controller.error(error);
}

function spreading(count: number): StagePlan {
  return { later: false, spread: [count], first: 0, last: 0 };
}

async function outcomeOf(stream: ReadableStream<string>): Promise<Outcome> {
  const values: string[] = [];
  try {
    for await (const value of stream) values.push(value);
    return { values, end: "done" };
  } catch (error) {
    return { values, end: String(error) };
  }
}
