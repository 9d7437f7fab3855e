/** A patch is judged as the edits, writes and removals that would do the same. */
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { SessionConfig } from "../../core/config.js";
import { Redactor } from "../../core/secrets/redact.js";
import { judgedCall } from "../calls/prepare.js";
import { toolbox } from "../turn/toolbox.js";
import { HostRequests } from "../session/host-requests.js";
import { applyPatch } from "../tools/patch/apply-patch.js";
import { tempFolder } from "../tools/testing.js";
import { localWorkspace } from "../workspace/local.js";
import { Permissions, type JudgedCall } from "./permissions.js";
import { Protection } from "./protection.js";
import { compileLimits } from "./tool-limits.js";

const UPDATE = ["*** Update File: src/a.ts", "@@", "-a", "+b"];
const ADD = ["*** Add File: src/new.ts", "+x"];
const DELETE = ["*** Delete File: src/a.ts"];
const MOVE = ["*** Update File: src/a.ts", "*** Move to: src/b.ts"];
const ELSEWHERE = ["*** Update File: docs/a.md", "@@", "-a", "+b"];

async function judged(lines: readonly string[], config: SessionConfig): Promise<{ permissions: Permissions; call: JudgedCall }> {
  const root = await tempFolder();
  for (const name of ["src", "docs", ".parley"]) mkdirSync(join(root, name));
  writeFileSync(join(root, "src/a.ts"), "a\n");
  writeFileSync(join(root, "docs/a.md"), "a\n");
  symlinkSync("src/a.ts", join(root, "link.ts"));
  const workspace = await localWorkspace(root, { env: {} });
  const protection = new Protection({ workspace, env: { HOME: root } });
  const permissions = new Permissions(config.mode ?? "default", config.approveTools ?? [], await compileLimits(config), protection);
  const input = ["*** Begin Patch", ...lines, "*** End Patch"].join("\n");
  return { permissions, call: await judgedCall({ workspace, redactor: new Redactor() }, applyPatch, { input }) };
}

async function verdict(lines: readonly string[], config: SessionConfig): Promise<string> {
  const { permissions, call } = await judged(lines, config);
  return (await permissions.judge(call)).decision;
}

describe("a deny holds for a patch, whatever the mode", () => {
  test.each<[string, readonly string[]]>([
    ["Edit(src/a.ts)", UPDATE],
    ["Write(src/a.ts)", UPDATE],
    ["Write(src/new.ts)", ADD],
    ["Edit(src/new.ts)", ADD],
    ["edit(src/**)", DELETE],
    ["Edit(src/a.ts)", DELETE],
    ["Write(src/a.ts)", DELETE],
    ["Bash(rm *)", DELETE],
    ["Bash", DELETE],
    ["Edit(src/b.ts)", MOVE],
    ["Write(src/a.ts)", MOVE],
    ["Bash(rm *)", MOVE],
    ["Edit", UPDATE],
    ["Write", UPDATE],
    ["apply_patch", UPDATE],
    ["Edit(docs/**)", [...UPDATE, ...ELSEWHERE]],
    ["Edit(src/a.ts)", ["*** Update File: link.ts", "@@", "-a", "+b"]],
    ["Edit(link.ts)", ["*** Update File: link.ts", "@@", "-a", "+b"]],
    ["Edit(src/a.ts)", ["*** Update File: ./docs/../src/a.ts", "@@", "-a", "+b"]],
  ])("%s %j", async (deny, lines) => {
    for (const mode of ["default", "yolo"] as const) expect(await verdict(lines, { mode, rules: [{ deny }, { allow: "*" }] })).toBe("deny");
    expect(await verdict(lines, { mode: "yolo", rules: [{ ask: deny }, { allow: "*" }] })).toBe("ask");
  });
});

test.each<[string, SessionConfig, readonly string[], string]>([
  ["an allow of Edit is one of updates", { rules: [{ allow: "Edit(src/**)" }] }, UPDATE, "allow"],
  ["and not of new files", { rules: [{ allow: "Edit(src/**)" }] }, ADD, "ask"],
  ["an allow of Write is one of new files", { rules: [{ allow: "Write(src/**)" }] }, ADD, "allow"],
  ["all of a patch must be allowed", { rules: [{ allow: "Edit(src/**)" }] }, [...UPDATE, ...ELSEWHERE], "ask"],
  ["by several rules", { rules: [{ allow: "Edit(src/**)" }, { allow: "Edit(docs/**)" }] }, [...UPDATE, ...ELSEWHERE], "allow"],
  ["a removal is none of them", { rules: [{ allow: "Edit" }, { allow: "Write" }] }, DELETE, "ask"],
  ["but an allowed command", { rules: [{ allow: "Bash(rm *)" }] }, DELETE, "allow"],
  ["the category allows all", { rules: [{ allow: "edit" }] }, [...UPDATE, ...MOVE], "allow"],
  ["auto_edit runs updates and new files", { mode: "auto_edit" }, [...UPDATE, ...ADD], "allow"],
  ["auto_edit asks about removals, as for a command", { mode: "auto_edit" }, DELETE, "ask"],
  ["auto_edit asks about moves", { mode: "auto_edit" }, MOVE, "ask"],
  ["auto_edit asks about protected files", { mode: "auto_edit" }, [...UPDATE, "*** Add File: AGENTS.md", "+x"], "ask"],
  ["files that govern are asked about in yolo", { mode: "yolo" }, [...UPDATE, "*** Add File: .parley/config.yaml", "+x"], "ask"],
  ["auto_edit asks about files outside", { mode: "auto_edit" }, [...UPDATE, "*** Add File: ../x", "+x"], "ask"],
  ["plan mode denies", { mode: "plan" }, UPDATE, "deny"],
  ["approved Edit runs updates", { approveTools: ["Edit"] }, UPDATE, "allow"],
  ["and nothing else", { approveTools: ["Edit"] }, [...UPDATE, ...ADD], "ask"],
  ["a limit of Edit holds", { mode: "yolo", allowedTools: ["Edit(docs/**)", "Write"] }, UPDATE, "deny"],
  ["a limit leaves what it names", { mode: "yolo", allowedTools: ["Edit(src/**)", "Write"] }, UPDATE, "allow"],
  ["a limit of Write holds", { mode: "yolo", allowedTools: ["Edit", "Write(docs/**)"] }, [...UPDATE, ...ADD], "deny"],
])("%s", async (_, config, lines, decision) => {
  expect(await verdict(lines, config)).toBe(decision);
});

test.each(["tool", "prefix", "category"] as const)("a yes with the grant %s covers later updates, and no removal", async (grant) => {
  const { permissions, call } = await judged(UPDATE, {});
  const asked = await permissions.judge(call);
  await permissions.grants.add({ call: "1", decision: "allow", grant }, call, asked.decision === "ask" ? asked.grant : undefined);
  expect((await permissions.judge(call)).decision).toBe("allow");
  const { call: removal } = await judged(DELETE, {});
  const question = await permissions.judge(removal);
  expect(question).toEqual({ decision: "ask", message: expect.any(String) });
});

test.each<[string, SessionConfig, boolean]>([
  ["no lists", {}, true],
  ["both tools", { allowedTools: ["Edit", "Write"] }, true],
  ["one of them", { allowedTools: ["Edit"] }, false],
  ["Edit forbidden", { disallowedTools: ["Edit"] }, false],
  ["Write forbidden", { disallowedTools: ["Write"] }, false],
  ["Write forbidden in part", { disallowedTools: ["Write(src/**)"] }, true],
  ["other agents' names", { allowedTools: ["apply_patch", "write_file"] }, true],
  ["a pattern of names", { disallowedTools: ["apply*"] }, false],
])("apply_patch is there as far as Edit and Write are: %s", (_, config, isThere) => {
  const host = { requests: new HostRequests(), emit: () => undefined, seconds: 1 };
  expect(toolbox(config, host, []).has("apply_patch")).toBe(isThere);
});
