import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { AGENTS } from "./agents.js";
import { readDefinitions } from "./definitions.js";
import { placesOf } from "./places.js";
import { skillList, SKILLS, skillText, type Skill } from "./skills.js";
import { ground, type Ground } from "./testing.js";

async function skillsOf(at: Ground, trusted = false) {
  const reading = await at.reading({ trusted });
  const found = await readDefinitions(SKILLS, await placesOf("skills", reading.around), reading);
  return { found, warnings: reading.warnings, stamps: reading.stamps };
}

async function agentsOf(at: Ground) {
  const reading = await at.reading();
  const found = await readDefinitions(AGENTS, await placesOf("agents", reading.around), reading);
  return { found, warnings: reading.warnings };
}

const project = (name: string): string => `repo/app/.parley/skills/${name}/SKILL.md`;

describe("skills", () => {
  test("every key, and its default", async () => {
    const at = ground({
      [project("plain")]: "# Heading\n\nFirst paragraph,\ntwo lines.\n\nMore.\n",
      [project("full")]:
        "---\nname: full-name\ndescription: Does it\nargument-hint: [file]\nallowed-tools: Bash(git add:*), read_file Grep\nuser-invocable: false\nmodel-invocable: false\nmetadata: { a: 1 }\n---\nText",
      [project("claude")]:
        '---\nargument-hint: "<a> <b>"\nallowed-tools:\n  - Write\n  - Bash(npm test)\ndisable-model-invocation: true\n---\nText',
    });
    const { found, warnings } = await skillsOf(at);
    expect(warnings).toEqual([]);
    expect(found.map(({ folder: _, body: __, ...rest }) => rest)).toEqual([
      {
        name: "claude",
        description: "Text",
        scope: "project",
        argumentHint: "<a> <b>",
        allowedTools: ["Write", "Bash(npm test)"],
        userInvocable: true,
        modelInvocable: false,
      },
      {
        name: "full-name",
        description: "Does it",
        scope: "project",
        argumentHint: "[file]",
        allowedTools: ["Bash(git add:*)", "Read", "Grep"],
        userInvocable: false,
        modelInvocable: false,
      },
      {
        name: "plain",
        description: "First paragraph, two lines.",
        scope: "project",
        allowedTools: [],
        userInvocable: true,
        modelInvocable: true,
      },
    ]);
    expect(found[2]?.folder).toBe(join(at.base, "repo/app/.parley/skills/plain"));
  });

  test.each([
    ["Bash(git add:*),Read , Grep", ["Bash(git add:*)", "Read", "Grep"]],
    ['Bash(node -e "f(a, b)") Read', ['Bash(node -e "f(a, b)")', "Read"]],
    [" , ", []],
  ])("allowed-tools as one text: %s", async (list, rules) => {
    const { found } = await skillsOf(ground({ [project("a")]: `---\nallowed-tools: '${list}'\n---\n` }));
    expect(found[0]?.allowedTools).toEqual(rules);
  });

  test.each(["Bash (git add:*)", "Bash(git add:*", "Bash)", "Bash(x)y"])(
    "allowed-tools that cannot be read grant nothing: %s",
    async (list) => {
      const { found, warnings } = await skillsOf(ground({ [project("a")]: `---\nallowed-tools: '${list}'\n---\n` }));
      expect(found).toEqual([]);
      expect(warnings).toEqual([expect.stringMatching(/SKILL\.md:2: /)]);
    },
  );

  test("a name is the same however its letters are put together", async () => {
    const at = ground({ [project("tu\u0308r")]: "Text", [project("हिन्दी")]: "Text" });
    const { found, warnings } = await skillsOf(at);
    expect(warnings).toEqual([]);
    expect(found.map(({ name }) => name)).toEqual(["t\u00FCr", "हिन्दी"]);
  });

  test("descriptions and hints are whole characters, however they are cut or escaped", async () => {
    const at = ground({
      [project("cut")]: `${"x".repeat(1023)}😀`,
      [project("escaped")]: '---\ndescription: "half \\uD83D"\nargument-hint: "\\uDE00"\n---\nText',
    });
    const { found } = await skillsOf(at);
    expect(found.map(({ description }) => description.isWellFormed())).toEqual([true, true]);
    expect(found[1]).toMatchObject({ description: "half \uFFFD", argumentHint: "\uFFFD" });
  });

  test("a later place wins by name, and within one folder the later entry, with a line", async () => {
    const at = ground({
      "home/skills/a/SKILL.md": "of home",
      "user/.ante/skills/a/SKILL.md": "of ante",
      "repo/app/.claude/skills/a/SKILL.md": "of the project's claude",
      "repo/app/.aionrs/skills/a/SKILL.md": "of the project's aionrs",
      "home/skills/b/SKILL.md": "---\nname: twice\n---\nfirst",
      "home/skills/c/SKILL.md": "---\nname: twice\n---\nsecond",
    });
    const { found, warnings } = await skillsOf(at);
    expect(found.map(({ name, body, scope }) => [name, body, scope])).toEqual([
      ["a", "of the project's aionrs", "project"],
      ["twice", "second", "user"],
    ]);
    expect(warnings).toEqual(["home/skills/c/SKILL.md: there is a skill 'twice' in home/skills/b/SKILL.md already; this one is used"]);
  });

  test("a broken file is one line, and the others are there", async () => {
    const at = ground({
      [project("good")]: "Good",
      [project("open")]: "---\nname: x\n",
      [project("keys")]: "---\nname: x\nuser-invocable: maybe\n---\n",
      [project("named")]: "---\nname: two words\n---\n",
      [project("rules")]: "---\nallowed-tools: ['Bash(']\n---\n",
      [project("binary")]: new Uint8Array([35, 0, 1, 2]),
      [project("latin")]: new Uint8Array([35, 0xe9, 0x20]),
      [project("huge")]: "x".repeat(300 * 1024),
      [project(".hidden")]: "Hidden",
      "repo/app/.parley/skills/README.md": "no folder",
    });
    mkdirSync(join(at.base, "repo/app/.parley/skills/folder/SKILL.md"), { recursive: true });
    mkdirSync(join(at.base, "repo/app/.parley/skills/pipe"));
    execFileSync("mkfifo", [join(at.base, project("pipe"))]);
    symlinkSync("loop", join(at.base, "repo/app/.parley/skills/loop"));
    const { found, warnings } = await skillsOf(at);
    expect(found.map(({ name }) => name)).toEqual(["good"]);
    expect(warnings.toSorted()).toEqual([
      "repo/app/.parley/skills/binary/SKILL.md is not UTF-8 text; it is left out",
      "repo/app/.parley/skills/folder/SKILL.md is not a regular file; it is left out",
      "repo/app/.parley/skills/huge/SKILL.md is 307200 bytes long, and at most 262144 are read; it is left out",
      "repo/app/.parley/skills/keys/SKILL.md:3: user-invocable must be true or false",
      "repo/app/.parley/skills/latin/SKILL.md is not UTF-8 text; it is left out",
      expect.stringMatching(/^repo\/app\/\.parley\/skills\/loop\/SKILL\.md cannot be read: ELOOP/),
      "repo/app/.parley/skills/named/SKILL.md:2: 'two words' cannot be a name; letters, digits, '-', '_', '.' and ':' can be in one, 64 at most",
      "repo/app/.parley/skills/open/SKILL.md:1: the front matter that begins here has no closing '---' line",
      "repo/app/.parley/skills/pipe/SKILL.md is not a regular file; it is left out",
      expect.stringMatching(/^repo\/app\/\.parley\/skills\/rules\/SKILL\.md:2: .*Bash\(/),
    ]);
  });

  test("more than a hundred in one folder are cut, with a line", async () => {
    const names = Array.from({ length: 120 }, (_, index) => `s${String(index).padStart(3, "0")}`);
    const { found, warnings } = await skillsOf(ground(Object.fromEntries(names.map((name) => [project(name), name]))));
    expect(found.map(({ name }) => name)).toEqual(names.slice(0, 100));
    expect(warnings).toEqual(["repo/app/.parley/skills holds 120 skills; only the first 100 by name are used"]);
  });

  test("a link out of an untrusted repository is not followed; the user's own links are", async () => {
    const at = ground({ "secret/SKILL.md": "Secret", "shared/s/SKILL.md": "Shared", [project("x")]: "X", "home/skills/y/SKILL.md": "Y" });
    symlinkSync(join(at.base, "secret"), join(at.base, "repo/app/.parley/skills/out"));
    symlinkSync(join(at.base, "shared/s"), join(at.base, "home/skills/linked"));
    const untrusted = await skillsOf(at);
    expect(untrusted.found.map(({ name }) => name)).toEqual(["linked", "x", "y"]);
    expect(untrusted.warnings).toEqual([
      "repo/app/.parley/skills/out/SKILL.md leads out of repo, and the workspace is not trusted; it is left out",
    ]);
    expect((await skillsOf(at, true)).found.map(({ name }) => name)).toEqual(["linked", "out", "x", "y"]);
  });

  test("changes are noticed: edited, added, removed, and a folder that was not there", async () => {
    const at = ground({ [project("a")]: "A" });
    const isChanged = async (change: () => void): Promise<boolean> => {
      const { stamps } = await skillsOf(at);
      expect(stamps.changed()).toBe(false);
      change();
      return stamps.changed();
    };
    expect(await isChanged(() => at.put({ [project("a")]: "Another" }))).toBe(true);
    expect(await isChanged(() => at.put({ [project("b")]: "B" }))).toBe(true);
    expect(await isChanged(() => rmSync(join(at.base, project("a"))))).toBe(true);
    expect(await isChanged(() => at.put({ "home/skills/n/SKILL.md": "N" }))).toBe(true);
  });

  test("the list is bounded and says what it leaves out", () => {
    const one: Skill = {
      name: "s",
      description: "d".repeat(1000),
      scope: "user",
      allowedTools: [],
      userInvocable: true,
      modelInvocable: true,
      folder: "/f",
      body: "",
    };
    expect(skillList([])).toBe("");
    const list = skillList(Array.from({ length: 200 }, () => one));
    expect(list.length).toBeLessThan(17_000);
    expect(list).toMatch(/- and \d+ more that are not listed here$/);
    // A cut in the middle of a character would make every request invalid.
    const cut = skillList(Array.from({ length: 2 }, (_, at) => ({ ...one, description: `${"d".repeat(292 + at)}${"😀".repeat(4)}` })));
    expect(cut.isWellFormed()).toBe(true);
    expect(skillText({ ...one, body: "Do $1" }, "x")).toBe("Skill 's'. Files that it mentions are in /f\n\nDo x");
  });
});

describe("sub-agents", () => {
  test("every key, and its default", async () => {
    const at = ground({
      "user/.claude/agents/reviewer.md": "---\nname: reviewer\ndescription: Reviews\ntools: Read, Grep\nmodel: m-1\n---\nYou review.\n",
      "repo/app/.agents/agents/plain.md": "---\ndescription: Plain\nmodel: inherit\n---\n",
      "repo/app/.agents/agents/none.md": "---\ndescription: None\ntools: []\n---\nBody",
      "repo/app/.agents/agents/notes.txt": "no",
    });
    const { found, warnings } = await agentsOf(at);
    expect(warnings).toEqual([]);
    expect(found).toEqual([
      { name: "none", description: "None", scope: "project", tools: [], system: "Body" },
      { name: "plain", description: "Plain", scope: "project" },
      { name: "reviewer", description: "Reviews", scope: "user", tools: ["Read", "Grep"], model: "m-1", system: "You review." },
    ]);
  });

  test("each broken file is one line", async () => {
    const at = ground({
      "repo/app/.ante/agents/bare.md": "Just text",
      "repo/app/.ante/agents/model.md": "---\ndescription: D\nmodel: [a]\n---\n",
      "repo/app/.ante/agents/tools.md": "---\ndescription: D\ntools: { a: 1 }\n---\n",
      "repo/app/.ante/agents/twice.md": "---\nname: ok\ndescription: D\n---\n",
      "repo/app/.ante/agents/zwice.md": "---\nname: ok\ndescription: E\n---\n",
    });
    const { found, warnings } = await agentsOf(at);
    expect(found.map(({ name, description }) => [name, description])).toEqual([["ok", "E"]]);
    expect(warnings).toEqual([
      "repo/app/.ante/agents/bare.md:1: a sub-agent needs front matter that describes it",
      "repo/app/.ante/agents/model.md:3: model must be a text",
      "repo/app/.ante/agents/tools.md:3: tools must be a list of tools",
      "repo/app/.ante/agents/zwice.md: there is a sub-agent 'ok' in repo/app/.ante/agents/twice.md already; this one is used",
    ]);
  });
});
