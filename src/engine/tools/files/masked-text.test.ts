import { expect, test } from "vitest";
import { Redactor } from "../../../core/secrets/redact.js";
import { lossNote, maskedQuote, maskProblem } from "./masked-text.js";

const SECRET = "correct-horse-battery";
const redactor = new Redactor([SECRET]);

test.each([
  ["a new file with a mask", null, "a=[redacted]\n", true],
  ["a new file without one", null, "a=b\n", false],
  ["a mask for a secret", `a=${SECRET}\n`, "a=[redacted]\n", true],
  ["a mask for a secret in a file that holds one in words", `# [redacted]\na=${SECRET}\n`, "a=[redacted]\n", true],
  ["a secret that goes while the words stay", `# [redacted]\na=${SECRET}\n`, "# [redacted]\n", false],
  ["changed words around a mask in words", "see [redacted] here\n", "look at [redacted] here\n", false],
  ["another mask than ours", null, "a=<redacted> █\n", false],
])("%s", (_, before, after, isRefused) => {
  expect(maskProblem("x", before, after, redactor) !== undefined).toBe(isRefused);
});

test("masks of the time before a secret held their letters are known, too", () => {
  const later = new Redactor([SECRET, "[12345678]"]);
  expect(later.mask).toBe("<redacted>");
  for (const mask of ["[redacted]", "<redacted>"]) expect(maskProblem("x", null, `a=${mask}`, later)).toContain(`"${mask}"`);
});

test("a quote with a mask is told to leave it out, any other is not", () => {
  expect(maskedQuote("x", "a=[redacted]", redactor)).toContain("Quote only text beside it");
  expect(maskedQuote("x", "a=b", redactor)).toBeUndefined();
});

test("secrets that go are counted, those that move are not", () => {
  const note = (before: string | null, after: string) => lossNote(before, after, redactor).map(({ text }) => text);
  expect(note(`a=${SECRET}\nb=${SECRET}\n`, "a=x\n")).toEqual(["(2 secrets of the file, shown as [redacted], will not be in it any more)"]);
  expect(note(`a=${SECRET}\n`, "a=x\n")).toEqual(["(1 secret of the file, shown as [redacted], will not be in it any more)"]);
  expect(note(`a=${SECRET}\nb=1\n`, `b=1\na=${SECRET}\n`)).toEqual([]);
  expect(note(null, "a=x\n")).toEqual([]);
});
