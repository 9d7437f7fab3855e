/** `parley shims`: launchers under other programs' names, and what being started under such a name means. */
import { execFile } from "node:child_process";
import { cpSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { loadDialect } from "../../src/dialects/index.js";
import { launchProgram } from "../aionrs/host.js";
import { launchers } from "../support/launchers.js";
import { modelServer } from "../support/model-server.js";
import { environment, PARLEY, run, scratch, script } from "./harness.js";
import { JsonProgram } from "../support/json-program.js";

function output(argv: string[], input = ""): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const [program = "", ...args] = argv;
  return new Promise((resolve) => {
    const child = execFile(program, args, { cwd: scratch(), env: environment() }, (error, stdout, stderr) =>
      resolve({ code: typeof error?.code === "number" ? error.code : 0, stdout, stderr }),
    );
    child.stdin?.end(input);
  });
}

describe("the launchers", () => {
  it.each([
    ["aionrs", "aionrs"],
    ["wayland-core", "wayland"],
    ["ante", "ante"],
  ])("%s says its name and the version of what it speaks", async (name, dialect) => {
    const expected = `${name} ${(await loadDialect(dialect)).version}\n`;
    const bin = await launchers();
    for (const flag of ["--version", "-V"])
      expect(await output([join(bin, name), flag])).toEqual({ code: 0, stdout: expected, stderr: "" });
  });

  it("may be written again, and leave alone what is somebody else's", async () => {
    const folder = scratch();
    expect((await run(["shims", folder])).code).toBe(0);
    expect((await run(["shims", folder])).code).toBe(0);
    const taken = scratch({ "wayland-core": "#!/bin/sh\nexit 7\n" });
    const { code, stderr } = await run(["shims", taken]);
    expect([code, stderr]).toEqual([2, expect.stringContaining("wayland-core is not a launcher of ours")]);
    expect((await run(["shims"])).code).toBe(2);
  });

  it("are refused where no folder can be made, which does not take for ever", async () => {
    const { code, stderr } = await run(["shims", "/proc/parley/bin"]);
    expect([code, stderr]).toEqual([1, expect.stringContaining("could not be written to /proc/parley/bin: ")]);
  }, 10_000);

  it("find the command wherever it lies, and do not care whose package they lie in", async () => {
    const odd = join(scratch(), "a \\ b #% ü");
    cpSync(dirname(PARLEY), odd, { recursive: true, filter: (path) => !path.endsWith("/dist/lib") });
    const folder = scratch({ "package.json": '{ "type": "module" }' });
    expect(await output([process.execPath, join(odd, "parley.js"), "shims", folder])).toMatchObject({ code: 0 });
    expect(await output([join(folder, "wayland-core"), "--version"])).toEqual({ code: 0, stdout: "wayland-core 0.2.0\n", stderr: "" });
  });

  it("a link of that name to the command is as good, and needs nothing in PATH but Node", async () => {
    const link = join(scratch(), "wayland-core");
    symlinkSync(PARLEY, link);
    expect(await output([process.execPath, link, "--version"])).toMatchObject({ stdout: "wayland-core 0.2.0\n" });
  });
});

describe("the name aionrs", () => {
  it("takes that program's short flags and its variables; a flag beats its variable", async () => {
    const server = await modelServer("anthropic", [{ text: ["Hi"] }, { text: ["Hi"] }]);
    const aionrs = join(await launchers(), "aionrs");
    const variables = { PROVIDER: "anthropic", MODEL: "claude-a", BASE_URL: server.url, API_KEY: server.key };
    for (const [args, env] of [
      [["-p", "anthropic", "-m", "claude-b", "-b", server.url, "-k", server.key], { MODEL: "claude-a" }],
      [[], variables],
    ] as const) {
      const host = launchProgram([aionrs, "--json-stream", ...args], { env });
      await host.next("ready");
      host.message("m1", "hello");
      await host.stream("m1");
      expect(host.of("error")).toEqual([]);
    }
    expect(server.requests.map(({ body }) => body)).toMatchObject([{ model: "claude-b" }, { model: "claude-a" }]);
  });

  it("its other flags are taken, and those that change nothing are told on stderr; one that nobody has is wrong usage", async () => {
    const aionrs = join(await launchers(), "aionrs");
    const flags = [
      "--toon",
      "--no-color",
      "--log-dir",
      "/tmp/logs",
      "--project-dir=.",
      "--max-tool-call-failure-turns",
      "3",
      "--compaction",
      "safe",
    ];
    const host = launchProgram([aionrs, "--json-stream", "-p", "rehearsal", ...flags]);
    await host.next("ready");
    host.message("m1", "say hi");
    await host.stream("m1");
    expect(host.stderr.split("\n").filter(Boolean)).toEqual(
      ["--toon", "--no-color", "--log-dir", "--project-dir", "--max-tool-call-failure-turns"].map(
        (flag) => `parley: ${flag} changes nothing here`,
      ),
    );
    const wrong = launchProgram([aionrs, "--json-stream", "--assistant", "x"]);
    expect((await wrong.exited).code).toBe(2);
    expect(wrong.events).toMatchObject([{ error: { code: "config_error", message: expect.stringContaining("--assistant") } }]);
  });

  it("another revision is an option", async () => {
    const host = launchProgram([join(await launchers(), "aionrs"), "--json-stream", "--dialect", "aionrs@0.2", "-p", "rehearsal"], {
      dialect: "aionrs@0.2",
    });
    expect(await host.next("ready")).toMatchObject({ version: "0.2.0" });
  });
});

it("the name ante serves that daemon's protocol, and leaves with the end of input", async () => {
  const served = output([join(await launchers(), "ante"), "serve", "--stdio", "--provider", "rehearsal"], "{oops\n");
  expect(await served).toMatchObject({ code: 0, stdout: expect.stringMatching(/"Error":"The line is not JSON.*\n.*"Goodbye"/) });
});

describe("the name wayland-core", () => {
  it("speaks Wayland with that program's flags: the host's name, and what skips approvals", async () => {
    const wayland = join(await launchers(), "wayland-core");
    for (const flag of ["--dangerously-skip-permissions", "--force", "--yolo"]) {
      const model = script([{ call: { tool: "Bash", args: { command: "true" }, id: "t1" } }, { say: "ok" }]);
      const host = launchProgram([wayland, "--json-stream", "-p", "rehearsal", "-m", model, "--assistant", "x", flag], {
        dialect: "wayland",
      });
      expect((await host.next("ready")).capabilities).toMatchObject({ current_mode: "force" });
      host.message("m1");
      await host.stream("m1");
      expect(host.story("t1")).toBe("call_announced tool_running tool_result");
    }
  });

  it("--continue is the session last used here", async () => {
    const wayland = join(await launchers(), "wayland-core");
    const [cwd, home] = [scratch(), scratch()];
    const first = launchProgram([wayland, "--json-stream", "-p", "rehearsal"], { dialect: "wayland", cwd, home });
    const { session_id } = await first.next("ready");
    first.message("m1", "remember the word heron");
    await first.stream("m1");
    await first.finish();
    const again = launchProgram([wayland, "--json-stream", "-p", "rehearsal", "-c"], { dialect: "wayland", cwd, home });
    expect(await again.next("ready")).toMatchObject({ session_id });
  });

  it("a wrong command line is told where its host listens", async () => {
    const program = new JsonProgram([join(await launchers(), "wayland-core"), "--json-stream", "--frobnicate"], {
      cwd: scratch(),
      env: environment(),
    });
    expect((await program.exited).code).toBe(2);
    expect(program.heard).toMatchObject([{ type: "error", msg_id: null, error: { code: "config_error" } }]);
  });
});
