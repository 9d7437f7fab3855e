import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { PathTable } from "./path-table.js";

const TREE = [
  "README.md",
  "src/index.ts",
  "src/engine/session.ts",
  "src/engine/session-state.ts",
  "src/engine/tools/read.ts",
  "src/engine/tools/read.test.ts",
  "src/link/serve.ts",
  "docs/sessions.md",
  ".github/workflows/ci.yaml",
  "src/.secret/x.ts",
];

function search(query: string, most = 5): string[] {
  return new PathTable(TREE).search(query, most);
}

describe("a table of paths", () => {
  test("lists what is at the top, then goes down step by step", () => {
    expect(search("", 4)).toEqual(["README.md", "docs/", "src/", "docs/sessions.md"]);
    expect(search("src/", 4)).toEqual(["src/", "src/engine/", "src/index.ts", "src/link/"]);
    expect(search("src/e")[0]).toBe("src/engine/");
  });

  test("puts a prefix before a name, a name before a part, a part before letters", () => {
    expect(search("session")).toEqual(["docs/sessions.md", "src/engine/session.ts", "src/engine/session-state.ts"]);
    expect(search("sstate")).toEqual(["src/engine/session-state.ts"]);
    expect(search("readme")).toEqual(["README.md"]);
    expect(search("engread")).toContain("src/engine/tools/read.ts");
    expect(search("zzz")).toEqual([]);
  });

  test("leaves hidden files out until a dot is typed", () => {
    expect(search("yaml")).toEqual([]);
    expect(search(".gi")[0]).toBe(".github/");
    expect(search("src/.")).toContain("src/.secret/x.ts");
  });

  const name = fc.string({ unit: fc.constantFrom("a", "b", "c", "A", ".", "-", "1", "é", "İ", "😀", " "), minLength: 1, maxLength: 6 });
  const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join("/"));

  test("finds only what has the query's letters in their order, the same in whatever order the files come", () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(path, { maxLength: 30 }),
        fc.string({ maxLength: 5 }),
        fc.integer({ min: 0, max: 8 }),
        (files, any, most) => {
          for (const query of [any, files[0]?.slice(0, 3) ?? ""]) {
            const found = new PathTable(files).search(query, most);
            expect(found.length).toBeLessThanOrEqual(most);
            for (const each of found) expect(inOrder(each.toLowerCase(), query.toLowerCase())).toBe(true);
            expect(new PathTable(files.toReversed()).search(query, most)).toEqual(found);
          }
        },
      ),
    );
  });

  test("finds every file by its own path, first", () => {
    fc.assert(
      fc.property(fc.uniqueArray(path, { minLength: 1, maxLength: 30, selector: (each) => each.toLowerCase() }), (files) => {
        for (const file of files) expect(new PathTable(files).search(file, 3)).toContain(file);
      }),
    );
  });
});

function inOrder(text: string, letters: string): boolean {
  let at = -1;
  for (let index = 0; index < letters.length; index += 1) {
    at = text.indexOf(letters.charAt(index), at + 1);
    if (at === -1) return false;
  }
  return true;
}
