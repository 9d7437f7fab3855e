import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Message, ModelPart } from "../model.js";
import { openRehearsal } from "./index.js";
import { callsOf, partsOf, requestOf, textOf, user } from "./testing.js";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "rehearsal-"));
});
afterAll(() => rm(folder, { recursive: true }));

let files = 0;
async function script(text: string, name = `script-${++files}.yaml`): Promise<string> {
  const file = join(folder, name);
  await writeFile(file, text);
  return file;
}

async function open(text: string, seed?: number) {
  return openRehearsal({ script: await script(text), ...(seed !== undefined && { seed }) });
}

const hi = requestOf([user("hi")]);
const types = (parts: readonly ModelPart[]) => parts.map((part) => part.type);

describe("a response", () => {
  test("thinks, speaks and calls, in this order", async () => {
    const parts = await partsOf(await open("- { say: Let me look., think: Hmm, call: { tool: Read, args: { file_path: a } } }"), hi);
    expect(parts).toEqual([
      { type: "thinking", text: "Hmm" },
      { type: "thinking.end" },
      { type: "text", text: "Let" },
      { type: "text", text: " me" },
      { type: "text", text: " look." },
      { type: "text.end" },
      { type: "call.delta", id: "call_1", name: "Read", text: '{"file_p' },
      { type: "call.delta", id: "call_1", text: 'ath":"a"' },
      { type: "call.delta", id: "call_1", text: "}" },
      { type: "call", call: { id: "call_1", name: "Read", args: { file_path: "a" } } },
      { type: "usage", usage: { input: 1, output: 8, reasoning: 1 } },
      { type: "finish", reason: "tool_calls" },
    ]);
  });

  test("calls in parallel, with ids of its own or counted ones", async () => {
    const model = await open("- calls: [{ tool: A, id: t1 }, { tool: B }]\n- call: { tool: C }");
    expect(callsOf(await partsOf(model, hi))).toEqual([
      { id: "t1", name: "A", args: {} },
      { id: "call_1", name: "B", args: {} },
    ]);
    expect(callsOf(await partsOf(model, hi))).toEqual([{ id: "call_2", name: "C", args: {} }]);
  });

  test("ends a block, breaks a call off and fails in its own way: each once", async () => {
    const model = await open(`
- steps: [{ say: { pieces: [a], end: true } }, { say: b }, { call: { tool: W, args: '{"x', id: c, partial: true } }]
  cut: { message: gone, code: context_overflow, retryable: false }
  usage: { input: 1, output: 2 }
  notes: [no images]
- { say: c, usage: false, finish: other }`);
    const parts: ModelPart[] = [];
    const asked = (async () => {
      for await (const batch of model.stream(hi, new AbortController().signal)) parts.push(...batch);
    })();
    await expect(asked).rejects.toMatchObject({ fault: { code: "context_overflow", message: "gone", retryable: false } });
    expect(parts).toEqual([
      { type: "note", text: "no images" },
      { type: "text", text: "a" },
      { type: "text.end" },
      { type: "text", text: "b" },
      { type: "text.end" },
      { type: "call.delta", id: "c", name: "W", text: '{"x' },
      { type: "usage", usage: { input: 1, output: 2 } },
    ]);
    expect(types(await partsOf(model, hi))).toEqual(["text", "text.end", "finish"]);
  });

  test("writes broken arguments", async () => {
    const [broken] = callsOf(await partsOf(await open('- call: { tool: A, args: "not json {" }'), hi));
    expect(broken).toEqual({ id: "call_1", name: "A", args: {}, raw: "not json {" });
  });

  test("argument pieces make up the arguments, whatever they contain", async () => {
    const parts = await partsOf(await open(`- call: { tool: A, args: { text: "${"🙂é".repeat(50)}" } }`), hi);
    const written = parts.map((part) => (part.type === "call.delta" ? part.text : ""));
    expect(JSON.parse(written.join(""))).toEqual(callsOf(parts)[0]?.args);
    expect(written.every((text) => text.isWellFormed())).toBe(true);
  });

  test("speaks in given pieces, or the same piece many times", async () => {
    const model = await open('- say: { pieces: [a, "b c", d] }\n- say: { text: "word ", pieces: 20000 }');
    const texts = async () => (await partsOf(model, hi)).flatMap((part) => (part.type === "text" ? [part.text] : []));
    expect(await texts()).toEqual(["a", "b c", "d"]);
    const many = await texts();
    expect(many).toHaveLength(20_000);
    expect(new Set(many)).toEqual(new Set(["word "]));
  });

  test("takes steps in their own order; speech around a wait is one text", async () => {
    const parts = await partsOf(
      await open("- steps: [{ say: a }, { wait: 1 }, { say: b }, { call: { tool: T } }, { think: c }, { say: d }]\n  finish: length"),
      hi,
    );
    expect(types(parts)).toEqual([
      "text",
      "text",
      "text.end",
      "call.delta",
      "call",
      "thinking",
      "thinking.end",
      "text",
      "text.end",
      "usage",
      "finish",
    ]);
    expect(parts.at(-1)).toEqual({ type: "finish", reason: "length" });
  });

  test("reports the usage it is told", async () => {
    const parts = await partsOf(await open("- { say: a, usage: { input: 10, output: 5, cacheRead: 3 } }"), hi);
    expect(parts).toContainEqual({ type: "usage", usage: { input: 10, output: 5, cacheRead: 3 } });
  });

  test("may be plain text, and a script may be JSON", async () => {
    const model = await openRehearsal({ script: await script('["one", "two"]', "script.json") });
    expect(textOf(await partsOf(model, hi))).toBe("one");
    expect(textOf(await partsOf(model, hi))).toBe("two");
  });
});

describe("usage that is not given", () => {
  test("counts every message of the request", async () => {
    const messages: Message[] = [
      user("12345678"),
      {
        role: "assistant",
        blocks: [
          { type: "text", text: "1234" },
          { type: "call", call: { id: "x", name: "T", args: { a: 1 } } },
        ],
      },
      { role: "tool", results: [{ call: "x", name: "T", parts: [{ type: "text", text: "12345" }], failed: false }] },
    ];
    const model = await open("- say: 12345\n".replace("12345", '"12345"'));
    const usage = (await partsOf(model, requestOf(messages))).find((part) => part.type === "usage");
    expect(usage).toEqual({ type: "usage", usage: { input: 6, output: 2 } });
  });
});

describe("after the last response", () => {
  test.each([
    ["", ["a", "(end of the script)", "(end of the script)"]],
    ["then: stop", ["a", "(end of the script)", "(end of the script)"]],
    ["then: repeat", ["a", "a", "a"]],
    ["then: orders", ["a", "obeyed", "obeyed"]],
  ])("%s", async (then, said) => {
    const model = await open(`responses: [a]\n${then}`);
    const order = requestOf([user("say obeyed")]);
    expect([textOf(await partsOf(model, order)), textOf(await partsOf(model, order)), textOf(await partsOf(model, order))]).toEqual(said);
  });
});

describe("failures", () => {
  test("so many times, then the response", async () => {
    const model = await open("- { fail: { status: 429, message: Slow down, retryAfter: 0, times: 2 }, say: ok }\n- next");
    const fault = { code: "provider", status: 429, message: "Slow down", retryable: true, retryAfter: 0 };
    await expect(partsOf(model, hi)).rejects.toMatchObject({ fault });
    await expect(partsOf(model, hi)).rejects.toMatchObject({ fault });
    expect(textOf(await partsOf(model, hi))).toBe("ok");
    expect(textOf(await partsOf(model, hi))).toBe("next");
  });

  test("uncounted: for as long as the same request is tried", async () => {
    const model = await open("- fail: 503\n- next");
    await expect(partsOf(model, hi)).rejects.toMatchObject({ fault: { status: 503, retryable: true } });
    await expect(partsOf(model, hi)).rejects.toMatchObject({ fault: { status: 503 } });
    expect(textOf(await partsOf(model, requestOf([user("again")])))).toBe("next");
  });

  test("without a status the connection is lost; a refused key is final", async () => {
    const model = await open("- fail: { message: gone }\n- fail: { status: 401 }");
    await expect(partsOf(model, hi)).rejects.toMatchObject({ fault: { code: "provider", message: "gone", retryable: true } });
    await expect(partsOf(model, requestOf([user("b")]))).rejects.toMatchObject({ fault: { status: 401, retryable: false } });
  });

  test("a cut comes after the output", async () => {
    const model = await open("- { say: partial, cut: true }");
    const seen: ModelPart[] = [];
    const read = async () => {
      for await (const batch of model.stream(hi, new AbortController().signal)) seen.push(...batch);
    };
    await expect(read()).rejects.toMatchObject({ fault: { code: "provider", retryable: true } });
    expect(seen).toEqual([{ type: "text", text: "partial" }]);
  });
});

describe("expectations", () => {
  const messages: Message[] = [
    user("please read a.txt"),
    { role: "tool", results: [{ call: "x", name: "Read", parts: [{ type: "text", text: "milk" }], failed: false }] },
  ];
  const request = requestOf(messages, ["Read", "Bash"], "You are kind.");

  test.each([
    "lastUser: read",
    'lastUser: "/^please .*txt$/"',
    'lastUser: "/PLEASE/i"',
    "toolResult: milk",
    "tools: [Read]",
    "system: kind",
    "messages: 2",
  ])("%s holds", async (line) => {
    expect(textOf(await partsOf(await open(`- { expect: { ${line} }, say: ok }`), request))).toBe("ok");
  });

  test.each([
    ["lastUser: write", 'the last user message should contain "write"; it is "please read a.txt"'],
    ['lastUser: "/^read/"', 'the last user message should match "/^read/"; it is "please read a.txt"'],
    ["toolResult: bread", 'the last tool result should contain "bread"; it is "milk"'],
    ["tools: [Read, Spawn]", "tools should offer Spawn; offered: Read, Bash"],
    ["system: rude", 'the system prompt should contain "rude"; it is "You are kind."'],
    ["messages: 4", "the request should have 4 messages; it has 2"],
  ])("%s fails", async (line, words) => {
    const model = await open(`- { expect: { ${line} }, say: ok }`);
    const fault = { code: "provider", retryable: false, message: `rehearsal expectation failed: ${words}` };
    await expect(partsOf(model, request)).rejects.toMatchObject({ fault });
  });
});

describe("aborting", () => {
  test.each([
    "- steps: [{ say: a }, { wait: forever }, { say: b }]",
    "- steps: [{ say: a }, { wait: 600000 }, { say: b }]",
    "- say: { text: a, pieces: 100000000 }",
  ])("%s stops at once", async (text) => {
    const abort = new AbortController();
    const model = await open(text);
    let seen = 0;
    for await (const batch of model.stream(hi, abort.signal)) {
      expect(batch).toEqual([{ type: "text", text: "a" }]);
      if (++seen === 1) setImmediate(() => abort.abort());
    }
    expect(abort.signal.aborted).toBe(true);
  });

  test("before it starts, nothing is used up", async () => {
    const model = await open("- one");
    expect(await partsOf(model, hi, AbortSignal.abort())).toEqual([]);
    expect(textOf(await partsOf(model, hi))).toBe("one");
  });
});

test("a seed cuts text at other places, always the same ones, and loses nothing", async () => {
  const text = "Ein 🙂 langer Satz, der in Stücke geschnitten wird.";
  const [one, again, other] = await Promise.all([1, 1, 2].map(async (seed) => partsOf(await open(`- "${text}"`, seed), hi)));
  expect(one).toEqual(again);
  expect(one).not.toEqual(other);
  expect(textOf(one ?? [])).toBe(text);
});

describe("a wrong script", () => {
  test.each([
    ["responses:\n  - sya: hi\n", "2:5: 'sya' is not a key of a response; did you mean 'say'? Allowed: expect, fail, think, say,"],
    ["responses:\n  - say: hi\nthan: stop\n", "3:1: 'than' is not a key of a script; did you mean 'then'? Allowed: responses, then"],
    ["then: stop", "1:1: a script needs the key 'responses'"],
    ["responses: []", "1:12: a script needs at least one response"],
    ["- say: 3\n", "1:8: expected text, not 3; put it in quotes"],
    ["- call:\n    args: {}\n", "2:5: a call needs the key 'tool'"],
    ["- call: { tool: Read, arg: {} }\n", "1:23: 'arg' is not a key of a call; did you mean 'args'? Allowed: tool, args, id"],
    ["- call: [Read]\n", "1:9: a call must be a map with the keys tool, args, id"],
    ["- steps: [{ wait: soon }]\n", "1:19: wait is a number of milliseconds, or forever"],
    ["- steps: [{ say: a, wait: 1 }]\n", "1:11: a step has exactly one of think, say, wait, call"],
    ["- { say: a, finish: done }\n", "1:21: finish is one of stop, tool_calls, length, pause, refusal, content_filter"],
    ["- { say: a, steps: [] }\n", "1:3: a response has steps, or think, say and call, not both"],
    ["- { call: { tool: A }, calls: [] }\n", "1:3: a response has call or calls, not both"],
    ["- say: { pieces: 3 }\n", "1:8: speech is text, or {text, pieces: NUMBER}, or {pieces: [LIST OF TEXTS]}"],
    ["- usage: { input: -1, output: 1 }\n", "1:19: expected 0 or more"],
    ["- expect: { lastUser: '/(/' }\n", "1:23: '/(/' is not a regular expression"],
    ["- say: 'open\n", "2:1: Missing closing 'quote"],
    ["a: b: c\n", "1:4: Nested mappings are not allowed in compact mappings"],
    ["", "1:1: a script must be a map with the keys responses, then"],
  ])("%j", async (text, message) => {
    const file = await script(text);
    await expect(openRehearsal({ script: file })).rejects.toMatchObject({
      fault: { code: "config", retryable: false, message: expect.stringContaining(`${file}:${message}`) },
    });
  });

  test("that is not there is named, with the remedy", async () => {
    const file = join(folder, "nowhere.yaml");
    await expect(openRehearsal({ script: file })).rejects.toMatchObject({
      fault: {
        code: "config",
        message: `Could not read the rehearsal script '${file}': there is no such file. Name a YAML or JSON file, or leave the model out for plain orders.`,
      },
    });
  });
});

test("the model tells what it is", async () => {
  const file = await script("- hi");
  expect(await openRehearsal({ script: file })).toMatchObject({ provider: "rehearsal", id: file, contextLimit: 200_000 });
  expect(await openRehearsal({})).toMatchObject({ provider: "rehearsal", id: "rehearsal" });
});
