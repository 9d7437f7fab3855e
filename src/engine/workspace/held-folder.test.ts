import { constants, mkdirSync, readdirSync, readFileSync, realpathSync, renameSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { holdByHandle, holdByName, type HeldFolder } from "./held-folder.js";
import { tempFolder } from "../tools/testing.js";

type Hold = (path: string, make?: boolean) => Promise<HeldFolder | undefined>;

const WAYS: [string, Hold][] = [
  ["by its name", holdByName],
  ...(process.platform === "linux" ? [["by its handle", holdByHandle] as [string, Hold]] : []),
];

async function held(hold: Hold, path: string, make?: boolean): Promise<HeldFolder> {
  const folder = await hold(path, make);
  if (folder === undefined) throw new Error("this system has no /proc");
  return folder;
}

/** `base/folder/file`, and `base/other/file`. */
async function places(): Promise<string> {
  const base = realpathSync(await tempFolder());
  for (const name of ["folder", "other"]) {
    mkdirSync(join(base, name));
    writeFileSync(join(base, name, "file"), name);
  }
  return base;
}

async function textOf(folder: HeldFolder, name: string): Promise<string> {
  const file = await folder.open(name, constants.O_RDONLY);
  try {
    return await file.readFile("utf8");
  } finally {
    await file.close();
  }
}

describe.each(WAYS)("a folder held %s", (_, hold) => {
  test("gives its files, and is made with those above it where that is wanted", async () => {
    const base = await places();
    const folder = await held(hold, join(base, "folder"));
    expect(await textOf(folder, "file")).toBe("folder");
    await folder.check();
    await folder.close();
    await expect(hold(join(base, "a/b/c"))).rejects.toThrow(/ENOENT/);
    const made = await held(hold, join(base, "a/b/c"), true);
    writeFileSync(made.at("new"), "x");
    await made.close();
    expect(readFileSync(join(base, "a/b/c/new"), "utf8")).toBe("x");
    await expect(hold(join(base, "folder/file/below"), true)).rejects.toThrow(/ENOTDIR|EEXIST/);
    const root = await held(hold, "/");
    await root.check();
    await root.close();
  });

  test("is none where a link is on its path, at its end or before", async () => {
    const base = await places();
    mkdirSync(join(base, "other/deep"));
    symlinkSync("other", join(base, "link"));
    for (const path of ["link", "link/deep"]) await expect(hold(join(base, path)), path).rejects.toThrow(/swapped for a link/);
    await expect(hold(join(base, "link/new"), true)).rejects.toThrow(/swapped for a link/);
    expect(readdirSync(join(base, "other"))).toEqual(["deep", "file"]);
  });

  test("opens no link in it", async () => {
    const base = await places();
    symlinkSync("../other/file", join(base, "folder/link"));
    const folder = await held(hold, join(base, "folder"));
    await expect(textOf(folder, "link")).rejects.toThrow(/ELOOP/);
    await folder.close();
  });

  test("never gives a file of a folder that took its place", async () => {
    const base = await places();
    const folder = await held(hold, join(base, "folder"));
    renameSync(join(base, "folder"), join(base, "away"));
    symlinkSync("other", join(base, "folder"));
    const text = await textOf(folder, "file").catch((error: unknown) => String(error));
    expect(text).toMatch(/^folder$|swapped for a link/);
    unlinkSync(join(base, "folder"));
    renameSync(join(base, "other"), join(base, "folder"));
    expect(await textOf(folder, "file").catch((error: unknown) => String(error))).toMatch(/^folder$|swapped for a link/);
    await folder.close();
  });
});
