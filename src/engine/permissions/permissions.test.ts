import { describe, expect, test } from "vitest";
import type { Mode } from "../../core/config.js";
import { Permissions, type JudgedCall } from "./permissions.js";
import { Protection } from "./protection.js";
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

const workspace = { root: "/w", resolve: (path: string) => Promise.resolve({ path, named: path, inside: true }) };
const protection = new Protection({ workspace, env: {}, home: "/w/conf", others: ["/w/theirs"] });

describe("files that decide what runs or is allowed", () => {
  const permissions = async () => new Permissions("auto_edit", [], await compileRules([]), protection);

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
    "theirs/skills/x/SKILL.md",
    ".mcp.json",
    ".vscode/tasks.json",
    ".idea/workspace.xml",
    ".githooks/pre-commit",
    ".github/workflows/ci.yml",
    ".gitlab-ci.yml",
    ".npmrc",
    ".env",
    "app/.env.local",
    "AGENTS.md",
    "docs/CLAUDE.md",
    ".codex/config.toml",
    ".gemini/settings.json",
    ".qwen/settings.json",
    ".cursor/rules/a.mdc",
    ".opencode/agent/a.md",
    "node_modules/.bin/tsc",
    "home/.ssh/authorized_keys",
    ".config/git/config",
    ".local/bin/ls",
    "HEAD",
    "bare/HEAD",
  ])("%s is asked about in auto_edit", async (path) => {
    expect(await (await permissions()).judge(edit(path))).toMatchObject({ decision: "ask" });
  });

  test.each([
    ".gitignore",
    ".github/CODEOWNERS",
    "node_modules/a/index.js",
    "src/AGENTS.md.ts",
    "src/environment.ts",
    "env/.environment.d/x",
    "objects/a",
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

describe("files that decide about the session itself", () => {
  const lax = async (mode: Mode) =>
    new Permissions(mode, ["Write"], await compileRules([{ allow: "Write" }, { allow: "Bash" }, { allow: "Read" }]), protection);

  test.each(["default", "auto_edit", "yolo"] as const)("is asked about in %s, whatever rules and grants allow", async (mode) => {
    const permissions = await lax(mode);
    const own = edit("conf/config.yaml");
    await permissions.grants.add({ call: "c", decision: "allow", grant: "category" }, own);
    const asked = {
      decision: "ask",
      message: "Allow x? (/w/conf/config.yaml decides what is run or allowed; that is asked about in every mode)",
    };
    expect(await permissions.judge(own)).toEqual(asked);
    for (const path of ["conf/trust.json", "conf/sessions/a/log.jsonl", "conf", ".parley/config.yaml", "a/.parley/config.yaml"])
      expect(await permissions.judge(edit(path)), path).toMatchObject({ decision: "ask" });
    const bash = call({ tool: "Bash", category: "exec", args: { command: "echo x > conf/config.yaml" } });
    expect(await permissions.judge(bash)).toMatchObject({ decision: "ask" });
    expect(await permissions.judge(edit(".git/config"))).toEqual({ decision: "allow" });
  });

  test("is denied in plan mode and where a rule says so", async () => {
    expect(await (await lax("plan")).judge(edit("conf/config.yaml"))).toMatchObject({ decision: "deny" });
    const denying = new Permissions("yolo", [], await compileRules([{ deny: "Write(conf/**)" }]), protection);
    expect(await denying.judge(edit("conf/config.yaml"))).toMatchObject({ decision: "deny" });
  });

  test("may be read, but not what shows the secrets of processes", async () => {
    const permissions = await lax("yolo");
    const read = (path: string, tool = "Read") => call({ tool, category: "info", paths: [{ path }] });
    expect(await permissions.judge(read("/w/conf/config.yaml"))).toEqual({ decision: "allow" });
    for (const path of ["/proc/1/environ", "/proc/12/mem", "/proc/12/cmdline", "/proc/12/task/13/environ"])
      expect(await permissions.judge(read(path)), path).toMatchObject({ decision: "ask" });
    for (const path of ["/proc", "/proc/12"]) expect(await permissions.judge(read(path, "Grep")), path).toMatchObject({ decision: "ask" });
    expect(await permissions.judge(read("/", "Grep"))).toEqual({ decision: "allow" });
    for (const path of ["/proc/cpuinfo", "/proc/12/status"])
      expect(await permissions.judge(read(path)), path).toEqual({ decision: "allow" });
    const named = call({ tool: "Read", category: "info", paths: [{ path: "/w/x", named: { path: "/proc/self/environ" } }] });
    expect(await permissions.judge(named)).toMatchObject({ decision: "ask" });
  });
});

describe("calls that a skill lets run unasked", () => {
  const bash = (command: string): JudgedCall => call({ tool: "Bash", category: "exec", args: { command } });

  test("counts until the turn's rules are taken away, and only for what they name", async () => {
    const permissions = new Permissions("default", [], await compileRules([]), protection);
    permissions.forTurn = [await compileRules([{ allow: "Bash(git status:*)" }])];
    expect(await permissions.judge(bash("git status -s"))).toEqual({ decision: "allow" });
    expect(await permissions.judge(bash("git status; rm x"))).toMatchObject({ decision: "ask" });
    permissions.forTurn = [];
    expect(await permissions.judge(bash("git status -s"))).toMatchObject({ decision: "ask" });
  });

  test("is beaten by deny and ask, by plan mode, and covers neither governing files nor what lies outside", async () => {
    const permissions = new Permissions(
      "default",
      [],
      await compileRules([{ deny: "Bash(rm:*)" }, { ask: "Bash(git push:*)" }]),
      protection,
    );
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
    const permissions = new Permissions("auto_edit", ["Skill"], await compileRules([]), protection);
    const skill = call({ tool: "Skill", category: "info" });
    expect(await permissions.judge(skill)).toEqual({ decision: "allow" });
    const granting = { ...skill, grants: ["Bash(git *)"] };
    const message = "Allow x? (lets Bash(git *) run unasked in this turn)";
    expect(await permissions.judge(granting)).toEqual({ decision: "ask", message, grant: { covers: { tool: "Skill" } } });
    // An earlier yes to every use of skills was none to this.
    await permissions.grants.add({ call: "c", decision: "allow", grant: "tool" }, skill);
    expect(await permissions.judge(granting)).toMatchObject({ decision: "ask" });
    await permissions.grants.add({ call: "c", decision: "allow", grant: "tool" }, granting);
    expect(await permissions.judge(granting)).toEqual({ decision: "allow" });
    const more = { ...skill, grants: ["Bash(git *)", "Write"] };
    expect(await permissions.judge(more)).toMatchObject({ decision: "ask", message: "Allow x? (lets Write run unasked in this turn)" });
    await permissions.grants.add({ call: "c", decision: "allow", grant: "prefix" }, more);
    expect(await permissions.judge(more)).toMatchObject({ decision: "ask" });
    await permissions.grants.add({ call: "c", decision: "allow", grant: "prefix" }, more, { covers: { tool: "Skill" } });
    expect(await permissions.judge(more)).toEqual({ decision: "allow" });
  });
});
