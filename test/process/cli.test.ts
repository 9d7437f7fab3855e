/** The command line as a person uses it. */
import { existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { describe, expect, it } from "vitest";
import { dialectIds } from "../../src/dialects/index.js";
import { PARLEY, run, scratch, script } from "./harness.js";

describe("parley -p", () => {
  it("prints the answer on stdout and the rest on stderr", async () => {
    const cwd = scratch({ "notes.txt": "buy milk\n" });
    const { code, stdout, stderr } = await run(["-p", "read notes.txt"], { cwd });
    expect(code).toBe(0);
    expect(stdout).toContain("buy milk");
    expect(stderr).toContain("rehearsal model answers");
    expect(stderr).toContain("● Read notes.txt");
    expect(stdout).not.toContain("●");
  });

  it("takes the prompt from stdin", async () => {
    for (const args of [["-p"], ["-p", "-"], [], ["-p", "--provider", "rehearsal"]]) {
      const { code, stdout } = await run(args, { input: "say heron and parrot\n" });
      expect([code, stdout]).toEqual([0, expect.stringContaining("heron and parrot")]);
    }
  });

  it("takes the prompt from behind other flags, and words that look like flags from behind --", async () => {
    for (const args of [
      ["-p", "--provider", "rehearsal", "say heron"],
      ["-p", "--provider", "rehearsal", "--output-format", "stream-json", "--", "say heron"],
      ["--provider", "rehearsal", "-p", "--output-format", "json", "say heron"],
    ]) {
      const { code, stdout } = await run(args);
      expect([code, stdout]).toEqual([0, expect.stringMatching(/\bheron\b/)]);
    }
    expect((await run(["--", "-p"])).stdout).toContain("You said: “p”");
  });

  it("denies what would need an answer, and says how to allow it", async () => {
    const cwd = scratch();
    const denied = await run(["-p", "write 'x' to a.txt"], { cwd });
    expect(denied.stderr).toContain("--approve-tools");
    expect(existsSync(join(cwd, "a.txt"))).toBe(false);
    const allowed = await run(["-p", "write 'x' to a.txt", "--approve-tools", "Write"], { cwd });
    expect(allowed.code).toBe(0);
    expect(readFileSync(join(cwd, "a.txt"), "utf8").trim()).toBe("x");
  });

  it("exits with 1 when the turn fails, and with 2 on wrong usage", async () => {
    const failing = script([{ fail: { status: 401, message: "bad key" } }]);
    const failed = await run(["-p", "go", "--model", failing]);
    expect(failed.code).toBe(1);
    expect(failed.stderr).toContain("bad key");
    for (const [args, text] of [
      [["--modle", "x"], "did you mean '--model'"],
      [["-p", "x", "--max-turns", "many"], "whole number"],
      [["-p", "x", "--thinking", "hard"], "thinking"],
      [["-p", ""], "no prompt"],
      [["serve", "--dialect", "klingon"], "klingon"],
      [["-p", "x", "--approval-mode"], "needs a value"],
      [["schema", "native", "more"], "more"],
      [["-p", "x", "more"], "Unexpected argument 'more'"],
      [["serve", "--ws", "127.0.0.1:0", "--token-file", "none"], "The token file 'none' cannot be read: no such file\n"],
      [["sessions", "list", "more"], "Unexpected argument 'more'"],
      [["--output-format", "xml", "x"], "text, json, stream-json, stream-chunk-json, not 'xml'"],
    ] as const) {
      const { code, stderr } = await run([...args]);
      expect([code, stderr]).toEqual([2, expect.stringContaining(text)]);
    }
  });

  it("tells a host of a wrong command line in the host's own dialect", async () => {
    const native = await run(["serve", "--dialect", "native", "--bogus"]);
    expect([native.code, JSON.parse(native.stdout)]).toMatchObject([2, { type: "reply", status: "error", fault: { code: "usage" } }]);
    const relay = await run(["relay", "--as", "native", "--bogus", "--drive", "aionrs", "--", "aionrs", "--json-stream"]);
    expect([relay.code, JSON.parse(relay.stdout)]).toMatchObject([2, { type: "reply" }]);
    const aionrs = await run(["--json-stream", "--bogus"]);
    expect([aionrs.code, JSON.parse(aionrs.stdout)]).toMatchObject([2, { type: "error", error: { code: "config_error" } }]);
  });

  it("says which key is missing instead of falling back when a provider was named", async () => {
    const { code, stderr } = await run(["-p", "x", "--provider", "anthropic"]);
    expect([code, stderr]).toEqual([1, expect.stringContaining("ANTHROPIC_API_KEY not set")]);
    const unknown = await run(["-p", "x", "--provider", "nobody"]);
    expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining("unknown provider 'nobody'")]);
  });
});

describe("help and version", () => {
  it("are there for every command", async () => {
    const { stdout } = await run(["--help"]);
    for (const command of ["serve", "schema", "config", "doctor", "trust", "demo"]) {
      expect(stdout).toContain(`parley ${command}`);
      const help = await run([command, "--help"]);
      expect([help.code, help.stdout]).toEqual([0, expect.stringContaining(`Usage: parley ${command}`)]);
    }
    const { version } = JSON.parse(readFileSync(join(import.meta.dirname, "../../package.json"), "utf8"));
    expect((await run(["--version"])).stdout).toBe(`parley ${version}\n`);
  });
});

describe("parley schema", () => {
  it.each(dialectIds)("tells every word of %s and of no other revision", async (id) => {
    const { stdout, code } = await run(["schema", id]);
    const schema: { definitions: Record<"op" | "event", unknown> } = JSON.parse(stdout);
    expect([code, Object.keys(schema.definitions)]).toEqual([0, ["op", "event"]]);
    expect(stdout.includes('"config_changed"')).toBe(id === "aionrs@0.2" || id === "wayland");
    expect(stdout.includes('"mcp_failed"')).toBe(id === "wayland");
  });

  it("is the JSON Schema of every op and event", async () => {
    const { stdout } = await run(["schema", "native"]);
    const schema: { definitions: Record<"op" | "event", { oneOf: { properties: { type: { const: string } } }[] }> } = JSON.parse(stdout);
    const types = (side: "op" | "event") => schema.definitions[side].oneOf.map((option) => option.properties.type.const);
    expect(types("op")).toContain("turn.prompt");
    expect(types("event")).toContain("turn.ended");
    expect(stdout).not.toContain("undefined");
  });
});

describe("parley config", () => {
  it("shows each value and where it came from, and never a key", async () => {
    const home = scratch();
    writeFileSync(join(home, "config.yaml"), "model: claude-sonnet-4-6\nrules:\n  - deny: Bash(rm -rf *)\n");
    const { code, stdout } = await run(["config", "--max-turns", "7", "--api-key", "sk-very-secret-key"], { env: { PARLEY_HOME: home } });
    expect(code).toBe(0);
    expect(stdout).toMatch(/model\s+claude-sonnet-4-6\s+.*config\.yaml:1/);
    expect(stdout).toMatch(/maxTurns\s+7\s+.*--max-turns/);
    expect(stdout).not.toContain("sk-very-secret-key");
    const machine = await run(["config", "--json"], { env: { PARLEY_HOME: home } });
    expect(() => JSON.parse(machine.stdout)).not.toThrow();
  });

  it("believes the workspace only when it is trusted, and never its addresses", async () => {
    const home = scratch();
    const cwd = scratch();
    mkdirSync(join(cwd, ".parley"));
    writeFileSync(join(cwd, ".parley/config.yaml"), "approval: yolo\nbaseUrl: http://evil.example\n");
    const before = await run(["config"], { cwd, env: { PARLEY_HOME: home } });
    expect(before.stdout).toMatch(/approval\s+default/);
    expect(before.stdout + before.stderr).toContain("parley trust");
    const trusted = await run(["trust"], { cwd, env: { PARLEY_HOME: home } });
    expect([trusted.code, trusted.stdout]).toEqual([0, expect.stringContaining("is trusted")]);
    const after = await run(["config"], { cwd, env: { PARLEY_HOME: home } });
    expect(after.stdout).toMatch(/approval\s+yolo/);
    expect(after.stdout).not.toMatch(/baseUrl\s+http/);
  });
});

describe("parley doctor", () => {
  it("says what it found, and is content without any key", async () => {
    const { code, stdout } = await run(["doctor"]);
    expect(code).toBe(0);
    for (const thing of ["node", "ripgrep", "shell", "keys"]) expect(stdout.toLowerCase()).toContain(thing);
  });

  it("finds a broken configuration", async () => {
    const home = scratch();
    writeFileSync(join(home, "config.yaml"), "approval: maybe\n");
    const { code, stdout } = await run(["doctor"], { env: { PARLEY_HOME: home } });
    expect([code, stdout]).toEqual([1, expect.stringMatching(/config\.yaml:1/)]);
  });
});

describe("parley demo", () => {
  it("mends the bug with the real tools, says that it approved by itself, and shows diff, usage and the next step", async () => {
    const cwd = scratch();
    const { code, stdout } = await run(["demo"], { cwd });
    expect(code).toBe(0);
    for (const part of ["approved by itself", "+  return a + b;", "the check passes", "Usage:", "What to type next"])
      expect(stdout).toContain(part);
    expect(stdout).toContain(`  node ${relative(realpathSync(cwd), PARLEY)} doctor `);
  });
});
