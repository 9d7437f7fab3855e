/** The flags of tools and modes: they mean the same under every output, and other programs' command lines keep theirs. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { run, scratch, script, start } from "../process/harness.js";

const OUTPUTS = [[[]], [["--json"]], [["--events"]], [["-o", "json"]], [["-o", "stream-json"]]];
const write = (path: string): unknown => ({ call: { tool: "Write", args: { file_path: path, content: "x" } } });
const scripted = (...responses: unknown[]): string[] => ["--provider", "rehearsal", "--model", script(responses)];
/** Names of tools that a model is offered under these flags. */
async function offered(flags: string[]): Promise<string[]> {
  const names = ["Read", "Glob", "Bash", "Write", "Edit"];
  const each = names.map(async (name) => {
    const { code } = await run(["-p", "go", ...flags, ...scripted({ expect: { tools: [name] }, say: "ok" })]);
    return code === 0 ? [name] : [];
  });
  return (await Promise.all(each)).flat();
}

describe.each(OUTPUTS)("under %j", (output) => {
  test("--tools names the only tools that there are, and --disallowed-tools those that are not there", async () => {
    expect(await offered(["--tools", "Read,Bash", ...output])).toEqual(["Read", "Bash"]);
    expect(await offered(["--disallowed-tools", "Read,Bash", ...output])).toEqual(["Glob", "Write", "Edit"]);
  });

  test.each(["--allowed-tools", "--approve-tools"])("%s names the calls that run unasked, and takes no tool away", async (flag) => {
    const cwd = scratch();
    await run(["-p", "go", ...scripted(write("a.txt"), { expect: { tools: ["Read", "Bash"] }, say: "ok" }), flag, "Write", ...output], {
      cwd,
    });
    expect(existsSync(join(cwd, "a.txt"))).toBe(true);
  });

  test.each(["auto_edit", "auto-edit"])("--approval-mode takes %s", async (mode) => {
    const cwd = scratch();
    const { code } = await run(["-p", "go", ...scripted(write("a.txt"), { say: "ok" }), "--approval-mode", mode, ...output], { cwd });
    expect([code, existsSync(join(cwd, "a.txt"))]).toEqual([0, true]);
  });
});

describe("other programs' command lines keep their meaning", () => {
  test("serve: --allowed-tools names the only tools, as Ante has it", async () => {
    for (const flag of ["--allowed-tools", "--tools"]) {
      const host = start({ args: [flag, "Read"], responses: [{ expect: { tools: ["Read"] }, say: "ok" }] });
      expect((await host.open()).config).toMatchObject({ allowedTools: ["Read"] });
      expect(await host.finish()).toBe(0);
    }
  });

  test.each([
    ["Qwen Code's tools", ["--dialect", "qwen-shipped", "-o", "json", "--allowed-tools", "write_file"]],
    ["Qwen Code's other flags, where its format is asked for", ["-o", "json", "--allowed-tools", "Write", "--max-session-turns", "3"]],
    ["our own name of a mode in Qwen Code's command line", ["--dialect", "qwen-shipped", "-o", "json", "--approval-mode", "auto_edit"]],
    ["Claude Code's tools", ["--dialect", "claude", "--output-format", "json", "--allowedTools", "Write"]],
  ])("%s", async (_, flags) => {
    const cwd = scratch();
    const { code } = await run(["-p", "go", ...scripted(write("a.txt"), { say: "ok" }), ...flags], { cwd });
    expect([code, existsSync(join(cwd, "a.txt"))]).toEqual([0, true]);
  });
});
