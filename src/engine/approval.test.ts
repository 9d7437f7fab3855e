import { describe, expect, test } from "vitest";
import { Permissions, type JudgedCall } from "./approval.js";
import { compileRules } from "./rules.js";

function call(more: Partial<JudgedCall>): JudgedCall {
  return {
    tool: "Write",
    category: "edit",
    args: {},
    paths: [],
    title: "x",
    outside: undefined,
    hosted: false,
    grants: [],
    asksAlways: false,
    ...more,
  };
}

const edit = (relative: string): JudgedCall => call({ paths: [{ path: `/w/${relative}`, relative }] });

describe("files that decide what runs or is allowed", () => {
  const permissions = async () => new Permissions("auto_edit", [], await compileRules([]), () => Promise.resolve(["/w/conf"]));

  test.each([
    ".git/hooks/pre-commit",
    ".git/config",
    ".git",
    "vendor/lib/.git/hooks/post-checkout",
    ".GIT/HOOKS/pre-commit",
    ".husky/pre-commit",
    ".parley/config.yaml",
    ".parley",
    "packages/a/.parley/skills/x/SKILL.md",
    ".agents/skills/x/SKILL.md",
    ".claude/agents/a.md",
    ".Claude/Skills/x/SKILL.md",
    ".ante/settings.json",
    ".aionrs/skills/x/SKILL.md",
    ".bashrc",
    "home/.bash_profile",
    ".bash_login",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".ZPROFILE",
    ".kshrc",
    ".cshrc",
    ".tcshrc",
    ".envrc",
    ".gitconfig",
    ".config/fish/config.fish",
    "Documents/PowerShell/Microsoft.PowerShell_profile.ps1",
    "conf/config.yaml",
  ])("%s is asked about in auto_edit", async (path) => {
    expect(await (await permissions()).judge(edit(path))).toMatchObject({ decision: "ask" });
  });

  test.each([
    ".gitignore",
    ".github/workflows/ci.yml",
    "src/profile.ts",
    "docs/.parleyrc",
    "git/hooks/x",
    "my.bashrc",
    "bashrc",
    "claude/a.md",
    "config/x",
  ])("%s is not", async (path) => {
    expect(await (await permissions()).judge(edit(path))).toEqual({ decision: "allow" });
  });
});

describe("what a skill lets run unasked", () => {
  const bash = (command: string): JudgedCall => call({ tool: "Bash", category: "exec", args: { command } });

  test("counts until the turn's rules are taken away, and only for what they name", async () => {
    const permissions = new Permissions("default", [], await compileRules([]));
    permissions.forTurn = [await compileRules([{ allow: "Bash(git status:*)" }])];
    expect(await permissions.judge(bash("git status -s"))).toEqual({ decision: "allow" });
    expect(await permissions.judge(bash("git status; rm x"))).toMatchObject({ decision: "ask" });
    permissions.forTurn = [];
    expect(await permissions.judge(bash("git status -s"))).toMatchObject({ decision: "ask" });
  });

  test("is beaten by deny and ask, by plan mode, and covers neither governing files nor what lies outside", async () => {
    const permissions = new Permissions("default", [], await compileRules([{ deny: "Bash(rm:*)" }, { ask: "Bash(git push:*)" }]));
    permissions.forTurn = [await compileRules([{ allow: "Bash" }, { allow: "Write" }])];
    expect(await permissions.judge(bash("ls"))).toEqual({ decision: "allow" });
    expect(await permissions.judge(bash("rm x"))).toMatchObject({ decision: "deny" });
    expect(await permissions.judge(bash("git push"))).toMatchObject({ decision: "ask" });
    expect(await permissions.judge(edit("a.txt"))).toEqual({ decision: "allow" });
    expect(await permissions.judge(edit(".claude/skills/x/SKILL.md"))).toMatchObject({ decision: "ask" });
    expect(await permissions.judge(call({ outside: "/etc/x" }))).toMatchObject({ decision: "ask" });
    permissions.mode = "plan";
    expect(await permissions.judge(bash("ls"))).toMatchObject({ decision: "deny" });
  });

  test("a skill that would grant something is asked about, also where reading is not", async () => {
    const permissions = new Permissions("auto_edit", ["Skill"], await compileRules([]));
    const skill = call({ tool: "Skill", category: "info" });
    expect(await permissions.judge(skill)).toEqual({ decision: "allow" });
    const granting = { ...skill, grants: ["Bash(git *)"] };
    expect(await permissions.judge(granting)).toEqual({ decision: "ask", message: "Allow x? (lets Bash(git *) run unasked in this turn)" });
    // An earlier yes to every use of skills was none to this.
    permissions.grant({ call: "c", decision: "allow", grant: "tool" }, skill);
    expect(await permissions.judge(granting)).toMatchObject({ decision: "ask" });
    permissions.grant({ call: "c", decision: "allow", grant: "tool" }, granting);
    expect(await permissions.judge(granting)).toEqual({ decision: "allow" });
    const more = { ...skill, grants: ["Bash(git *)", "Write"] };
    expect(await permissions.judge(more)).toEqual({ decision: "ask", message: "Allow x? (lets Write run unasked in this turn)" });
  });
});
