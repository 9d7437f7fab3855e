import fc from "fast-check";
import { expect, test } from "vitest";
import { prepare } from "./prepare.js";
import { makeProfile } from "../profile/profile.js";

const word = fc.string({
  unit: fc.constantFrom("a", " ", "-", "$", "{", "}", "{{MESSAGE}}", "{{SESSION_ID}}", "{{SESSION_NAME}}", "${HOME}", "'"),
});
const message = fc.oneof(
  fc.string({ unit: fc.constantFrom("{{MESSAGE}}", "{{SESSION_ID}}", "${HOME}", "${SECRET}", "$&", " ", "'", "\n", "-", "x") }),
  fc.string({ unit: "binary" }),
);
const profiles = fc.record({
  command: fc.constant("agent {{SESSION_NAME}} x"),
  args: fc.array(word),
  env: fc.dictionary(fc.constantFrom("A", "B"), word),
});
const place = { env: { HOME: "/h", SECRET: "s3cret", PATH: "/bin" }, cwd: "/" };

/** Stands for the message, and occurs nowhere else. */
const MARK = "\u{E000}";

test("whatever a message says, it changes nothing but its own places, in the words and in the environment", () => {
  fc.assert(
    fc.property(profiles, message, (fields, said) => {
      const profile = makeProfile(fields, { id: "p", dir: "/p", nested: false, description: "", install: undefined });
      const values = { SESSION_ID: "i", SESSION_NAME: "n", PROFILE_DIR: "/p" };
      const marked = prepare(profile, place, { ...values, MESSAGE: MARK });
      const filled = prepare(profile, place, { ...values, MESSAGE: said });
      const put = (text: string): string => text.replaceAll(MARK, () => said);
      expect(filled.argv).toEqual(marked.argv.map(put));
      expect(filled.env).toEqual(Object.fromEntries(Object.entries(marked.env).map(([name, value]) => [name, put(value)])));
      expect(filled.cwd).toBe(marked.cwd);
    }),
    { numRuns: 500 },
  );
});
