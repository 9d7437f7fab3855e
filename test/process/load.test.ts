/** The compiled code that is kept beside the command: it is used, and whatever happens to it costs time and nothing else. */
import { spawn, spawnSync } from "node:child_process";
import { chmodSync, chownSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { environment, NativeHost, PARLEY, scratch } from "./harness.js";

const isRoot = process.getuid?.() === 0;

test("the first run leaves the code of what it loaded behind, and the next one takes all of it", () => {
  const copy = fresh();
  expect(copy.taken()).toEqual([]);
  const kept = copy.kept();
  expect(kept).toEqual(expect.arrayContaining(["main.js", expect.stringMatching(/^start-/)]));
  const before = copy.times();
  expect(copy.taken()).toEqual(kept.toSorted());
  expect(copy.times()).toEqual(before);
});

test("damaged code is not run, and made anew", () => {
  const copy = fresh();
  copy.version();
  for (const name of copy.kept()) {
    const code = readFileSync(join(copy.code, name));
    for (let at = 200; at < code.length; at += 97) code.writeUInt8(code.readUInt8(at) ^ 0xff, at);
    writeFileSync(join(copy.code, name), code);
  }
  expect(copy.taken()).toEqual([]);
  expect(copy.taken()).toEqual(copy.kept());
});

test.each([0, 1, 3, 4, 5])("code of %i bytes is none", (length) => {
  const copy = fresh();
  copy.version();
  for (const name of copy.kept()) writeFileSync(join(copy.code, name), readFileSync(join(copy.code, name)).subarray(0, length));
  expect(copy.taken()).toEqual([]);
  expect(copy.taken()).toEqual(copy.kept());
});

test("code of other sources is not run, though they are as long", () => {
  const copy = fresh();
  copy.version();
  const start = join(copy.command, copy.kept().find((name) => name.startsWith("start-")) ?? "");
  const source = readFileSync(start, "latin1");
  expect(source).toContain('"0.1.0"');
  writeFileSync(start, source.replaceAll('"0.1.0"', '"9.9.9"'), "latin1");
  expect(copy.version()).toBe("parley 9.9.9\n");
  expect(copy.version()).toBe("parley 9.9.9\n");
});

test("code that V8 does not take, as with other flags, is left to those who do", () => {
  const copy = fresh();
  copy.version();
  const before = copy.times();
  expect(copy.version(["--stack-size=900", "--no-sparkplug"])).toBe("parley 0.1.0\n");
  expect(copy.times()).toEqual(before);
});

test("code that a run with flags left behind does not keep those without from theirs", () => {
  const copy = fresh();
  copy.version([], { NODE_OPTIONS: "--stack-trace-limit=50" });
  copy.version();
  expect(copy.taken()).toEqual(copy.kept());
});

test("nobody else may write what is kept, whatever the umask", () => {
  const copy = fresh();
  copy.inShell("umask 000");
  const paths = [join(copy.command, "code"), copy.code, ...copy.kept().map((name) => join(copy.code, name))];
  expect(paths.length).toBeGreaterThan(2);
  for (const path of paths) expect(statSync(path).mode & 0o022).toBe(0);
});

test("what could not be written to its end is removed, and what a killed run left", () => {
  const copy = fresh();
  mkdirSync(copy.code, { recursive: true });
  writeFileSync(join(copy.code, "main.js.1"), "");
  copy.inShell("ulimit -f 100");
  expect(copy.kept()).toContain("main.js");
  expect(copy.kept().filter((name) => !existsSync(join(copy.command, name)))).toEqual([]);
});

test.runIf(isRoot)("root leaves nothing in a package of somebody else, who could not remove it", () => {
  const copy = fresh();
  chownSync(copy.command, 12345, 12345);
  expect(copy.version()).toBe("parley 0.1.0\n");
  expect(existsSync(join(copy.command, "code"))).toBe(false);
});

test("a package that is removed while it runs stays removed", async () => {
  const copy = fresh();
  const host = copy.serve("rehearsal");
  await host.open();
  rmSync(dirname(copy.program), { recursive: true });
  await host.finish();
  expect(existsSync(dirname(copy.program))).toBe(false);
});

test("a part that is gone is missed anew each time it is asked for, also by another part", async () => {
  const copy = fresh();
  const [part = ""] = readdirSync(copy.command).filter((name) => name.startsWith("openai-thinking-"));
  rmSync(join(copy.command, part));
  const host = copy.serve("openai", { OPENAI_API_KEY: "key", OPENAI_BASE_URL: "http://127.0.0.1:9" });
  await host.open();
  for (const nth of [1, 2]) {
    host.prompt("hi");
    expect((await host.turnEnded(nth)).reason).toContain("A part of Parley is gone");
  }
  await host.finish();
});

test("a file where the folder should be changes nothing", () => {
  const copy = fresh();
  writeFileSync(join(copy.command, "code"), "");
  expect(copy.version()).toBe("parley 0.1.0\n");
});

test.skipIf(isRoot)("nor does a package that we may not write to", () => {
  const copy = fresh();
  chmodSync(copy.command, 0o555);
  expect(copy.version()).toBe("parley 0.1.0\n");
  expect(existsSync(copy.code)).toBe(false);
  chmodSync(copy.command, 0o755);
});

test("Node's own switch turns it off", () => {
  const copy = fresh();
  expect(copy.version([], { NODE_DISABLE_COMPILE_CACHE: "1" })).toBe("parley 0.1.0\n");
  expect(existsSync(copy.code)).toBe(false);
});

test("several first runs at once do not meet", async () => {
  const copy = fresh();
  const runs = Array.from({ length: 4 }, () =>
    spawn(process.execPath, [copy.program, "--version"], { env: environment(), stdio: "ignore" }),
  );
  const codes = await Promise.all(runs.map((run) => new Promise((resolve) => run.once("close", resolve))));
  expect(codes).toEqual([0, 0, 0, 0]);
  expect(copy.taken()).toEqual(copy.kept());
});

test("the command is as strict as the modules that it is made of", () => {
  const command = join(dirname(PARLEY), "command");
  const files = readdirSync(command).filter((name) => name.endsWith(".js"));
  expect(files.length).toBeGreaterThan(10);
  const isStrict = (path: string): boolean => /^(#!.*\n|\(function \([^)]*\) \{)"use strict";/.test(readFileSync(path, "latin1"));
  expect([PARLEY, ...files.map((name) => join(command, name))].filter((path) => !isStrict(path))).toEqual([]);
});

/** The built command somewhere else, without any code. */
function fresh() {
  const folder = scratch();
  cpSync(dirname(PARLEY), folder, { recursive: true, filter: (path) => !/\/dist\/(lib|command\/code)(\/|$)/.test(path) });
  const program = join(folder, "parley.js");
  const command = join(folder, "command");
  const code = join(command, "code", `${process.version}-${process.arch}`);
  const run = (flags: readonly string[], env: Record<string, string>): string => {
    const { stdout, stderr, status } = spawnSync(process.execPath, [...flags, program, "--version"], {
      env: environment(env),
      encoding: "utf8",
    });
    expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
    return stdout;
  };
  const kept = (): string[] => (existsSync(code) ? readdirSync(code).toSorted() : []);
  return {
    program,
    command,
    code,
    kept,
    version: (flags: readonly string[] = [], env: Record<string, string> = {}) => run(flags, env),
    /** What a shell does before it runs the command. */
    inShell: (before: string) => {
      const { status } = spawnSync("sh", ["-c", `${before}; exec "$@"`, "sh", process.execPath, program, "--version"], {
        env: environment(),
      });
      expect(status).toBe(0);
    },
    serve: (provider: string, env: Record<string, string> = {}) => {
      const args = [program, "serve", "--dialect", "native", "--provider", provider];
      return new NativeHost(spawn(process.execPath, args, { cwd: scratch(), env: environment(env) }));
    },
    times: () => kept().map((name) => statSync(join(code, name)).mtimeMs),
    /** Those files whose code V8 says to have taken, by its length. */
    taken: () => {
      const sizes = [...run(["--profile-deserialization"], {}).matchAll(/Deserializing from (\d+) bytes/g)].map(([, bytes]) =>
        Number(bytes),
      );
      return kept().filter((name) => sizes.includes(statSync(join(code, name)).size - 4));
    },
  };
}
