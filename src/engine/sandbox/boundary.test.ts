import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { drawBoundary, type BoundarySources, type Place } from "./boundary.js";

function scene(files: readonly string[]): string {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "parley-test-")));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  for (const file of ["s/tmp/x", "s/outputs/x", "ws/x", "user/x", ...files]) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), "");
  }
  return root;
}

/** The places below the scene, as "access path". */
async function drawn(root: string, more: Partial<BoundarySources> = {}): Promise<string[]> {
  const { places } = await drawBoundary({
    root: join(root, "ws"),
    directories: [],
    home: join(root, "home"),
    userHome: join(root, "user"),
    folder: join(root, "s"),
    write: [],
    read: [],
    hide: [],
    replacesTemp: false,
    ...more,
  });
  return places.filter(({ path }) => path.startsWith(root)).map(({ access, path }: Place) => `${access} ${path.slice(root.length + 1)}`);
}

test("the workspace is written, and the user's keys and PARLEY_HOME are hidden, also where links lead to them", async () => {
  const root = scene(["vault/id", "user/.netrc"]);
  symlinkSync("../vault", join(root, "user/.ssh"));
  expect((await drawn(root)).toSorted()).toEqual([
    "hidden file user/.netrc",
    "hidden folder home",
    "hidden folder vault",
    "read ws/.parley",
    "write ws",
  ]);
});

test("a home that is the workspace keeps its start files, and hides its keys", async () => {
  const root = scene(["user/.bashrc", "user/.ssh/id", "user/.config/gcloud/x", "user/.config/git/config", "user/.parley/config.yaml"]);
  const user = join(root, "user");
  expect((await drawn(root, { root: user, home: join(user, ".parley") })).toSorted()).toEqual([
    "hidden folder user/.config/gcloud",
    "hidden folder user/.parley",
    "hidden folder user/.ssh",
    "read user/.bashrc",
    "read user/.config/git",
    "write user",
    "write user/.config",
  ]);
});

test("the config shows a file of a hidden folder, hides one of the workspace, and opens a hidden folder that it writes", async () => {
  const root = scene(["user/.ssh/known_hosts", "user/.aws/x", "ws/deep/er/key", "home/skills/a"]);
  const options = { read: ["~/.ssh/known_hosts"], hide: ["deep/er/key"], write: ["~/.aws"] };
  expect((await drawn(root, options)).toSorted()).toEqual([
    "hidden file ws/deep/er/key",
    "hidden folder home",
    "hidden folder user/.ssh",
    "read home/skills",
    "read user/.ssh/known_hosts",
    "read ws/.parley",
    "write user/.aws",
    "write ws",
    "write ws/deep",
    "write ws/deep/er",
  ]);
});

test.each([
  [{ write: ["~/nowhere"] }, "sandbox.write names"],
  [{ read: ["nowhere"] }, "sandbox.read names"],
  [{ root: "/" }, "is the whole file system"],
  [{ directories: ["/"] }, "is the whole file system"],
])("%j makes no boundary", async (more, words) => {
  await expect(drawn(scene([]), more)).rejects.toThrow(words);
});

test.each([".parley", ".git", ".git/hooks", ".git/config"])("a link in the place of %s makes no boundary", async (name) => {
  const root = scene(["ws/other/x", "elsewhere/x"]);
  mkdirSync(dirname(join(root, "ws", name)), { recursive: true });
  symlinkSync(join(root, "elsewhere"), join(root, "ws", name));
  await expect(drawn(root)).rejects.toThrow(`${join(root, "ws", name)} is a symbolic link`);
});
