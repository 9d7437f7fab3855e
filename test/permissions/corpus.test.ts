/**
 * The corpus of commands with the decision that is expected of each under its rules, and commands that are grown anew. Whatever is allowed is
 * run behind bubblewrap and watched: an allow that touches what its rules keep is wrong. `node scripts/grow-corpus.mjs` runs many more.
 */
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { Mode } from "../../src/core/config.js";
import { NO_SANDBOX } from "../sandbox/harness.js";
import { hiding, reading, seeded, type Random } from "./corpus/generate.js";
import { Scene, type Decision, type Touched } from "./corpus/scene.js";

const Commands = v.optional(v.array(v.string()), []);
const Group = v.strictObject({
  title: v.string(),
  mode: v.optional(Mode),
  /** The effect by which an allow is wrong: the denied program ran, something was written, or a secret was read. */
  wrong: v.optional(v.picklist(["ran", "wrote", "read"])),
  rules: v.array(v.string()),
  allow: Commands,
  ask: Commands,
  deny: Commands,
});

const CORPUS = v.parse(v.array(Group), parse(readFileSync(join(import.meta.dirname, "corpus.yaml"), "utf8")));

/** A rule that allows git lets it change its own folder. */
const EFFECTS: Readonly<Record<"ran" | "wrote" | "read", (touched: Touched) => boolean>> = {
  ran: ({ ran }) => ran,
  wrote: ({ ran, changed }) => ran || changed.some((path) => !path.startsWith("ws/.git/")),
  read: ({ ran, changed, read }) => ran || changed.length > 0 || read.length > 0,
};

const SEED = Number(process.env["PARLEY_CORPUS_SEED"] ?? 1);
const COUNT = Number(process.env["PARLEY_CORPUS_COUNT"] ?? 40);
const LONG = 60_000 + COUNT * 1000;

let scene: Scene;
beforeAll(() => {
  const caches = join(import.meta.dirname, "../../node_modules/.cache");
  mkdirSync(caches, { recursive: true });
  scene = new Scene(caches);
});
afterAll(() => scene.remove());

test("the corpus has at least 500 commands, each once under its rules", () => {
  const all = CORPUS.flatMap(({ title, allow, ask, deny }) => [...allow, ...ask, ...deny].map((command) => `${title}: ${command}`));
  expect(all.length).toBeGreaterThanOrEqual(500);
  expect(all.filter((each, at) => all.indexOf(each) !== at)).toEqual([]);
});

describe.each(CORPUS)("$title", ({ rules, mode, wrong, allow, ask, deny }) => {
  test("each command is decided as the corpus says", async () => {
    const judge = await scene.judge(rules, mode);
    const expected: [string, Decision][] = Object.entries({ allow, ask, deny }).flatMap(([decision, commands]) =>
      commands.map((command): [string, Decision] => [command, decision as Decision]),
    );
    for (const [command, decision] of expected) expect.soft(await judge(command), command).toBe(decision);
  });

  if (wrong === undefined) return;
  test.skipIf(NO_SANDBOX !== undefined)("no allow is wrong: each was run and watched", { timeout: LONG }, () => {
    for (const command of allow) expect.soft(EFFECTS[wrong](scene.run(command)), command).toBe(false);
  });
});

const READERS = "ls cat head tail wc cut sort tr grep rg find sed uniq pwd echo git".split(" ");
const COVER = [...READERS, ..."env true false test printf rev awk".split(" ")].map((name) => `+Bash(${name}:*)`);
const GROWN: readonly [title: string, rules: string[], grow: (random: Random) => string, wrong: keyof typeof EFFECTS][] = [
  ["hiding a denied program", ["-Bash(evil *)", "+Bash"], hiding, "ran"],
  ["hiding behind allowed programs", COVER, hiding, "wrote"],
  ["allowed programs with their own options", COVER, reading, "wrote"],
  ["programs that read, without a rule", [], reading, "read"],
  ["hiding, without a rule", [], hiding, "read"],
];

describe.skipIf(NO_SANDBOX !== undefined)(`grown from the seed ${SEED}`, () => {
  test("the scene sees what a command touches", { timeout: LONG }, () => {
    expect(scene.run("evil; cat .env up/outside.txt; echo x > out.txt; rm a.txt")).toEqual({
      ran: true,
      changed: ["ws/a.txt", "ws/out.txt"],
      read: ["ws/.env", "outside.txt"],
    });
    expect(scene.run("ls; cat src/b.ts; git status")).toEqual({ ran: false, changed: [], read: [] });
    const random = seeded(SEED);
    const ran = Array.from({ length: 60 }, () => scene.run(hiding(random)).ran).filter(Boolean);
    expect(ran.length, "commands of sixty that really run the program").toBeGreaterThan(20);
  });

  test.each(GROWN)("%s: no allow is wrong", { timeout: LONG }, async (_, rules, grow, wrong) => {
    const random = seeded(SEED);
    const judge = await scene.judge(rules);
    let allowed = 0;
    for (let count = 0; count < COUNT; count++) {
      const command = grow(random);
      if ((await judge(command)) !== "allow") continue;
      allowed++;
      const touched = scene.run(command);
      expect.soft(EFFECTS[wrong](touched) ? { command, touched } : "fine").toBe("fine");
    }
    expect(allowed).toBeGreaterThan(0);
  });
});
