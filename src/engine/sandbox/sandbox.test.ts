import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { openSandbox, type Sandbox } from "./sandbox.js";

const WORKS = process.platform === "linux" && spawnSync("bwrap", ["--unshare-user", "--ro-bind", "/", "/", "true"]).status === 0;
if (!WORKS) console.warn("Skipped, because bubblewrap does not work here");

function workspace(): string {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "parley-test-")));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  for (const folder of [".vscode", ".github/workflows", "sub", "other"]) mkdirSync(join(root, folder), { recursive: true });
  writeFileSync(join(root, ".vscode/tasks.json"), "{}");
  return root;
}

async function opened(root: string): Promise<Sandbox> {
  const sandbox = await openSandbox(
    { mode: "required" },
    { root, directories: [], home: join(root, "home"), userHome: join(root, "user") },
  );
  onTestFinished(() => sandbox.close());
  return sandbox;
}

describe.skipIf(!WORKS)("a sandbox", () => {
  test("mounts each folder on the way to a kept one, the outer ones first", async () => {
    const root = workspace();
    const argv = (await opened(root)).confine(["true"], root);
    const at = (...words: string[]): number => argv.findIndex((_, index) => words.every((word, offset) => argv[index + offset] === word));
    const order = [
      at("--bind-try", root, root),
      at("--bind-try", join(root, ".github"), join(root, ".github")),
      at("--ro-bind-try", join(root, ".github/workflows"), join(root, ".github/workflows")),
    ];
    expect(Math.min(...order)).toBeGreaterThan(0);
    expect(order.toSorted((a, b) => a - b)).toEqual(order);
    expect(argv.join(" ")).toContain(`--chdir ${root} -- `);
  });

  test("starts nothing when a link has taken the place of a kept folder", async () => {
    const root = workspace();
    const sandbox = await opened(root);
    renameSync(join(root, ".vscode"), join(root, "moved"));
    expect(sandbox.confine(["true"], root)).not.toContain(join(root, ".vscode"));
    symlinkSync("other", join(root, ".vscode"));
    expect(() => sandbox.confine(["true"], root)).toThrow(`a symbolic link has come up on the way to ${join(root, ".vscode")}`);
  });

  test("mounts nothing for a need that is met anyway: a command could put a link there", async () => {
    const root = workspace();
    const sandbox = await opened(root);
    const usual = sandbox.confine(["true"], root);
    expect(sandbox.confine(["true"], root, { write: [join(root, "sub"), root, "/tmp/x"] })).toEqual(usual);
    expect(sandbox.confine(["true"], root, { write: ["/etc"] }).join(" ")).toContain("--bind-try /etc /etc");
    expect(sandbox.confine(["true"], root, { write: [join(root, ".vscode")] }).length).toBeGreaterThan(usual.length);
    expect(sandbox.confine(["true", "x"], root, { outside: true })).toEqual(["true", "x"]);
  });
});
