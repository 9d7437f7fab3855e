import { expect, onTestFinished, test } from "vitest";
import type { Agent } from "../../core/agent.js";
import type { Event } from "../../core/event.js";
import { Grammar } from "../../core/grammar.js";
import { createEngine, type EngineOptions } from "../engine.js";
import type { Span, Tracer } from "../trace/tracer.js";
import { scratch } from "../../../test/support/processes.js";

/** A tracer that throws once, when the first turn starts or ends its span. */
function brokenTracer(step: "start" | "end"): Tracer {
  let hasThrown = false;
  const at = (here: typeof step): void => {
    if (here !== step || hasThrown) return;
    hasThrown = true;
    throw new Error(`the tracer broke at the ${here}`);
  };
  const inner: Span = { traceparent: undefined, start: () => inner, set() {}, end() {} };
  return {
    start() {
      at("start");
      return { ...inner, end: () => at("end") };
    },
  };
}

interface Played {
  agent: Agent;
  seen: Event[];
  /** Prompts, and reads until the prompt was refused or its turn has ended. */
  prompt(id: string): Promise<void>;
}

async function open(options: Partial<EngineOptions>): Promise<Played> {
  const agent = createEngine({
    defaults: { cwd: scratch(), mode: "yolo" },
    openModel: () =>
      Promise.resolve({
        provider: "scripted",
        id: "scripted",
        thinking: false,
        images: false,
        async *stream() {
          yield [
            { type: "text" as const, text: "hello" },
            { type: "text.end" as const },
            { type: "finish" as const, reason: "stop" as const },
          ];
        },
      }),
    env: {},
    ...options,
  });
  onTestFinished(() => agent.close());
  const seen: Event[] = [];
  const events = agent.events[Symbol.asyncIterator]();
  await agent.send({ type: "session.open", open: "new", session: "s", config: {} });
  return {
    agent,
    seen,
    async prompt(id) {
      await agent.send({ type: "turn.prompt", session: "s", id, parts: [{ type: "text", text: id }] });
      for (;;) {
        const next = await events.next();
        if (next.done === true) throw new Error("the agent closed");
        seen.push(next.value);
        if (next.value.type === "turn.ended" && next.value.parent === id) return;
        if (next.value.type === "reply" && next.value.parent === id) return;
      }
    },
  };
}

test.each(["start", "end"] as const)("a session goes on after our own code threw at the %s of a turn", async (step) => {
  const { agent, seen, prompt } = await open({ openTracer: () => Promise.resolve(brokenTracer(step)) });
  await prompt("first");
  await prompt("second");
  expect(seen.findLast((event) => event.type === "turn.ended")).toMatchObject({ parent: "second", outcome: "completed" });
  expect(JSON.stringify(seen)).toContain(`the tracer broke at the ${step}`);
  const grammar = new Grammar();
  expect(seen.flatMap((event) => grammar.event(event))).toEqual([]);
  await agent.close();
});
