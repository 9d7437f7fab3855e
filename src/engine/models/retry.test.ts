import { describe, expect, test } from "vitest";
import { ParleyError, type Fault } from "../../core/errors.js";
import type { Model, ModelPart } from "./model.js";
import { streamWithRetries } from "./retry.js";

describe("another try", () => {
  test("is made for what is retryable, three times at most, each with its number", async () => {
    const down = fault({ retryable: true, retryAfter: 0 });
    const { heard, told, error } = await run([down, down, down, down, "late"]);
    expect(told).toEqual([1, 2, 3].map((attempt) => `acme is down. Retrying (${attempt}/3)`));
    expect(heard).toEqual([]);
    expect(error).toBe(down);
  });

  test("gives what the first good one says", async () => {
    expect(await run([fault({ retryable: true, retryAfter: 0 }), "hello"])).toMatchObject({ heard: ["hello"], error: undefined });
  });

  test.each([
    ["what is not retryable", fault({ retryable: false })],
    ["what is not ours", new Error("a bug")],
    ["a wait of more than a minute", fault({ retryable: true, retryAfter: 61 })],
  ])("is not made for %s", async (_, failure) => {
    expect(await run([failure, "late"])).toEqual({ heard: [], told: [], error: failure });
  });

  test("is not made once something was said", async () => {
    const failure = fault({ retryable: true, retryAfter: 0 });
    const { heard, told, error } = await run([["hel", failure], "hello"]);
    expect({ heard, told }).toEqual({ heard: ["hel"], told: [] });
    expect(error).toBe(failure);
  });

  test("a minute is waited for, and an interrupt ends the waiting at once", async () => {
    const abort = new AbortController();
    const { told } = await run([fault({ retryable: true, retryAfter: 60 })], abort, () => abort.abort());
    expect(told).toEqual(["acme is down. Retrying in 60 s (1/3)"]);
  });
});

type Step = string | Error | [string, Error];

async function run(steps: Step[], abort = new AbortController(), onTold: () => void = () => {}) {
  const heard: string[] = [];
  const told: string[] = [];
  const watch = {
    started: () => heard.length > 0,
    onRetry(text: string) {
      told.push(text);
      onTold();
    },
  };
  let error: unknown;
  try {
    for await (const batch of streamWithRetries(scripted(steps), { system: "", messages: [], tools: [] }, abort.signal, watch)) {
      for (const part of batch) if (part.type === "text") heard.push(part.text);
    }
  } catch (thrown) {
    error = thrown;
  }
  return { heard, told, error };
}

function scripted(steps: Step[]): Model {
  return {
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
