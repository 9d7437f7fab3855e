import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Redactor } from "./redact.js";

/** Few letters, those of the usual mask among them, so that secrets overlap, contain each other and meet the mask. */
const letters = fc.string({ unit: fc.constantFrom("a", "b", "[", "]", "r", "e"), maxLength: 14 });
const secret = fc.oneof(
  letters.map((text) => `${text}ababababab`.slice(0, Math.max(8, text.length))),
  fc.constantFrom("redacted", "[redacted", "redacted]", "[redacted]", "aaaaaaaa", "abababab", "babababa", "]abababab["),
);
const secrets = fc.array(secret, { maxLength: 5 });

/** Text made mostly of secrets, pieces of secrets and the letters they are made of. */
function textAround(known: readonly string[]): fc.Arbitrary<string> {
  const piece = known.length === 0 ? letters : fc.oneof(letters, fc.constantFrom(...known), partOf(known));
  return fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join(""));
}

function partOf(known: readonly string[]): fc.Arbitrary<string> {
  return fc
    .tuple(fc.constantFrom(...known), fc.nat(20), fc.nat(20))
    .map(([whole, from, to]) => whole.slice(Math.min(from, to), Math.max(from, to)));
}

const secretsAndText = secrets.chain((known) => fc.tuple(fc.constant(known), textAround(known)));

describe("redaction", () => {
  test("lets no secret through, whatever the secrets share with each other or with the mask", () => {
    fc.assert(
      fc.property(secretsAndText, ([known, text]) => {
        const safe = new Redactor(known).text(text);
        for (const value of known) expect(safe).not.toContain(value);
      }),
      { numRuns: 2000 },
    );
  });

  test("leaves text without a secret as it is", () => {
    fc.assert(
      fc.property(secretsAndText, ([known, text]) => {
        fc.pre(known.every((value) => !text.includes(value)));
        expect(new Redactor(known).text(text)).toBe(text);
      }),
    );
  });

  test("masks all of two secrets that overlap", () => {
    expect(new Redactor(["abcdefgh", "efghijkl"]).text("<abcdefghijkl>")).toBe("<[redacted]>");
  });

  test("masks a secret that contains another as one", () => {
    expect(new Redactor(["inner-key", "outer-inner-key-x"]).text("outer-inner-key-x inner-key")).toBe("[redacted] [redacted]");
  });

  test("masks neighbours one by one", () => {
    expect(new Redactor(["abcdefgh"]).text("abcdefghabcdefgh")).toBe("[redacted][redacted]");
  });

  test("leaves short values alone, which may be ordinary words", () => {
    expect(new Redactor(["1234567"]).text("1234567")).toBe("1234567");
  });

  test("of a stream is the same as of the whole, however it is cut", () => {
    fc.assert(
      fc.property(secretsAndText, fc.array(fc.nat(60), { maxLength: 12 }), ([known, text], cuts) => {
        const redactor = new Redactor(known);
        const stream = redactor.stream();
        const pieces = cutAt(text, cuts).map((piece) => stream.push(piece));
        expect([...pieces, stream.flush()].join("")).toBe(redactor.text(text));
      }),
      { numRuns: 5000 },
    );
  });

  test("of a stream holds back no more than what may still become a secret", () => {
    fc.assert(
      fc.property(secretsAndText, ([known, text]) => {
        const stream = new Redactor(known).stream();
        const safe = text
          .split("")
          .map((letter) => stream.push(letter))
          .join("");
        const longest = Math.max(0, ...known.map((value) => value.length));
        // The held text may be a whole secret within a longer one that never came.
        expect(stream.flush().length).toBeLessThanOrEqual(Math.max(longest - 1, "[redacted]".length));
        if (known.length === 0) expect(text.startsWith(safe)).toBe(true);
      }),
    );
  });

  test("of a stream takes work in proportion to it, also inside one endless run of secrets", () => {
    const stream = new Redactor(["--------"]).stream();
    let out = "";
    for (let n = 0; n < 200_000; n++) out += stream.push("-");
    expect(out + stream.flush()).toBe("[redacted]");
  });

  test("starts over after a flush", () => {
    const stream = new Redactor(["abcdefgh"]).stream();
    expect(stream.push("x abcd") + stream.flush()).toBe("x abcd");
    expect(stream.push("efgh") + stream.flush()).toBe("efgh");
  });

  test("reaches every string of a value, keys too, and keeps the rest", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
        const redactor = new Redactor(["abcdefgh"]);
        expect(redactor.value(value)).toBe(value);
        const holder = { "key-abcdefgh": [value, { deep: ["abcdefgh!", 1, null, true] }] };
        expect(redactor.value(holder)).toEqual({ "key-[redacted]": [value, { deep: ["[redacted]!", 1, null, true] }] });
      }),
    );
  });

  describe("of a secret of several lines", () => {
    const base64 = fc.stringMatching(/^[A-Za-z0-9+/]{64}$/);
    const body = fc.array(base64, { minLength: 1, maxLength: 5 });
    const pem = (lines: readonly string[]): string => ["-----BEGIN PRIVATE KEY-----", ...lines, "-----END PRIVATE KEY-----", ""].join("\n");
    const escaped = (text: string): string => JSON.stringify(text).slice(1, -1);
    /** How it may be given to us. */
    const kept = fc.constantFrom<(text: string) => string>(
      (text) => text,
      (text) => text.replaceAll("\n", "\r\n"),
      escaped,
      (text) => escaped(text.replaceAll("\n", "\r\n")),
      (text) => JSON.stringify({ type: "service_account", private_key: text, client_email: "a@example.com" }),
    );
    /** How it may be shown. */
    const shown = fc.constantFrom<(text: string) => string>(
      (text) => text,
      escaped,
      (text) => escaped(escaped(text)),
      (text) => text.replaceAll("\n", "\r\n"),
      (text) => text.replaceAll(/^/gm, "  12\t"),
      (text) => text.replaceAll(/^/gm, "> "),
    );

    test("no line of it passes, however it is kept, shown and cut", () => {
      fc.assert(
        fc.property(body, kept, shown, fc.array(fc.nat(500), { maxLength: 6 }), (lines, keep, show, cuts) => {
          const redactor = new Redactor([keep(pem(lines))]);
          const text = show(pem(lines));
          const stream = redactor.stream();
          const streamed = [...cutAt(text, cuts).map((piece) => stream.push(piece)), stream.flush()].join("");
          for (const line of lines) {
            expect(redactor.text(text)).not.toContain(line);
            expect(streamed).not.toContain(line);
          }
        }),
      );
    });

    test("its headings are words like others", () => {
      expect(new Redactor([pem(["A".repeat(64)])]).text("-----BEGIN PRIVATE KEY-----")).toBe("-----BEGIN PRIVATE KEY-----");
    });
  });

  test("keeps a key called __proto__ a key", () => {
    const safe = new Redactor(["abcdefgh"]).value(JSON.parse('{"__proto__":{"x":"abcdefgh"}}'));
    expect(JSON.stringify(safe)).toBe('{"__proto__":{"x":"[redacted]"}}');
  });
});

function cutAt(text: string, cuts: readonly number[]): string[] {
  const places = [...new Set(cuts.filter((cut) => cut < text.length))].toSorted((a, b) => a - b);
  return [0, ...places].map((from, index) => text.slice(from, places[index] ?? text.length));
}

describe("a secret that a program has encoded", () => {
  const secret = 'pa55 w0rd/"ü"+k3y';
  const bytes = Buffer.from(secret);
  const shown = {
    "in base64": bytes.toString("base64"),
    "in base64 for the web": bytes.toString("base64url"),
    "in base64, one byte into a longer text": Buffer.from(`:${secret}`).toString("base64"),
    "in base64 behind a user's name": Buffer.from(`ab:${secret}@host`).toString("base64"),
    "in hex digits": bytes.toString("hex"),
    "in capital hex digits": bytes.toString("hex").toUpperCase(),
    "in an address": `https://x/?q=${encodeURIComponent(secret)}`,
    "in JSON": JSON.stringify({ key: secret }),
  };

  test.each(Object.entries(shown))("%s is masked, also in pieces and in a long text", (_, text) => {
    const redactor = new Redactor([secret]);
    const whole = redactor.text(text);
    expect(whole).toContain("[redacted]");
    // At most the characters remain that stand for the text around it, too.
    expect(whole.replace("[redacted]", "").length).toBeLessThan(text.length - bytes.length);
    expect(redactor.text("x ".repeat(300) + text)).toBe("x ".repeat(300) + whole);
    const stream = redactor.stream();
    const pieces = text
      .split("")
      .map((letter) => stream.push(letter))
      .join("");
    expect(pieces + stream.flush()).toBe(whole);
  });
});
