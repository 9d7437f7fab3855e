/** The command where something around it is missing: its folder, its home, a place to write to. */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { environment, PARLEY, run, scratch } from "./harness.js";

/** In a shell, because only there a folder can go away, or an output be full, before the command starts. */
function inShell(line: string, env: Record<string, string> = {}): Promise<{ code: number; stdout: string; stderr: string }> {
  const command = `parley() { '${process.execPath}' '${PARLEY}' "$@"; }; ${line}`;
  return new Promise((resolve) => {
    execFile("bash", ["-c", command], { cwd: scratch(), env: environment(env) }, (error, stdout, stderr) =>
      resolve({ code: typeof error?.code === "number" ? error.code : 0, stdout, stderr }),
    );
  });
}

describe("a folder that is gone", () => {
  const leave = "mkdir gone && cd gone && rmdir ../gone";

  it("is told in a sentence that says what to do", async () => {
    const { code, stderr } = await inShell(`${leave} && parley -p hi`);
    expect([code, stderr]).toEqual([
      1,
      "parley: The folder that this was started in is gone; change to one that exists (cd) and try again\n",
    ]);
  });

  it("is told to a host in its own words", async () => {
    const { code, stdout } = await inShell(`${leave} && parley --json-stream --provider rehearsal </dev/null`);
    expect([code, JSON.parse(stdout)]).toMatchObject([
      1,
      { type: "error", error: { code: "config_error", message: expect.stringMatching(/is gone/) } },
    ]);
  });

  it("does not matter to what needs none", async () => {
    expect(await inShell(`${leave} && parley schema native | head -c 1`)).toEqual({ code: 0, stdout: "{", stderr: "" });
  });
});

describe("a home", () => {
  it("that is named empty is the user's own, never the folder of the moment", async () => {
    const { stdout } = await inShell("unset PARLEY_HOME; HOME= parley config");
    expect(stdout).toContain(`${join(userInfo().homedir, ".parley")} `);
  });
});

describe("an output that cannot be written", () => {
  it.skipIf(!existsSync("/dev/full")).each(["--help", "schema native", "sessions"])("makes %s fail with the reason", async (words) => {
    const { code, stderr } = await inShell(`parley ${words} >/dev/full`);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^parley: The output cannot be written: ENOSPC/)]);
  });
});

describe("a place that cannot be written to", () => {
  it("is named by what wanted to write there, without a stack", async () => {
    const taken = join(scratch({ file: "" }), "file");
    const shims = await run(["shims", join(taken, "bin")]);
    expect([shims.code, shims.stderr]).toEqual([
      1,
      expect.stringMatching(/^parley: The launchers could not be written to .*file\/bin: .*\n$/),
    ]);
    const demo = await inShell("parley demo", { TMPDIR: taken });
    expect([demo.code, demo.stderr]).toEqual([
      1,
      expect.stringMatching(/^parley: No scratch folder could be made in .*file: .*TMPDIR.*\n$/),
    ]);
  });

  it("is not trusted when it is no folder", async () => {
    const folder = scratch({ file: "" });
    for (const [name, reason] of [
      ["nowhere", "does not exist"],
      ["file", "is not a folder"],
    ] as const) {
      const { code, stderr } = await run(["trust", join(folder, name)]);
      expect([code, stderr]).toEqual([1, expect.stringContaining(reason)]);
    }
  });
});
