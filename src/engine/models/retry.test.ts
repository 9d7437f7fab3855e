import { describe, expect, test } from "vitest";
import { ParleyError, type Fault } from "../../core/errors.js";
import type { Model, ModelPart } from "./model.js";
import { streamWithRetries } from "./retry.js";
import type { RetryLimits } from "./time-limits.js";

const down = fault({ retryable: true, retryAfter: 0 });

describe("another try", () => {
  test("is made for what is retryable, so often as the limits say, each with its number", async () => {
    const { heard, told, error } = await run([down, down, down, down, "late"], { retries: 3 });
    expect(told).toEqual([1, 2, 3].map((attempt) => `acme is down. Retrying (${attempt}/3)`));
    expect(heard).toEqual([]);
    expect(error).toMatchObject({ fault: { message: "acme is down. It was asked 4 times (limits.retries sets how often)" } });
  });

  test("is made ten times where nothing is said, and three times where another model waits", async () => {
    const downs = Array.from({ length: 20 }, () => down);
    expect((await run([...downs])).told).toHaveLength(10);
    expect((await run([...downs], {}, { hasFallback: true })).told).toHaveLength(3);
  });

  test("gives what the first good one says", async () => {
    expect(await run([down, "hello"])).toMatchObject({ heard: ["hello"], error: undefined });
  });

  test.each([
    ["what is not retryable", fault({ retryable: false })],
    ["what is not ours", new Error("a bug")],
  ])("is not made for %s", async (_, failure) => {
    expect(await run([failure, "late"])).toEqual({ heard: [], told: [], error: failure });
  });

  test("is not waited for beyond the time that is left", async () => {
    const { told, error } = await run([fault({ retryable: true, retryAfter: 61 }), "late"], { retrySeconds: 60 });
    expect(told).toEqual([]);
    expect(error).toMatchObject({
      fault: {
        message:
          "acme is down. It wants to be asked again in 61 s, which is beyond what is left of the 60 s that tries may take in all (limits.retrySeconds)",
      },
    });
  });

  test("drops what was said before, and tells so", async () => {
    const { heard, told, error } = await run([["hel", down], "hello"]);
    expect({ heard, error }).toEqual({ heard: ["hello"], error: undefined });
    expect(told).toEqual(["acme is down. What came of the answer is dropped. Retrying (1/10)"]);
  });

  test("a minute is waited for, and an interrupt ends the waiting at once", async () => {
    const abort = new AbortController();
    const { told } = await run([fault({ retryable: true, retryAfter: 60 })], {}, { abort, onTold: () => abort.abort() });
    expect(told).toEqual(["acme is down. Retrying in 60 s (1/10)"]);
  });
});

type Step = string | Error | [string, Error];

interface Around {
  abort?: AbortController;
  hasFallback?: boolean;
  onTold?: () => void;
}

async function run(steps: Step[], limits: RetryLimits = {}, { abort = new AbortController(), hasFallback, onTold }: Around = {}) {
  const heard: string[] = [];
  const told: string[] = [];
  const watch = {
    started: () => heard.length > 0,
    restart() {
      heard.length = 0;
      return undefined;
    },
    onRetry(text: string) {
      told.push(text);
      onTold?.();
    },
    ...(hasFallback !== undefined && { hasFallback }),
  };
  let error: unknown;
  try {
    const request = { system: "", messages: [], tools: [] };
    for await (const batch of streamWithRetries(scripted(steps, limits), request, abort.signal, watch)) {
      for (const part of batch) if (part.type === "text") heard.push(part.text);
    }
  } catch (thrown) {
    error = thrown;
  }
  return { heard, told, error };
}

function scripted(steps: Step[], limits: RetryLimits): Model {
  return {
    limits,
    provider: "acme",
    id: "one",
    thinking: false,
    images: false,
    async *stream(_, signal): AsyncIterable<ModelPart[]> {
      if (signal.aborted) throw new DOMException("gone", "AbortError");
      for (const item of [steps.shift() ?? ""].flat()) {
        if (item instanceof Error) throw item;
        yield [{ type: "text", text: item }];
      }
    },
  };
}

function fault(more: Partial<Fault>): ParleyError {
  return new ParleyError({ code: "provider", message: "acme is down", ...more });
}
