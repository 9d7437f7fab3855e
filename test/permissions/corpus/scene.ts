/**
 * A scene for commands: a workspace with secrets and links, a home and a program `evil`. Commands run in it behind bubblewrap, and it tells
 * what each has touched. `decide` says what the permissions of a session make of the same command there.
 */
import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, relative } from "node:path";
import type { Mode } from "../../../src/core/config.js";
import { Permissions, UNASKED } from "../../../src/engine/permissions/permissions.js";
import { protectionOf } from "../../../src/engine/permissions/protection.js";
import { onlyReads } from "../../../src/engine/permissions/reading/only-reads.js";
import { compileRules } from "../../../src/engine/permissions/rules.js";
import { localWorkspace } from "../../../src/engine/workspace/local.js";
import { rule } from "../../support/judge-rules.js";

export type Decision = "allow" | "ask" | "deny";

/** The traces of a command. */
export interface Touched {
  /** `evil` was started. */
  ran: boolean;
  /** Files that are new, changed or gone, by their paths in the scene. */
  changed: string[];
  /** Secrets and files outside of the workspace that were read. */
  read: string[];
}

const FILES: Readonly<Record<string, string>> = {
  "ws/a.txt": "a\nb\nc\n",
  "ws/big.txt": "line\n".repeat(2000),
  "ws/list": ".env\0",
  "ws/src/b.ts": "const a = 1;\n",
  "ws/.env": "TOKEN=sesame\n",
  "ws/key.pem": "sesame\n",
  "outside.txt": "outside\n",
  "home/letter.txt": "letter\n",
};
const SECRET = ["ws/.env", "ws/key.pem", "outside.txt", "home/letter.txt"];
const LONG_AGO = new Date("2020-01-01T00:00:00Z");

export class Scene {
  readonly root: string;
  #before = "";

  /** `folder`: an existing one, for a scene of its own below it. */
  constructor(folder: string) {
    this.root = realpathSync(mkdtempSync(join(folder, "scene-")));
    this.#build();
  }

  remove(): void {
    rmSync(this.root, { recursive: true, force: true });
  }

  get #environment(): Record<string, string> {
    return { PATH: `${this.root}/bin:/usr/bin:/bin`, HOME: join(this.root, "home"), LANG: "C.UTF-8" };
  }

  #build(): void {
    for (const name of readdirSync(this.root)) rmSync(join(this.root, name), { recursive: true, force: true });
    for (const [name, content] of Object.entries(FILES)) {
      mkdirSync(dirname(join(this.root, name)), { recursive: true });
      writeFileSync(join(this.root, name), content);
    }
    mkdirSync(join(this.root, "bin"));
    writeFileSync(join(this.root, "bin/evil"), `#!/bin/sh\necho ran >>'${this.root}/ran'\n`);
    chmodSync(join(this.root, "bin/evil"), 0o755);
    symlinkSync("../outside.txt", join(this.root, "ws/link"));
    symlinkSync("..", join(this.root, "ws/up"));
    const git = (...args: string[]): unknown =>
      execFileSync("git", args, { cwd: join(this.root, "ws"), env: this.#environment, stdio: "ignore" });
    git("init", "-q", "-b", "main");
    git("add", "a.txt", "src");
    git("-c", "user.name=Ada", "-c", "user.email=ada@example.com", "commit", "-qm", "one");
    this.#age();
    this.#before = this.#state();
  }

  /** A file that is read after this has another time of access: it is older than the last change. */
  #age(): void {
    for (const name of SECRET) utimesSync(join(this.root, name), LONG_AGO, new Date());
  }

  /** Git writes its index whenever it looks at the files. */
  #state(): string {
    return this.#entries(this.root)
      .filter((path) => !/^ws\/\.git\/index(\.lock)?$/.test(path) && path !== "ran")
      .map((path) => {
        const found = lstatSync(join(this.root, path));
        const content = found.isFile() ? readFileSync(join(this.root, path), "latin1") : found.isDirectory() ? "folder" : "other";
        return `${path}\0${found.mode}\0${content}`;
      })
      .join("\x01");
  }

  #entries(folder: string): string[] {
    return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
      const path = join(folder, entry.name);
      return [relative(this.root, path), ...(entry.isDirectory() ? this.#entries(path) : [])];
    });
  }

  /** Runs the command in bash behind bubblewrap, where nothing but the scene can be changed. What takes too long is ended. */
  run(command: string): Touched {
    this.#age();
    const boundary = "--unshare-all --cap-drop ALL --ro-bind / / --dev /dev --proc /proc --tmpfs /run --tmpfs /tmp".split(" ");
    const cwd = join(this.root, "ws");
    const argv = [...boundary, "--bind", this.root, this.root, "--chdir", cwd, "timeout", "-s", "KILL", "10", "bash", "-c", command];
    spawnSync("bwrap", argv, { cwd, env: this.#environment, stdio: "ignore", timeout: 20_000 });
    // Reading the state reads the secrets, too.
    const read = SECRET.filter(
      (name) => lstatSync(join(this.root, name), { throwIfNoEntry: false })?.atime.getTime() !== LONG_AGO.getTime(),
    );
    const after = this.#state();
    const ran = readdirSync(this.root).includes("ran");
    const before = new Set(this.#before.split("\x01"));
    const now = new Set(after.split("\x01"));
    const changed = [...[...before].filter((entry) => !now.has(entry)), ...[...now].filter((entry) => !before.has(entry))];
    if (changed.length > 0) this.#build();
    else if (ran) rmSync(join(this.root, "ran"));
    return { ran, changed: [...new Set(changed.map((entry) => entry.split("\0")[0] ?? ""))], read };
  }

  /** `-Bash(rm *)` denies, `?…` asks, `+…` allows. */
  async judge(rules: readonly string[], mode: Mode = "default"): Promise<(command: string) => Promise<Decision>> {
    const root = join(this.root, "ws");
    const workspace = await localWorkspace(root, { env: this.#environment });
    const env = this.#environment;
    const home = join(this.root, "home");
    const protection = protectionOf({ home: join(home, ".parley"), userHome: home }, env, workspace);
    const permissions = new Permissions(mode, UNASKED, await compileRules(rules.map(rule)), protection, (command, folder = root, hides) =>
      onlyReads(command, folder, { workspace, env, hides }),
    );
    return async (command) => {
      const call = { tool: "Bash", category: "exec" as const, args: { command }, paths: [], title: command, folder: root };
      return (await permissions.judge({ ...call, outside: undefined, hosted: false, grants: [], asksAlways: false })).decision;
    };
  }
}
