import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { tempFolder } from "../tools/testing.js";
import { branchOf, gitRepositoryOf, isPlainRepository } from "./repository.js";

const PLAIN = `[core]
\trepositoryformatversion = 0
\tfilemode = true
\tbare = false
; a comment
[remote "origin"]
\turl = https://example.org/a.git
\tfetch = +refs/heads/*:refs/remotes/origin/*
[branch "main"]
\tremote = origin
`;

async function repositoryWith(files: Record<string, string>): Promise<string> {
  const folder = await tempFolder();
  mkdirSync(join(folder, ".git"));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, ".git", name), text);
  return folder;
}

describe("isPlainRepository", () => {
  test("a config as git writes it is plain, and so is a missing one", async () => {
    expect(await isPlainRepository(await repositoryWith({ config: PLAIN }))).toBe(true);
    expect(await isPlainRepository(await repositoryWith({ config: PLAIN.replaceAll("\n", "\r\n") }))).toBe(true);
    expect(await isPlainRepository(await repositoryWith({}))).toBe(true);
  });

  test.each([
    ["a filter", '[filter "x"]\n\tclean = evil\n'],
    ["a monitor", "[core]\n\tfsmonitor = evil\n"],
    ["a pager", "[core]\n\tpager = evil\n"],
    ["an included file", "[include]\n\tpath = evil\n"],
    ["an alias", "[alias]\n\tst = !evil\n"],
    ["an external diff", "[diff]\n\texternal = evil\n"],
    ["a setting on the line of its section", "[core] fsmonitor = evil\n"],
    ["a value that goes on in the next line", "[core]\n\teol = lf\\\n\tfsmonitor = evil\n"],
    ["a section in capitals", '[FILTER "x"]\n\tclean = evil\n'],
    ["a line that is no setting", "[core]\n\t= evil\n"],
    ["a file that is too large to be judged", `[core]\n${"\tbare = false\n".repeat(10_000)}`],
  ])("%s makes a repository one that is not plain", async (_, config) => {
    expect(await isPlainRepository(await repositoryWith({ config }))).toBe(false);
  });

  test("the config of a worktree counts beside that of its repository", async () => {
    const main = await repositoryWith({ config: PLAIN });
    const worktree = await tempFolder();
    mkdirSync(join(main, ".git/worktrees/w"), { recursive: true });
    writeFileSync(join(worktree, ".git"), `gitdir: ${main}/.git/worktrees/w\n`);
    writeFileSync(join(main, ".git/worktrees/w/commondir"), "../..\n");
    writeFileSync(join(main, ".git/worktrees/w/HEAD"), "ref: refs/heads/side/line\n");
    expect(await isPlainRepository(worktree)).toBe(true);
    expect(await branchOf(worktree)).toBe("side/line");
    writeFileSync(join(main, ".git/worktrees/w/config.worktree"), "[core]\n\tfsmonitor = evil\n");
    expect(await isPlainRepository(worktree)).toBe(false);
  });
});

test("the branch is read from HEAD; a commit is cut; anything else is no branch", async () => {
  expect(await branchOf(await repositoryWith({ HEAD: "ref: refs/heads/main\n" }))).toBe("main");
  expect(await branchOf(await repositoryWith({ HEAD: `${"a".repeat(40)}\n` }))).toBe("aaaaaaaaaaaa");
  expect(await branchOf(await repositoryWith({ HEAD: "what\n" }))).toBeUndefined();
  expect(await branchOf(await repositoryWith({}))).toBeUndefined();
});

test("the repository is the nearest folder upwards that holds .git", async () => {
  const repository = await repositoryWith({});
  mkdirSync(join(repository, "a/b"), { recursive: true });
  expect(await gitRepositoryOf(join(repository, "a/b"))).toBe(repository);
});
