import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readFrontMatter, splitFrontMatter } from "./front-matter.js";

async function read(text: string): Promise<unknown> {
  const result = await readFrontMatter("/s/SKILL.md", text);
  return "problem" in result ? result.problem : { data: result.data, body: result.body };
}

describe("front matter that can be read", () => {
  test.each([
    ["none at all", "# Title\n\nText\n", {}, "# Title\n\nText"],
    ["an empty file", "", {}, ""],
    ["an empty one", "---\n---\nText", {}, "Text"],
    ["only comments", "---\n# nothing\n---\nText", {}, "Text"],
    ["a simple one", "---\nname: a\n---\n\n\nText\n\n", { name: "a" }, "Text"],
    ["Windows line ends", "---\r\nname: a\r\nb: 1\r\n---\r\n\r\nText\r\n", { name: "a", b: 1 }, "Text"],
    ["a byte order mark", "\uFEFF---\nname: a\n---\nText", { name: "a" }, "Text"],
    ["dots at the end", "---\nname: a\n...\nText", { name: "a" }, "Text"],
    ["no text behind it", "---\nname: a\n---", { name: "a" }, ""],
    ["a rule further down", "Text\n---\nname: a\n---\n", {}, "Text\n---\nname: a\n---"],
    ["a separator of Unicode is no line end", "---\nname: a\u2028---\n---\nText", { name: "a\u2028---" }, "Text"],
    ["a folded text", "---\ndescription: >\n  one\n  two\n---\nText", { description: "one two\n" }, "Text"],
  ])("%s", async (_, text, data, body) => {
    expect(await read(text)).toEqual({ data, body });
  });
});

describe("an error is told by its line", () => {
  test.each([
    ["no end", "---\nname: a\nText", "/s/SKILL.md:1: the front matter that begins here has no closing '---' line"],
    ["a tab", "---\na:\n\tb: 1\n---\n", /^\/s\/SKILL\.md:3: /],
    ["a key twice", "---\nname: a\nname: b\n---\n", "/s/SKILL.md:3: Map keys must be unique"],
    ["a list", "---\n- a\n---\n", "/s/SKILL.md:2: the front matter must be a mapping of keys to values"],
    ["a text", "---\njust words\n---\n", "/s/SKILL.md:2: the front matter must be a mapping of keys to values"],
    ["brackets without end", "---\nname: a\ntools: [a\n---\n", /^\/s\/SKILL\.md:\d+: /],
    ["too deep", `---\na: ${"[".repeat(5000)}\n---\n`, "/s/SKILL.md:2: this is nested too deeply"],
    ["too long", `---\na: ${"x".repeat(70_000)}\n---\n`, "/s/SKILL.md:1: the front matter has 70004 characters; at most 65536 are read"],
    [
      "aliases that multiply",
      `---\na: &a [1,1,1,1,1]\nb: &b [*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b]\nd: [*c,*c,*c,*c,*c]\n---\n`,
      /^\/s\/SKILL\.md:1: the front matter cannot be expanded: /,
    ],
  ])("%s", async (_, text, problem) => {
    const said = await read(text);
    expect(said).toEqual(expect.any(String));
    if (typeof problem === "string") expect(said).toBe(problem);
    else expect(said).toMatch(problem);
  });

  test("a key's line is known", async () => {
    const result = await readFrontMatter("/s", "---\n# c\nname: a\ntools: b\n---\n");
    expect("locate" in result && [result.locate("tools"), result.locate("other")]).toEqual(["/s:4", "/s:1"]);
  });
});

test("whatever the text is, it is split without loss or refused, and never throws", async () => {
  const line = fc.oneof(fc.constantFrom("---", "--- ", "...", "name: a", "\t", "- x", "a: [", ""), fc.string());
  const texts = fc.tuple(fc.array(line, { maxLength: 12 }), fc.constantFrom("\n", "\r\n")).map(([lines, end]) => lines.join(end));
  await fc.assert(
    fc.asyncProperty(texts, async (text) => {
      const split = splitFrontMatter(text);
      if (split !== undefined) {
        expect(text).toContain(split.body);
        expect(text).toContain(split.yaml ?? "");
        expect((split.yaml ?? "").split("\n").some((each) => each.trimEnd() === "---")).toBe(false);
      }
      await readFrontMatter("/s", text);
    }),
    { numRuns: 300 },
  );
});

test("the lines between the marks are the front matter, and the rest is the text", () => {
  const word = fc.stringMatching(/^[a-z]{1,8}$/);
  fc.assert(
    fc.property(
      fc.array(word, { maxLength: 5 }),
      fc.array(word, { minLength: 1, maxLength: 5 }),
      fc.constantFrom("\n", "\r\n"),
      (keys, body, end) => {
        const yaml = keys.map((key) => `${key}: 1${end}`).join("");
        expect(splitFrontMatter(`---${end}${yaml}---${end}${body.join(end)}${end}`)).toEqual({ yaml, body: body.join(end) });
      },
    ),
  );
});
