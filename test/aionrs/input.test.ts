/** Bad input: every line is answered by what is wrong with it, the process and its session live on, and framing means what it says. */
import { describe, expect, it } from "vitest";
import { ready } from "./host.js";

const LINES: [string, string | Buffer, RegExp][] = [
  ["malformed JSON", "not json\n", /not JSON.*not json/],
  ["half an object", '{"type":"stop"\n', /not JSON/],
  ["two objects", '{"type":"stop"}{"type":"stop"}\n', /not JSON/],
  ["an unknown type", '{"type":"foo"}\n', /^Unknown command type: foo$/],
  ["a command of another protocol", '{"type":"approval_resume","model":"x"}\n', /^Unknown command type: approval_resume$/],
  ["a name that every object has", '{"type":"constructor"}\n', /^Unknown command type: constructor$/],
  ["no type", '{"msg_id":"x"}\n', /"type"/],
  ["a type that is no string", '{"type":1}\n', /"type"/],
  ["an array", "[]\n", /an array/],
  ["null", "null\n", /null/],
  ["a string", '"s"\n', /a string/],
  ["a number", "1\n", /a number/],
  ["a message without msg_id", '{"type":"message","input":"x"}\n', /^Invalid message: msg_id/],
  ["a message without input", '{"type":"message","msg_id":"m"}\n', /^Invalid message: input is missing/],
  ["a message whose input is null", '{"type":"message","msg_id":"m","input":null}\n', /^Invalid message: input is missing/],
  ["a msg_id that is no string", '{"type":"message","msg_id":1,"input":"x"}\n', /^Invalid message: msg_id/],
  ["an input that is no string", '{"type":"message","msg_id":"m","input":{}}\n', /^Invalid message: input/],
  ["files that are no list", '{"type":"message","msg_id":"m","input":"x","files":"a"}\n', /^Invalid message: files/],
  ["files that are no strings", '{"type":"message","msg_id":"m","input":"x","files":[1]}\n', /^Invalid message: files\.0/],
  ["an approval of nothing", '{"type":"tool_approve"}\n', /^Invalid tool_approve: call_id/],
  ["an unknown scope", '{"type":"tool_approve","call_id":"x","scope":"ever"}\n', /^Invalid tool_approve: scope/],
  ["a denial of nothing", '{"type":"tool_deny","reason":"x"}\n', /^Invalid tool_deny: call_id/],
  ["a reason that is no string", '{"type":"tool_deny","call_id":"x","reason":1}\n', /^Invalid tool_deny: reason/],
  ["a history without text", '{"type":"init_history"}\n', /^Invalid init_history: text/],
  ["an unknown mode", '{"type":"set_mode","mode":"sideways"}\n', /^Invalid set_mode: mode/],
  ["no mode", '{"type":"set_mode"}\n', /^Invalid set_mode: mode/],
  ["broken UTF-8", Buffer.from([0x7b, 0xff, 0xfe, 0x7d, 0x0a]), /UTF-8/],
  ["a line over the cap", `{"type":"stop","x":"${"a".repeat(3000)}"}\n`, /longer than 2048 bytes/],
  ["a nest that is too deep", `${"[".repeat(900)}\n`, /levels deep/],
];

describe("a bad line", () => {
  it("is answered by what is wrong with it, idle and in a turn, and the session lives on", async () => {
    const host = await ready({ config: { limits: { lineBytes: 2048 } } });
    let told = 0;
    for (const when of ["idle", "in a turn"]) {
      if (when === "in a turn") {
        host.message("m1", "wait forever");
        await host.next("stream_start");
      }
      for (const [name, line, words] of LINES) {
        host.raw(line);
        const at = told++;
        const event = await host.next("error", (one) => host.of("error").indexOf(one) === at);
        expect(event, `${name}, ${when}`).toEqual({
          type: "error",
          msg_id: null,
          error: { code: "protocol_error", message: expect.stringMatching(words), retryable: false },
        });
      }
    }
    host.send({ type: "stop" });
    await host.stream("m1");
    host.message("m2", "say fine");
    await host.stream("m2");
    expect([host.text("m2"), host.of("error").length]).toEqual(["fine", 2 * LINES.length]);
    expect(await host.finish()).toBe(0);
  });

  it("is not repeated at length", async () => {
    const host = await ready();
    const long = "x".repeat(100_000);
    host.raw(
      `${long}\n{"type":"${long}"}\n{"type":"set_mode","mode":"${long}"}\n{"type":"tool_approve","call_id":"x","scope":"${long}"}\n`,
    );
    await host.settled();
    const lengths = host.of("error").map(({ error }) => error.message.length);
    expect(lengths).toHaveLength(5);
    expect(Math.max(...lengths)).toBeLessThan(500);
  });
});

describe("lines", () => {
  it("end at LF: a byte order mark, CRLF, blank lines, blanks around them and chunks anyhow mean the same", async () => {
    const host = await ready();
    const text =
      '\uFEFF{"type":"stop"}\r\n\n  \r\n{"type":"message","msg_id":"m1","input":"say ünï 🦜"}\r\n\t\n {"type":"message","msg_id":"m2","input":"say two"} \n';
    for (const byte of Buffer.from(text)) {
      host.raw(Buffer.from([byte]));
      await new Promise((resolve) => setImmediate(resolve));
    }
    await host.stream("m2");
    expect([host.text("m1"), host.text("m2"), host.of("error")]).toEqual(["ünï 🦜", "two", []]);
  });

  it("may hold U+2028 and every other character", async () => {
    const host = await ready({ responses: [{ expect: { lastUser: "a\u2028b\u2029c\u0085d\u0000e\ud83e\udd9c" }, say: "ok" }] });
    host.message("m1", "a\u2028b\u2029c\u0085d\u0000e\ud83e\udd9c");
    await host.stream("m1");
    expect(host.text("m1")).toBe("ok");
  });

  it("count without LF at the end of input", async () => {
    const host = await ready();
    host.raw('{"type":"message","msg_id":"m1","input":"say last"}');
    expect(await host.finish()).toBe(0);
    expect(host.text("m1")).toBe("last");
  });

  it("may be a megabyte long", async () => {
    const host = await ready({ responses: [{ say: "ok" }] });
    host.message("m1", "x".repeat(1_000_000));
    await host.stream("m1");
    expect(host.text("m1")).toBe("ok");
  });
});

describe("a good line", () => {
  it("may have unknown fields, and content in place of input; input counts where both are there", async () => {
    const host = await ready();
    host.raw('{"type":"message","msg_id":"m1","content":"say one","future":{"a":1}}\n');
    host.raw('{"type":"message","msg_id":"m2","input":"say two","content":"say no","files":null}\n');
    host.raw('{"type":"message","msg_id":"m3","input":"","content":"say no"}\n');
    await host.stream("m3");
    expect([host.text("m1"), host.text("m2"), host.text("m3").includes("no")]).toEqual(["one", "two", false]);
    expect(host.of("error")).toEqual([]);
  });
});
