import { chmodSync, mkdirSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { glob } from "./glob.js";
import { grep, grepTool } from "./grep.js";
import { findRipgrep } from "./ripgrep.js";
import { bench, tempFolder, type Bench } from "../testing.js";

/** The later in the list the newer. */
function put(root: string, files: Record<string, string | Uint8Array>): void {
  for (const [index, [path, content]] of Object.entries(files).entries()) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
    utimesSync(join(root, path), 1_000_000 + index, 1_000_000 + index);
  }
}

const TREE = {
  ".gitignore": "*.log\nnode_modules/\n/build\n!keep.log\n",
  "a.ts": "export const hello = 1;\n",
  "src/b.ts": "import hello\nnothing\nHello there\n",
  "src/deep/c.tsx": "hello\r\nworld\r\n",
  "src/deep/.hidden.ts": "hello hidden\n",
  "src/deep/.gitignore": "secret.ts\n",
  "src/deep/secret.ts": "hello secret\n",
  ".github/w.yml": "name: hello\n",
  ".git/config": "hello git\n",
  "x.log": "hello log\n",
  "keep.log": "hello kept\n",
  "node_modules/m/index.ts": "hello module\n",
  "build/out.ts": "hello build\n",
  "docs/build/page.md": "hello page\n",
  "bin.dat": Buffer.from("hello\0\n"),
  "long.txt": `${"é".repeat(10)}${"x".repeat(2000)}hello\n`,
  "-dash.txt": "-e hello --files\n",
};

test("ripgrep is found, or not, as told", async () => {
  delete process.env["PARLEY_RIPGREP"];
  const found = await findRipgrep();
  expect(found).toMatch(/rg(\.exe)?$/);
  expect(await findRipgrep()).toBe(found);
  process.env["PARLEY_RIPGREP"] = "none";
  expect(await findRipgrep()).toBeNull();
  process.env["PARLEY_RIPGREP"] = "/my/rg";
  expect(await findRipgrep()).toBe("/my/rg");
  delete process.env["PARLEY_RIPGREP"];
});

describe.each(["ripgrep", "own search"])("with %s", (means) => {
  beforeEach(() => {
    if (means === "own search") process.env["PARLEY_RIPGREP"] = "none";
  });
  afterEach(() => {
    delete process.env["PARLEY_RIPGREP"];
  });

  async function benchWith(files: Record<string, string | Uint8Array>, options: Parameters<typeof bench>[0] = {}): Promise<Bench> {
    const made = await bench(options);
    put(made.root, files);
    return made;
  }

  describe("Glob", () => {
    test.each([
      ["**/*.ts", undefined, "src/deep/.hidden.ts\nsrc/b.ts\na.ts"],
      ["*.ts", undefined, "src/deep/.hidden.ts\nsrc/b.ts\na.ts"],
      ["src/*.ts", undefined, "src/b.ts"],
      ["./src/*.ts", undefined, "src/b.ts"],
      ["src/**/*.{ts,tsx}", undefined, "src/deep/.hidden.ts\nsrc/deep/c.tsx\nsrc/b.ts"],
      ["*.tsx", "src", "src/deep/c.tsx"],
      ["deep/*", "src", "src/deep/.gitignore\nsrc/deep/.hidden.ts\nsrc/deep/c.tsx"],
      ["deep/*", "src/", "src/deep/.gitignore\nsrc/deep/.hidden.ts\nsrc/deep/c.tsx"],
      ["*.log", undefined, "keep.log"],
      ["**/*.yml", undefined, ".github/w.yml"],
      ["a.ts", undefined, "a.ts"],
      ["docs/", undefined, "docs/build/page.md"],
      ["src/deep/../*.ts", undefined, "src/b.ts"],
      ["m/*", "node_modules", "node_modules/m/index.ts"],
      ["**/config", undefined, "No files matched the pattern"],
      ["*.nothing", undefined, "No files matched the pattern"],
      ["none/*.ts", undefined, "No files matched the pattern"],
      ["*", "none", "FAILED: There is no folder none."],
      ["*", "a.ts", "FAILED: There is no folder a.ts."],
    ])("%s in %s", async (pattern, path, said) => {
      const { say } = await benchWith(TREE);
      expect(await say(glob, { pattern, ...(path !== undefined && { path }) })).toBe(said);
    });

    test("everything that is not ignored", async () => {
      const { say } = await benchWith(TREE);
      const ignored = ["src/deep/secret.ts", ".git/config", "x.log", "node_modules/m/index.ts", "build/out.ts"];
      const expected = Object.keys(TREE)
        .toReversed()
        .filter((path) => !ignored.includes(path));
      expect(await say(glob, { pattern: "**" })).toBe(expected.join("\n"));
    });

    test("100 at most, the newest, and how many more", async () => {
      const files = Object.fromEntries(Array.from({ length: 130 }, (_, index) => [`f${index}.txt`, ""]));
      const { say } = await benchWith(files);
      const lines = (await say(glob, { pattern: "*.txt" })).split("\n");
      expect(lines).toHaveLength(101);
      expect([lines[0], lines[99], lines[100]]).toEqual(["f129.txt", "f30.txt", "(30 more; narrow the pattern to see them)"]);
    });

    test("outside the workspace only where allowed, with absolute paths", async () => {
      const other = await tempFolder();
      put(other, { "o.ts": "" });
      const pattern = join(other, "*.ts");
      await expect((await benchWith(TREE)).run(glob, { pattern })).rejects.toThrow(/outside/);
      expect(await (await benchWith(TREE, { outside: true })).say(glob, { pattern })).toMatch(/^\/.*\/o\.ts$/);
    });

    test("links are neither listed nor followed", async () => {
      const { root, say } = await benchWith({ "dir/a.ts": "" });
      symlinkSync("a.ts", join(root, "dir/link.ts"));
      symlinkSync("..", join(root, "dir/up"));
      expect(await say(glob, { pattern: "**/*.ts" })).toBe("dir/a.ts");
    });

    test("an interrupt ends it", async () => {
      const { run, abort } = await benchWith(TREE);
      abort.abort();
      await expect(run(glob, { pattern: "**" })).rejects.toThrow(/interrupted/);
    });
  });

  describe("Grep", () => {
    const LONG = `long.txt:1:${"é".repeat(10)}${"x".repeat(490)} [... omitted end of long line]`;

    test.each<[string, Record<string, unknown>, string]>([
      [
        "in a folder",
        { pattern: "hello", path: "src" },
        "src/b.ts:1:import hello\nsrc/deep/.hidden.ts:1:hello hidden\nsrc/deep/c.tsx:1:hello",
      ],
      ["in a file", { pattern: "hello", path: "src/b.ts" }, "src/b.ts:1:import hello"],
      ["in an ignored file, when named", { pattern: "hello", path: "x.log" }, "x.log:1:hello log"],
      ["any case", { pattern: "HELLO", path: "src/b.ts", case_insensitive: true }, "src/b.ts:1:import hello\nsrc/b.ts:3:Hello there"],
      ["an expression", { pattern: "^n\\w+g$", path: "src" }, "src/b.ts:2:nothing"],
      ["the end of a CRLF line", { pattern: "hello$", path: "src/deep/c.tsx" }, "src/deep/c.tsx:1:hello"],
      [
        "a name's pattern",
        { pattern: "hello", glob: "*.ts" },
        "a.ts:1:export const hello = 1;\nsrc/b.ts:1:import hello\nsrc/deep/.hidden.ts:1:hello hidden",
      ],
      ["a path's pattern", { pattern: "hello", glob: "src/*.ts" }, "src/b.ts:1:import hello"],
      ["a pattern with a choice", { pattern: "hello", glob: "*.{tsx,yml}" }, ".github/w.yml:1:name: hello\nsrc/deep/c.tsx:1:hello"],
      ["a pattern that names ignored files", { pattern: "hello", glob: "*.log" }, "keep.log:1:hello kept"],
      ["files", { pattern: "hello", path: "src", output_mode: "files" }, "src/b.ts\nsrc/deep/.hidden.ts\nsrc/deep/c.tsx"],
      [
        "counts",
        { pattern: "hello", path: "src", output_mode: "count", case_insensitive: true },
        "src/b.ts:2\nsrc/deep/.hidden.ts:1\nsrc/deep/c.tsx:1",
      ],
      ["surroundings", { pattern: "nothing", context: 1 }, "src/b.ts-1-import hello\nsrc/b.ts:2:nothing\nsrc/b.ts-3-Hello there"],
      ["a pattern like an option", { pattern: "--files" }, "-dash.txt:1:-e hello --files"],
      ["a pattern like -e", { pattern: "-e hello" }, "-dash.txt:1:-e hello --files"],
      ["nothing", { pattern: "no such words" }, "No matches found"],
      ["nothing, for no file fits", { pattern: "hello", glob: "*.rs" }, "No matches found"],
      ["nowhere", { pattern: "x", path: "none" }, "FAILED: There is no file or folder none."],
      ["binary files are left out", { pattern: "hello", glob: "*.dat" }, "No matches found"],
    ])("%s", async (_, args, said) => {
      expect(await (await benchWith(TREE)).say(grep, args)).toBe(said);
    });

    test("everything that is not ignored, by path, long lines cut", async () => {
      const { say } = await benchWith(TREE);
      const lines = (await say(grep, { pattern: "hello|x{10}" })).split("\n");
      expect(lines.filter((line) => !line.startsWith("long.txt"))).toEqual([
        "-dash.txt:1:-e hello --files",
        ".github/w.yml:1:name: hello",
        "a.ts:1:export const hello = 1;",
        "docs/build/page.md:1:hello page",
        "keep.log:1:hello kept",
        "src/b.ts:1:import hello",
        "src/deep/.hidden.ts:1:hello hidden",
        "src/deep/c.tsx:1:hello",
      ]);
      expect(lines.filter((line) => line.startsWith("long.txt"))).toEqual([LONG]);
    });

    test("a secret is masked before a long line is cut in the middle of it", async () => {
      const { context, say } = await benchWith({ "env.js": `${"x".repeat(490)}"sk-secret-0123456789"${"y".repeat(9000)}\n` });
      context.redactor.add("sk-secret-0123456789");
      expect(await say(grep, { pattern: "x{10}" })).not.toContain("sk-");
    });

    test("many matches in many files come in the order of the paths, as many as are shown", async () => {
      const files = Array.from({ length: 120 }, (_, at) => `f${String(at).padStart(3, "0")}.txt`);
      const { say } = await benchWith(Object.fromEntries(files.map((name) => [name, "hit\n".repeat(200)])));
      const lines = (await say(grep, { pattern: "hit" })).split("\n");
      expect(lines.slice(0, 250)).toEqual(Array.from({ length: 250 }, (_, at) => `${files[Math.floor(at / 200)]}:${(at % 200) + 1}:hit`));
      expect(lines[250]).toContain("only the first 250 lines");
      const counted = (await say(grep, { pattern: "hit", output_mode: "count" })).split("\n");
      expect(counted).toEqual(files.map((name) => `${name}:200`));
      expect((await say(grep, { pattern: "hit", output_mode: "files" })).split("\n")).toEqual(files);
    });

    test("surroundings that touch are one group, others are parted", async () => {
      const { say } = await benchWith({ "a.txt": "1\nhit\n3\n4\nhit\nhit\n7\n8\n9\n10\nhit\n", "b.txt": "hit\n" });
      expect(await say(grep, { pattern: "hit", context: 1 })).toBe(
        "a.txt-1-1\na.txt:2:hit\na.txt-3-3\na.txt-4-4\na.txt:5:hit\na.txt:6:hit\na.txt-7-7\n--\na.txt-10-10\na.txt:11:hit\n--\nb.txt:1:hit",
      );
    });

    test("250 lines at most, with a note", async () => {
      const { say } = await benchWith({ "a.txt": "x\n".repeat(100_000) });
      const lines = (await say(grep, { pattern: "x" })).split("\n");
      expect(lines).toHaveLength(251);
      expect(lines[249]).toBe("a.txt:250:x");
      expect(lines[250]).toBe("(only the first 250 lines are shown; narrow the search to see more)");
    });

    test("exactly 250 lines have no note", async () => {
      const { say } = await benchWith({ "a.txt": "x\n".repeat(250) });
      expect((await say(grep, { pattern: "x" })).split("\n")).toHaveLength(250);
    });

    test("no more than the output may hold", async () => {
      const { say } = await benchWith({ "a.txt": "1234567890\n".repeat(100) }, { outputChars: 300 });
      const said = await say(grep, { pattern: "1" });
      expect(said.split("\n")).toHaveLength(6);
      expect(said).toContain("(only the first 5 lines are shown");
    });

    test("an invalid expression fails in the engine's words", async () => {
      expect(await (await benchWith(TREE)).say(grep, { pattern: "a(" })).toMatch(/^FAILED: .*regex parse error/s);
    });

    test("more files than a command line holds", async () => {
      const long = "d".repeat(200);
      const files = Object.fromEntries(
        Array.from({ length: 1200 }, (_, index) => [`${long}/${index}.txt`, index === 1100 ? "needle\n" : "hay\n"]),
      );
      const { say } = await benchWith(files);
      expect(await say(grep, { pattern: "needle", glob: "*.txt" })).toBe(`${long}/1100.txt:1:needle`);
    });

    test("outside the workspace only where allowed, with absolute paths", async () => {
      const other = await tempFolder();
      put(other, { "o.ts": "hello\n" });
      await expect((await benchWith(TREE)).run(grep, { pattern: "hello", path: other })).rejects.toThrow(/outside/);
      const said = await (await benchWith(TREE, { outside: true })).say(grep, { pattern: "hello", path: other });
      expect(said).toMatch(/^\/.*\/o\.ts:1:hello$/);
    });

    test("an interrupt ends it", async () => {
      const { run, abort } = await benchWith(TREE);
      abort.abort();
      await expect(run(grep, { pattern: "hello" })).rejects.toThrow(/interrupted/);
    });
  });
});

test.each([
  ["**/*.ts", undefined, "."],
  ["**/*.ts", "src", "src"],
  ["/etc/**/*.conf", undefined, "/etc"],
  ["/etc/**/*.conf", "src", "/etc"],
  ["/*", undefined, "/"],
  ["/etc", undefined, "/"],
  ["../other/*.ts", undefined, "../other"],
  ["../other/*.ts", "src", "src/../other"],
  ["..", undefined, ".."],
  ["src/../../x/*", undefined, "src/../../x"],
  ["~/keys/*", undefined, "~/keys"],
  ["~/keys/*", "src", "~/keys"],
  ["src/a.ts", undefined, "src"],
])("Glob %s in %s names the path %s", (pattern, path, base) => {
  expect(glob.paths({ pattern, ...(path !== undefined && { path }) })).toEqual([{ path: base, write: false }]);
});

test("a pattern that would be matched for ages is given up, and says so", async () => {
  const made = await bench();
  put(made.root, { [`${"a".repeat(60)}.txt`]: `${"a".repeat(60)}!\n` });
  const bomb = "*(*a)*(*a)*(*a)*(*a)b";
  await expect(made.say(glob, { pattern: bomb })).rejects.toThrow(`The pattern ${bomb} takes too long to match; use a simpler one.`);
  process.env["PARLEY_RIPGREP"] = "none";
  onTestFinished(() => void delete process.env["PARLEY_RIPGREP"]);
  expect(await made.say(grep, { pattern: "^(a+)+$" })).toMatch(/^FAILED: The pattern takes too long to match/);
});

test("Grep names its path", () => {
  expect(grep.paths({ pattern: "x" })).toEqual([{ path: ".", write: false }]);
  expect(grep.paths({ pattern: "x", path: "/etc" })).toEqual([{ path: "/etc", write: false }]);
});

test("a search beyond its time limit is given up, with what was found", async () => {
  const { say, root } = await bench();
  put(root, { "a.txt": "hit\n", "rg.sh": "#!/bin/sh\nprintf './a.txt\\0001:hit\\n'\nexec sleep 600\n" });
  chmodSync(join(root, "rg.sh"), 0o755);
  process.env["PARLEY_RIPGREP"] = join(root, "rg.sh");
  onTestFinished(() => void delete process.env["PARLEY_RIPGREP"]);
  const found = await say(grepTool(300), { pattern: "hit" });
  // On a slow machine the line may come too late.
  expect(found).toMatch(/^(a\.txt:1:hit\n)?\(the search was given up after 0\.3 s; narrow it by path, glob or pattern\)$/);
});
