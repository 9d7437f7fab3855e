import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { includesIn, memoryText, readMemory } from "./memory.js";
import { ground, type Ground } from "./testing.js";

async function memoryOf(at: Ground, options: { trusted?: boolean; root?: string } = {}) {
  const reading = await at.reading(options);
  const files = await readMemory(reading);
  return { paths: files.map(({ path }) => path.replace(`${at.base}/`, "")), files, warnings: reading.warnings, stamps: reading.stamps };
}

test("the user's files come first, then those from the repository root down, AGENTS.md before CLAUDE.md", async () => {
  const at = ground({
    "user/.claude/CLAUDE.md": "claude's",
    "CLAUDE.md": "above the repository",
    "repo/CLAUDE.md": "root",
    "repo/app/AGENTS.md": "work",
    "repo/app/CLAUDE.md": "work, for Claude",
    "repo/app/deep/AGENTS.md": "deep",
  });
  expect((await memoryOf(at)).paths).toEqual(["user/.claude/CLAUDE.md", "repo/CLAUDE.md", "repo/app/AGENTS.md", "repo/app/CLAUDE.md"]);
  at.put({ "home/AGENTS.md": "mine" });
  const { paths, files, warnings } = await memoryOf(at, { root: join(at.base, "repo/app/deep") });
  expect(paths).toEqual([
    "home/AGENTS.md",
    "user/.claude/CLAUDE.md",
    "repo/CLAUDE.md",
    "repo/app/AGENTS.md",
    "repo/app/CLAUDE.md",
    "repo/app/deep/AGENTS.md",
  ]);
  expect(warnings).toEqual([]);
  expect(files.map(({ scope, bytes }) => [scope, bytes])).toEqual([
    ["user", 4],
    ["user", 8],
    ["project", 4],
    ["project", 4],
    ["project", 16],
    ["project", 4],
  ]);
  expect(files.slice(0, 1).map(memoryText)).toEqual([`Instructions from ${at.base}/home/AGENTS.md:\n\nmine`]);
});

test("equal text in two files counts once", async () => {
  const at = ground({ "repo/AGENTS.md": "same\n", "repo/CLAUDE.md": "same", "repo/app/AGENTS.md": "same", "repo/app/CLAUDE.md": "other" });
  expect((await memoryOf(at)).paths).toEqual(["repo/AGENTS.md", "repo/app/CLAUDE.md"]);
});

describe("includes", () => {
  test("are lines of their own, outside code", () => {
    const text = "@a.md\nsee @b.md\n  @include some file.md\n```\n@c.md\n```\n~~~\n@d.md\n```\n~~~\n@team\n@two words\nme@x.org\n@./e";
    expect(includesIn(text).map(({ line, target, isSure }) => [line, target, isSure])).toEqual([
      [1, "a.md", true],
      [3, "some file.md", true],
      [11, "team", false],
      [14, "./e", true],
    ]);
  });

  test("follow their file, relative to it, five deep", async () => {
    const chain = Object.fromEntries([1, 2, 3, 4, 5, 6].map((n) => [`repo/app/docs/${n}.md`, `level ${n}\n@${n + 1}.md`]));
    const { paths, warnings } = await memoryOf(ground({ "repo/app/AGENTS.md": "@docs/1.md\n@team\n@gone.md", ...chain }));
    expect(paths).toEqual(["repo/app/AGENTS.md", ...[1, 2, 3, 4, 5].map((n) => `repo/app/docs/${n}.md`)]);
    expect(warnings).toEqual([
      "repo/app/docs/5.md:2: 6.md is left out: includes reach 5 files deep",
      "repo/app/AGENTS.md:3: there is no file repo/app/gone.md to include",
    ]);
  });

  test("a cycle is told, and a file that two include is there once", async () => {
    const { paths, warnings } = await memoryOf(
      ground({
        "repo/app/AGENTS.md": "@a.md\n@b.md\n@c.md",
        "repo/app/a.md": "a\n@b.md",
        "repo/app/b.md": "b\n@a.md",
        "repo/app/c.md": "c\n@c.md",
      }),
    );
    expect(paths).toEqual(["repo/app/AGENTS.md", "repo/app/a.md", "repo/app/b.md", "repo/app/c.md"]);
    expect(warnings).toEqual([
      "repo/app/b.md includes repo/app/a.md, which includes it in turn; it is read once",
      "repo/app/c.md includes repo/app/c.md, which includes it in turn; it is read once",
    ]);
  });

  test("of an untrusted workspace stay in the repository; the home folder is for the user's own files", async () => {
    const at = ground({
      "home/AGENTS.md": "@~/notes.md\n@../elsewhere.md",
      "user/notes.md": "notes",
      "elsewhere.md": "elsewhere",
      "repo/shared.md": "shared",
      "repo/app/AGENTS.md": "@../shared.md\n@../../secret.md\n@~/notes.md\n@link.md",
      "secret.md": "secret",
    });
    symlinkSync(join(at.base, "secret.md"), join(at.base, "repo/app/link.md"));
    const untrusted = await memoryOf(at);
    expect(untrusted.paths).toEqual(["home/AGENTS.md", "user/notes.md", "elsewhere.md", "repo/app/AGENTS.md", "repo/shared.md"]);
    expect(untrusted.warnings).toEqual([
      "secret.md leads out of repo, and the workspace is not trusted; it is left out",
      "repo/app/AGENTS.md:3: only your own files may include ~/notes.md; it is left out",
      "repo/app/link.md leads out of repo, and the workspace is not trusted; it is left out",
    ]);
    const trusted = await memoryOf(at, { trusted: true });
    expect(trusted.paths).toContain("secret.md");
    expect(trusted.warnings).toEqual(["repo/app/AGENTS.md:3: only your own files may include ~/notes.md; it is left out"]);
  });

  test("a memory file that is itself a link out of an untrusted repository is left out", async () => {
    const at = ground({ "secret.md": "secret" });
    symlinkSync(join(at.base, "secret.md"), join(at.base, "repo/app/AGENTS.md"));
    expect((await memoryOf(at)).paths).toEqual([]);
    expect((await memoryOf(at, { trusted: true })).paths).toEqual(["repo/app/AGENTS.md"]);
  });
});

test("a file of nothing but includes is not followed for ever", async () => {
  const at = ground({ "repo/app/AGENTS.md": Array.from({ length: 10_000 }, (_, nth) => `@./${nth}`).join("\n") });
  const reading = await at.reading();
  await readMemory(reading);
  expect(reading.warnings).toHaveLength(101);
  expect(reading.warnings.at(-1)).toBe("repo/app/AGENTS.md:101: this and what follows is left out: 100 includes are followed");
});

test("what is too large, too much or no text is left out with one line each", async () => {
  const half = (letter: string): string => letter.repeat(100 * 1024);
  const { paths, warnings } = await memoryOf(
    ground({
      "home/AGENTS.md": "y".repeat(200 * 1024),
      "repo/AGENTS.md": "@one.md\n@two.md\n@three.md\n@binary.md",
      "repo/one.md": half("1"),
      "repo/two.md": half("2"),
      "repo/three.md": half("3"),
      "repo/binary.md": new Uint8Array([0, 1, 2]),
    }),
  );
  expect(paths).toEqual(["repo/AGENTS.md", "repo/one.md", "repo/two.md"]);
  expect(warnings).toEqual([
    "home/AGENTS.md is 204800 bytes long, and at most 131072 are read; it is left out",
    "repo/three.md is left out: the memory files before it fill the 262144 bytes that there are for them",
    "repo/binary.md is not UTF-8 text; it is left out",
  ]);
});

test("a change is noticed: of a file, of an include, and of one that was not there", async () => {
  const at = ground({ "repo/app/CLAUDE.md": "@inc.md", "repo/app/inc.md": "1" });
  for (const [name, text] of [
    ["CLAUDE.md", "@inc.md\nmore"],
    ["inc.md", "2!"],
    ["AGENTS.md", "new"],
  ] as const) {
    const { stamps } = await memoryOf(at);
    expect(stamps.changed()).toBe(false);
    at.put({ [`repo/app/${name}`]: text });
    expect(stamps.changed(), name).toBe(true);
  }
});
