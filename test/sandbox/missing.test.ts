/** A machine without a sandbox, or with one that does not work: `required` refuses, `auto` goes on and says so. By the built command. */
import { chmodSync, existsSync, mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { findSystem } from "../../src/engine/sandbox/system.js";
import { run, scratch, start } from "../process/harness.js";
import { NO_SANDBOX, place, resultOf } from "./harness.js";

/** A PATH on which a bwrap lies that does this. */
function withBwrap(script: string): { env: { PATH: string } } {
  const bin = scratch({ bwrap: `#!/bin/sh\n${script}\n` });
  chmodSync(join(bin, "bwrap"), 0o755);
  return { env: { PATH: `${bin}:${process.env["PATH"] ?? ""}` } };
}

const REFUSING = withBwrapWords("bwrap: No permissions to create new namespace");

function withBwrapWords(words: string): string {
  return `echo '${words}' >&2; exit 1`;
}

const call = { tool: "Bash", args: { command: "echo ran > ran" }, id: "c0" };

test.skipIf(process.platform !== "linux")("required refuses the session, with the reason and the remedy", async () => {
  const cwd = scratch();
  const host = start({ cwd, args: ["--sandbox", "required"], ...withBwrap(REFUSING), responses: [{ call }, { say: "done" }] });
  host.send({ type: "session.open", session: "s", open: "new", config: { mode: "yolo" } });
  const { fault } = await host.next("reply", ({ to }) => to === "session.open");
  expect(fault).toMatchObject({ code: "sandbox", param: "sandbox" });
  expect(fault?.message).toMatch(
    /^There is no sandbox: bwrap: No permissions[^]*kernel\.unprivileged_userns_clone[^]*sandbox\.mode: required/,
  );
  expect(await host.finish()).toBe(0);
  expect(existsSync(join(cwd, "ran"))).toBe(false);
});

test.skipIf(process.platform !== "linux")("auto runs commands without one, and tells why", async () => {
  const cwd = scratch();
  const host = start({ cwd, args: ["--sandbox", "auto"], ...withBwrap(REFUSING), responses: [{ call }, { say: "done" }] });
  await host.open({ mode: "yolo" });
  const notice = await host.next("notice", ({ kind }) => kind === "sandbox");
  expect(notice).toMatchObject({ level: "warning" });
  expect(notice.text).toMatch(/^There is no sandbox: bwrap: No permissions[^]*Commands run without one \(sandbox\.mode: auto\)$/);
  host.prompt("go");
  await host.turnEnded();
  expect(resultOf(host, "c0")).toBe("Exit code: 0");
  expect(existsSync(join(cwd, "ran"))).toBe(true);
  expect(await host.finish()).toBe(0);
});

test("off, as it is unless told otherwise, starts nothing and makes nothing", async () => {
  const trap = withBwrap("touch $HOME/started");
  const home = scratch();
  const host = start({ cwd: scratch(), env: { ...trap.env, HOME: home }, responses: [{ call }, { say: "done" }] });
  await host.open({ mode: "yolo" });
  host.prompt("go");
  await host.turnEnded();
  expect(host.ofType("notice").filter(({ kind }) => kind === "sandbox")).toEqual([]);
  expect(await host.finish()).toBe(0);
  expect(readdirSync(home)).toEqual([]);
});

test.each([
  ["win32", "only Linux and macOS"],
  ["darwin", "/usr/bin/sandbox-exec is not there"],
  ["linux", "install it ('apt install bubblewrap'"],
])("on %s without one the words say what to do", async (platform, words) => {
  await expect(findSystem(platform, "")).rejects.toThrow(words);
});

test.skipIf(NO_SANDBOX !== undefined)("a workspace that cannot be kept is refused, and nothing of it is left", async () => {
  const env = { TMPDIR: scratch() };
  const cwd = place();
  mkdirSync(join(cwd, "elsewhere"));
  symlinkSync("elsewhere", join(cwd, ".parley"));
  const linked = await run(["-p", "go", "--provider", "rehearsal", "--sandbox", "required"], { cwd, env });
  expect(linked.code).toBe(44);
  expect(linked.stderr + linked.stdout).toContain(`${join(cwd, ".parley")} is a symbolic link`);
  const whole = await run(["-p", "go", "--provider", "rehearsal", "--sandbox", "required", "--workspace", "/"], { env });
  expect(whole.stderr + whole.stdout).toContain("/ is the whole file system");
  expect(readdirSync(env.TMPDIR)).toEqual([]);
});

test("a value that is no mode is refused", async () => {
  const { code, stderr } = await run(["-p", "go", "--provider", "rehearsal", "--sandbox", "on"]);
  expect(code).toBe(2);
  expect(stderr).toContain("--sandbox must be one of auto, required, off, not 'on'");
});
