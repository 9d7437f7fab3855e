import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { placesOf, repositoryOf } from "./places.js";
import { ground } from "./testing.js";

test("the user's places come first, then the project's", async () => {
  const { base, reading } = ground();
  const { around } = await reading();
  const places = await placesOf("skills", { ...around, anteHome: join(base, "ante") });
  expect(places.map(({ folder, scope }) => `${scope} ${folder.replace(`${base}/`, "")}`)).toEqual([
    "user home/skills",
    "user user/.agents/skills",
    "user user/.claude/skills",
    "user ante/skills",
    "project repo/app/.parley/skills",
    "project repo/app/.agents/skills",
    "project repo/app/.claude/skills",
    "project repo/app/.ante/skills",
    "project repo/app/.aionrs/skills",
  ]);
});

test("a workspace that is the user's home adds only what the user's places do not cover", async () => {
  const { base, reading } = ground();
  for (const name of [".parley", ".agents", ".claude", ".ante", ".aionrs"])
    mkdirSync(join(base, "user", name, "agents"), { recursive: true });
  const { around } = await reading({ root: join(base, "user") });
  const places = await placesOf("agents", { ...around, home: join(base, "user/.parley") });
  expect(places.map(({ folder, scope }) => `${scope} ${folder.replace(`${base}/`, "")}`)).toEqual([
    "user user/.parley/agents",
    "user user/.agents/agents",
    "user user/.claude/agents",
    "user user/.ante/agents",
    "project user/.aionrs/agents",
  ]);
});

test("a folder that is a link to one of the user's is the user's", async () => {
  const { base, reading, put } = ground({ "user/.claude/skills/a/SKILL.md": "A" });
  put({ "repo/app/.claude/x": "" });
  symlinkSync(join(base, "user/.claude/skills"), join(base, "repo/app/.claude/skills"));
  const places = await placesOf("skills", (await reading()).around);
  expect(places.filter(({ folder }) => folder.endsWith(".claude/skills")).map(({ scope }) => scope)).toEqual(["user"]);
});

test("the repository is the nearest one upwards, and without one the workspace itself", async () => {
  const { base, put } = ground({ "repo/app/nested/deep/x": "", "lone/deep/x": "" });
  expect(await repositoryOf(join(base, "repo/app/nested/deep"))).toBe(join(base, "repo"));
  put({ "repo/app/nested/.git": "gitdir: elsewhere" });
  expect(await repositoryOf(join(base, "repo/app/nested/deep"))).toBe(join(base, "repo/app/nested"));
  expect(await repositoryOf(join(base, "lone/deep"))).toBe(join(base, "lone/deep"));
});
