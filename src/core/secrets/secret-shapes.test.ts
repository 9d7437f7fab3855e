import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Redactor } from "./redact.js";
import { ShapeStream, shapesIn } from "./secret-shapes.js";

const HEX = "0123456789abcdef";
const MIXED = "AbCdEfGhIjKlMnOpQrStUvWxYz0123456789AbCdEfGhIjKlMnOpQrStUvWxYz0123456789";
const JWT = `eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4ifQ.${MIXED.slice(0, 43)}`;
const LINE = `MIIEvQIBADANBgkqhkiG9w0BAQ/FAASCB+${MIXED.slice(0, 30)}`;

const SECRETS = [
  `sk-ant-api03-${MIXED}-_${HEX}AA`,
  `sk-proj-${MIXED.slice(0, 40)}_${MIXED}`,
  `sk-or-v1-${HEX.repeat(4)}`,
  `sk-${HEX.repeat(2)}`,
  `sk-${"T3BlbkFJ".repeat(6)}`,
  `ghp_${MIXED.slice(0, 36)}`,
  `gho_${MIXED.slice(0, 36)}`,
  `ghs_${MIXED.slice(0, 36)}`,
  `github_pat_${MIXED.slice(0, 22)}_${MIXED.slice(0, 59)}`,
  `glpat-${MIXED.slice(0, 20)}`,
  "xoxb-123456789012-1234567890123-AbCdEfGhIjKlMnOpQrStUvWx",
  "xoxp-1234567890-abcdefghij",
  "xapp-1-A0123456789-1234567890123-abcdef0123456789",
  `sk_live_${MIXED.slice(0, 24)}`,
  `sk_test_${MIXED.slice(0, 24)}`,
  `dop_v1_${HEX.repeat(4)}`,
  `hf_${MIXED.slice(0, 34)}`,
  `gsk_${MIXED.slice(0, 52)}`,
  `pypi-AgEIcHlwaS5vcmc${MIXED}`,
  `npm_${MIXED.slice(0, 36)}`,
  `xai-${MIXED.repeat(2).slice(0, 80)}`,
  `AIza${MIXED.slice(0, 35)}`,
  "AKIAIOSFODNN7EXAMPLE",
  "ASIAIOSFODNN7EXAMPLE",
  JWT,
];

/** Text that may stand around a secret. */
const AROUND: [before: string, after: string][] = [
  ["", ""],
  ["the key is ", " and no more"],
  ["TOKEN=", "\n"],
  ["https://x-access-token:", "@github.com/a/b.git"],
  ['{"content":"KEY=\\n', '\\n"}'],
  ["key%3D", "&x=1"],
  ["\u001b[01;31m", "\u001b[m"],
  ["\n-", "\n+other"],
  ["(", ")."],
];

describe.each(SECRETS)("the shape of %s", (secret) => {
  test.each(AROUND)("is found between %j and %j", (before, after) => {
    const [range, ...more] = shapesIn(before + secret + after);
    expect(more).toEqual([]);
    expect(range?.from).toBe(before.length);
    // The end of a sentence may belong to a signed token.
    expect((before + secret + after).slice(range?.from, range?.to).replace(/\.$/, "")).toBe(secret);
  });
});

test.each([
  "sk-your-openai-api-key-here",
  "sk-...",
  "sk-ant-...",
  "a task-01ARZ3NDEKTSV4RRFFQ69G5FAV is done",
  "disk-0123456789abcdef0123456789abcdef",
  "class='sk-circle-fade-dot sk-folding-cube-animation'",
  "sk-learn-contrib-2024-release",
  "ghp_short",
  "graph_ghp_ and more_of_it",
  "xoxb-your-token-goes-here",
  "AKIASTRAY",
  "AKIAIOSFODNN7EXAMPLEX",
  "XAKIAIOSFODNN7EXAMPLE",
  "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9",
  "eyJ0eXBlIjoibWVzc2FnZSJ9.then something else entirely",
  "npm_config_registry npm_package_version",
  "rk_live_ and sk_live_ keys",
  "hf_hub_download and gsk_renderer_render_texture and pypi-Agent",
  "https://github.com/a/b/blob/0123456789abcdef0123456789abcdef01234567/x-y_z.ts",
  "-----BEGIN CERTIFICATE-----\nMIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBaMQswCQYDVQQGEwJJ\n-----END CERTIFICATE-----",
  'if (text.startsWith("-----BEGIN RSA PRIVATE KEY-----")) return isKey(someParticularArgument, anotherOne);',
  "A file that begins with -----BEGIN PRIVATE KEY----- holds a key. Everything behind it is encoded.",
])("%j holds no secret", (text) => {
  expect(shapesIn(text)).toEqual([]);
});

test("within base64 a shape is chance", () => {
  for (const secret of SECRETS) expect(shapesIn(`"signature":"${MIXED}${secret.replaceAll(".", "_")}${MIXED}"`)).toEqual([]);
});

describe("a private key", () => {
  const key = (kind: string, lines: readonly string[]): string => [`-----BEGIN ${kind}-----`, ...lines, `-----END ${kind}-----`].join("\n");
  const masked = (text: string): string => new Redactor().text(text);

  test.each(["PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY", "OPENSSH PRIVATE KEY", "ENCRYPTED PRIVATE KEY", "PGP PRIVATE KEY BLOCK"])(
    "of the kind %s is masked line by line, between its headings",
    (kind) => {
      expect(masked(`a\n${key(kind, [LINE, LINE, "QUJDREVGR0hJSktMTU5P="])}\nafterwards_comes_text`)).toBe(
        `a\n${key(kind, ["[redacted]", "[redacted]", "[redacted]"])}\nafterwards_comes_text`,
      );
    },
  );

  test.each<[how: string, show: (text: string) => string]>([
    ["in JSON", (text) => JSON.stringify(text)],
    ["in JSON in JSON", (text) => JSON.stringify(JSON.stringify(text))],
    ["with line numbers", (text) => text.replaceAll(/^/gm, "    12\t")],
    ["quoted", (text) => text.replaceAll(/^/gm, "> ")],
    ["in a diff", (text) => text.replaceAll(/^/gm, "-")],
    ["with the ends of lines of Windows", (text) => text.replaceAll("\n", "\r\n")],
    ["in one line", (text) => text.replaceAll("\n", " ")],
    ["in one word", (text) => text.replaceAll("\n", "\\n")],
    ["as grep shows it", (text) => text.replaceAll(/^/gm, "config/keys/server.pem:7:")],
    ["with headers", (text) => text.replace("\n", "\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0123456789ABCDEF0123456789ABCDEF\n\n")],
  ])("shows no line of it %s", (_, show) => {
    const lines = [LINE, LINE.replace("MII", "abc"), LINE.replace("MII", "xyz")];
    const safe = masked(show(key("PRIVATE KEY", lines)));
    for (const line of lines) expect(safe).not.toContain(line);
    expect(safe).toContain("PRIVATE KEY");
  });

  test("of which only the beginning is shown is masked as far, and what follows is not", () => {
    expect(masked(`-----BEGIN PRIVATE KEY-----\n${LINE}\nand that was all of internationalization.`)).toBe(
      "-----BEGIN PRIVATE KEY-----\n[redacted]\nand that was all of internationalization.",
    );
  });

  test("does not hide a token or a certificate that comes behind it", () => {
    const certificate = key("CERTIFICATE", [LINE]);
    expect(masked(`${key("PRIVATE KEY", [LINE])}\n${certificate}`)).toBe(`${key("PRIVATE KEY", ["[redacted]"])}\n${certificate}`);
    expect(masked(`-----BEGIN PRIVATE KEY-----" is its heading; the token is ghp_${MIXED.slice(0, 36)}.`)).toBe(
      '-----BEGIN PRIVATE KEY-----" is its heading; the token is [redacted].',
    );
  });
});

describe("in pieces", () => {
  const piece = fc.oneof(
    fc.constantFrom(...SECRETS),
    fc.constantFrom(...SECRETS).chain((secret) => fc.tuple(fc.nat(60), fc.nat(60)).map(([from, to]) => secret.slice(from, to))),
    fc.constantFrom(
      "-----BEGIN RSA PRIVATE KEY-----",
      "-----END RSA PRIVATE KEY-----",
      "-----BEGIN CERTIFICATE-----",
      LINE,
      LINE.slice(0, 20),
    ),
    fc.constantFrom(
      " ",
      "\n",
      "\\n",
      "\\",
      "n",
      "%3D",
      "-",
      "---",
      ".",
      "_",
      "x",
      "12\t",
      "> ",
      '"',
      "[32m",
      "s",
      "sk",
      "eyJ",
      "g",
      "the end",
    ),
    fc.string({ maxLength: 6 }),
    fc.constantFrom(" ".repeat(100), ". ".repeat(90), "a".repeat(600)),
  );
  const text = fc.array(piece, { maxLength: 10 }).map((pieces) => pieces.join(""));
  const cuts = fc.array(fc.nat(400), { maxLength: 30 });

  test("exactly what stands in the whole text is found, however it is cut", () => {
    fc.assert(
      fc.property(text, cuts, fc.boolean(), (whole, places, everywhere) => {
        const redactor = new Redactor();
        const stream = redactor.stream();
        const pieces = everywhere ? whole.split("") : cutAt(whole, places);
        expect([...pieces.map((each) => stream.push(each)), stream.flush()].join("")).toBe(redactor.text(whole));
      }),
      { numRuns: 1000 },
    );
  });

  test("also beside secrets that are known by their value, and overlap with it", () => {
    const known = fc
      .constantFrom(...SECRETS)
      .chain((secret) => fc.tuple(fc.nat(30), fc.nat(30)).map(([from, to]) => `x ${secret}`.slice(from, from + 8 + to)));
    fc.assert(
      fc.property(fc.array(known, { maxLength: 3 }), text, cuts, (values, whole, places) => {
        const redactor = new Redactor(values);
        const stream = redactor.stream();
        const streamed = [...cutAt(whole, places).map((each) => stream.push(each)), stream.flush()].join("");
        expect(streamed).toBe(redactor.text(whole));
        for (const value of values) if (value.length >= 8) expect(streamed).not.toContain(value);
      }),
      { numRuns: 1000 },
    );
  });

  test("no more is held back than what decides about a shape", () => {
    fc.assert(
      fc.property(text, (whole) => {
        const stream = new ShapeStream();
        let pushed = 0;
        let most = 0;
        for (const letter of whole.split("")) {
          stream.push(letter);
          most = Math.max(most, ++pushed - stream.decided);
        }
        expect(most).toBeLessThanOrEqual(530);
      }),
    );
  });

  test("a secret without an end is masked once and takes work in proportion to it", () => {
    const stream = new Redactor().stream();
    let out = stream.push("sk-ant-");
    for (let n = 0; n < 200_000; n++) out += stream.push("Ab1-");
    expect(out + stream.push(" end") + stream.flush()).toBe("[redacted] end");
  });

  test("ordinary words go out at once", () => {
    const stream = new Redactor().stream();
    const pieces = ["The ", "quick ", "brown ", "fox ", "is", " used", " on ", "a", " task", "-list.\n"];
    expect(pieces.map((each) => stream.push(each))).toEqual(pieces);
  });
});

test("text that is full of beginnings takes work in proportion to it", () => {
  const odd = [
    "eyJ",
    "-----BEGIN ",
    "sk-",
    "-----BEGIN PRIVATE KEY-----\n",
    "ghp_ ",
    " AKIA",
    "\\nsk-a",
    "[2msk-",
    "-",
    "eyJhbGciOiJIUzI1NiIs ",
  ];
  for (const each of odd) expect(shapesIn(each.repeat(30_000))).toEqual([]);
});

function cutAt(text: string, cuts: readonly number[]): string[] {
  const places = [...new Set(cuts.filter((cut) => cut < text.length))].toSorted((a, b) => a - b);
  return [0, ...places].map((from, index) => text.slice(from, places[index] ?? text.length));
}
