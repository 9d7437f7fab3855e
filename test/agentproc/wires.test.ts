/** The wires that have no id of their own in the registry, by example; and laws of all of them on generated turns and lines. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Event } from "../../src/core/event.js";
import { Grammar } from "../../src/core/grammar.js";
import type { Launch } from "../../src/core/wire.js";
import { agentproc, attachmentPart, WIRES, type AgentprocOptions } from "../../src/dialects/agentproc/index.js";
import { saidByLine } from "../../src/dialects/agentproc/host/read-events.js";
import { escaped } from "../../src/dialects/agentproc/agent/write-events.js";
import type { Side } from "../../src/dialects/index.js";
import type { Op } from "../../src/core/op.js";
import { FrameReader, encodeLine } from "../../src/os/lines.js";
import { parseTurns, replay } from "../support/conversation.js";

const FOLDER = join(import.meta.dirname, "../../src/dialects/agentproc");
const UNLISTED: [string, AgentprocOptions][] = [
  ["vectors@0.2", { wire: "0.2", permission: true }],
  ["vectors@0.3", { wire: "0.3" }],
  ["vectors@auto", { wire: "auto" }],
];

describe.each(UNLISTED)("%s", (folder, options) => {
  test.each(readdirSync(join(FOLDER, folder, "ok")))("%s goes as it is told", (name) => {
    const told = parseTurns(readFileSync(join(FOLDER, folder, "ok", name), "utf8"));
    for (const [index, heard] of replay(agentproc(options), told).entries()) expect(heard).toEqual(told[index]);
  });
});

describe("options of a profile", () => {
  test("no partials are wanted: the agent hears so, and those that come are dropped", () => {
    const { side, launched } = prompted({ wire: "0.1", streaming: false });
    expect(launched.env["AGENT_STREAMING"]).toBe("0");
    expect(read(side, 'AGENT_PARTIAL:"x"', "body")).toEqual([]);
    expect(reply(side.end({ code: 0 }).in)).toBe("body");
  });

  test("stdin: message is the message and no more; otherwise the input is empty", () => {
    expect(prompted({ wire: "0.1", stdin: "message" }, "a\nb").launched.input).toBe("a\nb");
    expect(prompted({ wire: "0.1" }, "a\nb").launched.input).toBe("");
  });

  test("a message that no variable can hold comes by the input alone, with a warning", () => {
    const { launched, told } = prompted({ wire: "0.1", stdin: "message" }, "é".repeat(70_000));
    expect(launched).toMatchObject({ input: "é".repeat(70_000) });
    expect(launched.env).not.toHaveProperty("AGENT_MESSAGE");
    expect(told).toContainEqual(expect.objectContaining({ type: "notice", level: "warning" }));
  });

  test("a message that no variable can hold is never lost where the input is for answers", () => {
    const { launched } = prompted({ wire: "0.2", stdin: "message", permission: true }, "é".repeat(70_000));
    expect(launched.env).toHaveProperty("AGENT_MESSAGE", "é".repeat(70_000));
  });

  test("a session prefix of its own counts beside the usual one", () => {
    const { side } = prompted({ wire: "0.1", sessionPrefix: "SID:" });
    expect(read(side, "SID:q", "AGENT_SESSION:r").map((event) => "sessionId" in event && event.sessionId)).toEqual(["q", "r"]);
  });

  test("a request for permission that nobody offered is told and not answered", () => {
    const { side } = prompted({ wire: "0.4" });
    const { in: told, out } = side.read({ rec: { type: "permission_request", request_id: "1", tool_name: "Bash", input: {} } });
    expect(out).toEqual([]);
    expect(told).toMatchObject([{ type: "notice", level: "warning" }]);
  });

  test("a line over the cap fails the turn, and so does one that floods the reply", () => {
    const { side } = prompted({ wire: "0.1" });
    side.read({ bad: "The line is longer than 16777216 bytes and was skipped", line: "x" });
    expect(side.end({ code: 0 }).in.at(-1)).toMatchObject({
      type: "turn.ended",
      outcome: "failed",
      reason: expect.stringContaining("longer"),
    });
  });

  test("an id that no next turn could be given is not kept", () => {
    const long = "x".repeat(10_000);
    for (const [wire, line] of [
      ["0.1", `AGENT_SESSION:${long}`],
      ["0.4", JSON.stringify({ type: "partial", text: "", session_id: long })],
    ] as const)
      expect(read(prompted({ wire }).side, line)).toMatchObject([{ type: "notice", level: "warning" }]);
  });

  test("blank lines before anything tells the wire are the reply's, and cost what they are", () => {
    const { side } = prompted({ wire: "auto" });
    for (let count = 0; count < 300_000; count++) side.read({ rec: "" });
    expect(read(side, "x", "y")).toEqual([]);
    expect(reply(side.end({ code: 0 }).in)).toBe(`${"\n".repeat(300_000)}x\ny`);
  });

  test("an agent that asks without end is not listened to without end", () => {
    const { side } = prompted({ wire: "0.4", permission: true });
    const ask = (id: number): string => JSON.stringify({ type: "permission_request", request_id: `r${id}`, tool_name: "Bash", input: {} });
    const told = read(side, ...Array.from({ length: 5000 }, (_, id) => ask(id)));
    expect(told.filter(({ type }) => type === "approval.requested")).toHaveLength(64);
    const answer = (id: number) => side.write({ type: "approval.answer", session: "s", answers: [{ call: `r${id}`, decision: "allow" }] });
    expect(Array.from({ length: 64 }, (_, id) => answer(id).out.length)).toEqual(Array.from({ length: 64 }, () => 1));
    expect(read(side, ask(9999)).some(({ type }) => type === "approval.requested")).toBe(true);
  });

  test("warnings have an end", () => {
    const { side } = prompted({ wire: "0.4" });
    expect(read(side, ...Array.from({ length: 50 }, () => "plain"))).toHaveLength(20);
  });
});

describe("readings", () => {
  const ended = { code: 0, signal: null };
  const S = "AGENT_SESSION:";
  const P = "AGENT_PARTIAL:";
  const E = "AGENT_ERROR:";

  interface Told {
    text?: string;
    session?: string;
    errors?: string[];
    outcome?: string;
    warned?: boolean;
  }

  function told(lines: readonly string[]): Required<Told> {
    const { side } = prompted({ wire: "0.1" });
    const events = [...read(side, ...lines), ...side.end(ended).in];
    return {
      text: reply(events),
      session: events.reduce((last, event) => (event.type === "session.updated" ? (event.sessionId ?? "") : last), ""),
      errors: events.flatMap((event) => (event.type === "error" ? [event.fault.message] : [])),
      outcome: events.flatMap((event) => (event.type === "turn.ended" ? [event.outcome] : []))[0] ?? "",
      warned: events.some((event) => event.type === "notice" && event.level === "warning"),
    };
  }

  test.each<[string, string[], Told]>([
    [
      "A4: a prefix is matched on the line as it is",
      [` ${S}x`, `\t${E}"x"`, "agent_error:x"],
      { text: ` ${S}x\n\t${E}"x"\nagent_error:x` },
    ],
    ["A5: what stands behind it is trimmed", [`${S}  pad  `, `${P}  "x"  `], { session: "pad", text: "x" }],
    ["A6: what is no JSON stands for itself, with a warning", [`${P}not json`], { text: "not json", warned: true }],
    ["A7: JSON that is no string stands for itself", [`${P}42`, `${P}{"k":1}`], { text: '42{"k":1}', warned: false }],
    ["A9: an id may hold what a file name may not", [`${S}a/b`], { session: "a/b", warned: false }],
    [
      "A9: white space, control characters and colons make none",
      [`${S}ok`, `${S}a b`, `${S}a:b`, `${S}a\u0007b`, S],
      { session: "ok", warned: true },
    ],
    ["A10, A11: a session counts in a turn that fails, too", [`${E}"x"`, `${S}s9`], { session: "s9", outcome: "failed" }],
    [
      "A12: an error after partials keeps them and drops the rest",
      [`${P}"a"`, "b", `${E}"x"`, `${P}"c"`, "d"],
      { text: "a", errors: ["x"] },
    ],
    ["A13: the first error counts", [`${E}"e1"`, `${E}"e2"`], { errors: ["e1"] }],
    ["A14: an error without words fails the turn", [`${E}""`], { outcome: "failed", errors: [expect.stringMatching(/./)] }],
    ["A15: partials and a body are both the reply", [`${P}"a"`, "b"], { text: "ab" }],
    ["last wins", [`${S}a`, `${S}b`, "done"], { session: "b", text: "done" }],
  ])("%s", (_name, lines, expected) => {
    expect(told(lines)).toMatchObject(expected);
  });

  test("A32, A33: variables of attachments", () => {
    const launched = (...types: ("image" | "file")[]): Launch["env"] => {
      const side = agentproc({ wire: "0.1" }).hostSide(counting());
      side.write({ type: "session.open", session: "s", open: "new" });
      const parts = types.map((type, at) => attachmentPart({ type, url: `u${at}`, name: "" }));
      const { out } = side.write({ type: "turn.prompt", session: "s", parts });
      return out.flatMap((each) => ("launch" in each ? [each.launch.env] : []))[0] ?? {};
    };
    expect(launched()).not.toHaveProperty("AGENT_ATTACHMENTS");
    expect(launched("image", "file")).toMatchObject({ AGENT_IMAGE_URL: "u0", AGENT_FILE_URL: "u1", AGENT_ATTACHMENTS: expect.any(String) });
    expect(launched("image", "image", "file")).toMatchObject({ AGENT_FILE_URL: "u2" });
    expect(launched("image", "image", "file")).not.toHaveProperty("AGENT_IMAGE_URL");
  });
});

describe("bytes", () => {
  /** What a host reads of them, in pieces of a few bytes. */
  function heard(bytes: Buffer, options: AgentprocOptions = { wire: "0.1" }, cap?: number): Event[] {
    const { side } = prompted(options);
    const reader = new FrameReader("text", cap);
    const frames = Array.from({ length: Math.ceil(bytes.length / 3) }, (_, at) => reader.push(bytes.subarray(3 * at, 3 * at + 3))).flat();
    return [...[...frames, ...reader.end()].flatMap((frame) => side.read(frame).in), ...side.end({ code: 0 }).in];
  }

  test.each([
    ["A25: one CR at the end of a line goes", "a\r\nb\r\r\n", "a\nb\r"],
    ["A25: a lone CR is data", "a\rAGENT_SESSION:s1\n", "a\rAGENT_SESSION:s1"],
    ["A26: a character that is cut in two is whole", "😀你好\n", "😀你好"],
    ["A27: a byte order mark goes", "\uFEFFAGENT_ERROR\n\uFEFFb\n", "AGENT_ERROR\n\uFEFFb"],
    ["blank lines stay", "\n\na\n\n\nb\n\n", "\n\na\n\n\nb\n"],
    ["U+2028 ends no line", "a\u2028AGENT_ERROR:x\n", "a\u2028AGENT_ERROR:x"],
    ["a last line without an end counts", "a\nb", "a\nb"],
  ])("%s", (_name, text, expected) => {
    expect(reply(heard(Buffer.from(text)))).toBe(expected);
  });

  test("A26: an invalid byte is U+FFFD, and later lines are read", () => {
    const events = heard(Buffer.from([0x61, 0xff, 0x62, 0x0a, ...Buffer.from("AGENT_SESSION:s1\n")]));
    expect(reply(events)).toBe("a\uFFFDb");
    expect(events).toContainEqual(expect.objectContaining({ type: "session.updated", sessionId: "s1" }));
  });

  test("A26: so it is within JSON", () => {
    const bytes = Buffer.concat([Buffer.from('{"type":"result","text":"a'), Buffer.from([0xff]), Buffer.from('b"}\n')]);
    expect(reply(heard(bytes, { wire: "0.4" }))).toBe("a\uFFFDb");
  });

  test("A28: a line over the cap fails the turn, and what comes behind it is read", () => {
    const events = heard(Buffer.from(`${"x".repeat(100)}\nAGENT_SESSION:s1\n`), { wire: "0.1" }, 64);
    expect(events).toContainEqual(expect.objectContaining({ type: "session.updated", sessionId: "s1" }));
    expect(events.at(-1)).toMatchObject({ outcome: "failed", reason: expect.stringContaining("longer than 64 bytes") });
  });

  test.each(["0.1", "0.4"] as const)("%s: JSON of endless depth is only text", (wire) => {
    const deep = "[".repeat(100_000) + "]".repeat(100_000);
    const line = wire === "0.1" ? `AGENT_PARTIAL:${deep}` : `{"type":"permission_request","input":${deep}}`;
    expect(heard(Buffer.from(`${line}\n`), { wire }).some((event) => event.type === "notice")).toBe(true);
  });
});

describe("laws", () => {
  const anyText = fc.oneof(
    fc.string({ unit: "grapheme", minLength: 1 }),
    fc.constantFrom("AGENT_ERROR:x", "a\nAGENT_SESSION:y", "a\rAGENT_PARTIAL:z", "a\r\nb", "AGENT_PERMISSION_REQUEST:{}"),
  );
  const anyLine = fc.oneof(
    fc.string(),
    fc.string({ unit: "grapheme" }),
    fc
      .tuple(
        fc.constantFrom("AGENT_SESSION:", "AGENT_PARTIAL:", "AGENT_ERROR:", "AGENT_PERMISSION_REQUEST:", " AGENT_ERROR:", "SID:"),
        fc.string(),
      )
      .map(([prefix, rest]) => prefix + rest),
    fc.json(),
    fc.json().map((json) => `AGENT_PARTIAL:${json}`),
  );

  test("a line without one of the prefixes is body, verbatim; one with it never is", () => {
    fc.assert(
      fc.property(anyLine, (line) => {
        const isBody = !/^(AGENT_(SESSION|PARTIAL|ERROR|PERMISSION_REQUEST)|SID):/.test(line);
        const said = saidByLine(line, "SID:", true);
        if (isBody) expect(said).toEqual([{ is: "body", text: line }]);
        else expect(said.every(({ is }) => is !== "body")).toBe(true);
      }),
    );
  });

  test("any text goes through an error, a partial and an escaped body", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(saidByLine(`AGENT_PARTIAL:${JSON.stringify(text)}`, "", true)).toEqual([{ is: "partial", text, role: "output" }]);
        expect(saidByLine(`AGENT_ERROR:${JSON.stringify(text)}`, "", true)).toEqual([{ is: "error", text }]);
        for (const line of escaped(text).split("\n")) expect(saidByLine(line, "", true)).toEqual([{ is: "body", text: line }]);
      }),
    );
  });

  test.each(WIRES)("%s: whatever an agent writes, its turn is grammatical and ends once", (wire) => {
    fc.assert(
      fc.property(fc.array(anyLine, { maxLength: 12 }), fc.boolean(), fc.constantFrom(0, 1, 143), (lines, permission, code) => {
        const { side, told } = prompted({ wire, permission });
        const events = [...told, ...read(side, ...lines), ...side.end({ code }).in];
        const grammar = new Grammar();
        expect([...events.flatMap((event) => grammar.event(event)), ...grammar.end()]).toEqual([]);
        expect(events.filter(({ type }) => type === "turn.ended")).toHaveLength(1);
      }),
    );
  });

  test.each(WIRES.filter((wire) => wire !== "auto"))(
    "%s: what our agent says to any text our host reads, however the bytes are cut",
    (wire) => {
      fc.assert(
        fc.property(
          fc.array(anyText, { minLength: 1, maxLength: 4 }),
          fc.boolean(),
          fc.integer({ min: 1, max: 9 }),
          (blocks, streaming, size) => {
            const { side: host, launched, first } = prompted({ wire, streaming });
            const agent = agentproc({ wire }).agentSide(counting());
            agent.read({ launch: launched });
            if (first !== undefined) agent.read({ rec: first });
            const address = { session: "s", turn: "t" };
            const events: Event[] = blocks.flatMap((text): Event[] => [
              { type: "text.delta", ...address, text },
              { type: "text.done", ...address, text, streamed: true },
            ]);
            const out = [...events, { type: "turn.ended" as const, ...address, outcome: "completed" as const }].flatMap(
              (event) => agent.write(event).out,
            );
            const bytes = Buffer.from(out.map((each) => ("rec" in each ? encodeLine("text", each.rec) : "")).join(""));
            const reader = new FrameReader("text");
            const frames = [];
            for (let at = 0; at < bytes.length; at += size) frames.push(...reader.push(bytes.subarray(at, at + size)));
            const heard = [...[...frames, ...reader.end()].flatMap((frame) => host.read(frame).in), ...host.end({ code: 0 }).in];
            const whole = blocks.join("\n\n");
            // A body is lines: it keeps the space of the escape, and an end of line is LF.
            const expected = wire < "0.3" && !streaming ? escaped(whole).replaceAll(/\r(?=\n|$)/g, "") : whole;
            expect(reply(heard)).toBe(expected);
          },
        ),
      );
    },
  );
});

/** A host's side whose turn has begun. */
function prompted(options: AgentprocOptions, text = "hi") {
  const side = agentproc(options).hostSide(counting());
  const opened = side.write({ type: "session.open", id: "o", session: "s", open: "new" });
  const { in: told, out } = side.write({ type: "turn.prompt", id: "p", session: "s", turn: "t", parts: [{ type: "text", text }] });
  const launched = out.flatMap((each) => ("launch" in each ? [each.launch] : []))[0];
  if (launched === undefined) throw new Error("nothing was launched");
  const [first] = out.flatMap((each) => ("rec" in each ? [each.rec] : []));
  return { side, launched, first, told: [...opened.in, ...told] };
}

function read(side: Side<Event, Op>, ...lines: string[]): Event[] {
  return lines.flatMap((rec) => side.read({ rec }).in);
}

function reply(events: readonly Event[]): string {
  return events.map((event) => (event.type === "text.done" ? event.text : "")).join("");
}

function counting() {
  let made = 0;
  return { stamp: () => ({ id: `${++made}`, at: 0 }) };
}
