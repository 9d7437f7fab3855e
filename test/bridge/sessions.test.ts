/** What a bridge remembers, and who may talk at the same time: the numbered cases 64 to 68. */
import { existsSync, readdirSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { idle, rss } from "../support/load.js";
import { until } from "../support/processes.js";
import { Bench, node, P, S, says, sh, told } from "./harness.js";

/** Names a session once, and tells which one it was given. */
const REMEMBERS = sh(`[ "$AGENT_MESSAGE" = first ] && echo "${S}s1"; echo "had '$AGENT_SESSION_ID'"`);

describe("a session", () => {
  test("C64: is kept until the agent names another", async () => {
    const bench = new Bench(REMEMBERS);
    expect((await bench.turn("first")).result).toMatchObject({ reply: "had ''", session_id: "s1" });
    expect((await bench.turn("second")).result).toMatchObject({ reply: "had 's1'", session_id: "s1" });
    expect((await bench.turn("third")).result).toMatchObject({ reply: "had 's1'", session_id: "s1" });
  });

  test("belongs to its conversation and its profile, by whatever path", async () => {
    const bench = new Bench(REMEMBERS);
    await bench.turn("first");
    expect((await bench.turn("x", { flags: ["--session-name", "other"] })).result).toMatchObject({ reply: "had ''", session_id: "" });
    const twin = bench.write("twin.yaml", readFileSync(join(bench.folder, "profile.yaml"), "utf8"));
    expect((await bench.plain(["run", twin, "--message", "x"])).stdout).toBe("had ''\n");
    symlinkSync(join(bench.folder, "profile.yaml"), join(bench.folder, "link.yaml"));
    expect((await bench.plain(["run", "link.yaml", "--message", "x"])).stdout).toBe("had 's1'\n");
    expect((await bench.plain(["run", "link.yaml", "--message", "x", "--new"])).stdout).toBe("had ''\n");
    expect((await bench.turn("x")).result.session_id).toBe("");
  });

  test("may have any name: it leads nowhere, and only we may read it", async () => {
    const bench = new Bench(REMEMBERS);
    const names = ["../../evil", "a/b", "", "x".repeat(5000), "名前 \n"];
    for (const name of names) await bench.turn("first", { flags: ["--session-name", name] });
    const folder = join(bench.folder, "home/bridge");
    const files = readdirSync(folder);
    expect(files.filter((file) => /^[0-9a-f]{40}\.json$/.test(file))).toHaveLength(names.length);
    expect(files).toHaveLength(names.length);
    expect(readdirSync(join(bench.folder, "home"))).toEqual(["bridge"]);
    for (const file of files) expect(statSync(join(folder, file)).mode & 0o077).toBe(0);
    expect((await bench.turn("again", { flags: ["--session-name", "a/b"] })).result.reply).toBe("had 's1'");
  });

  test("that cannot be remembered costs a warning, not the turn", async () => {
    const bench = new Bench(REMEMBERS);
    bench.write("home", "a file");
    const { result, stderr } = await bench.turn("first");
    expect(result).toMatchObject({ reply: "had ''", exit_code: 0 });
    expect(stderr).toContain("cannot be remembered");
  });
});

describe("two turns at once", () => {
  /** Marks when it begins and ends, and waits for a file to appear. */
  const WAITS = node(`
    const fs = require("node:fs");
    const { AGENT_MESSAGE: name, AGENT_SESSION_ID: id } = process.env;
    fs.appendFileSync("log", "begin " + name + "\\n");
    console.log('${P}' + JSON.stringify("begun"));
    const wait = setInterval(() => {
      if (!fs.existsSync("go")) return;
      clearInterval(wait);
      fs.appendFileSync("log", "end " + name + "\\n");
      console.log("${S}from-" + name);
      console.log("had '" + id + "'");
    }, 10);`);

  test("C65: of one conversation come one after the other, though in two processes", async () => {
    const bench = new Bench(WAITS);
    const turns = ["one", "two"].map((name) => {
      const program = bench.start(["run", "PROFILE", "--message", name, "--json"]);
      program.stdin.end();
      return { program, told: told(program) };
    });
    const log = (): string[] => linesOf(join(bench.folder, "log"));
    await until(() => log().length > 0, "the first to begin");
    await Promise.all(turns.map(({ program }) => idle(program.pid).catch(() => {})));
    expect(log()).toHaveLength(1);
    const first = log()[0]?.split(" ")[1] ?? "";
    const second = first === "one" ? "two" : "one";
    bench.write("go", "");
    const results = await Promise.all(turns.map((turn) => turn.told));
    expect(log()).toEqual([`begin ${first}`, `end ${first}`, `begin ${second}`, `end ${second}`]);
    expect(results.map(({ result }) => result.reply).sort()).toEqual(["had ''", `had 'from-${first}'`]);
    expect(results.map(({ stderr }) => stderr).join("")).toMatch(
      /^parley: The conversation 'default' is in use by process \d+ since \S+; this turn waits\n$/,
    );
    expect((await bench.turn("last")).result.reply).toBe(`had 'from-${second}'`);
  });

  test("one that waits to forget the session ends at a signal", async () => {
    const bench = new Bench(WAITS);
    const first = bench.start(["run", "PROFILE", "--message", "one", "--json"]);
    await until(() => linesOf(join(bench.folder, "log")).length === 1, "the first to begin");
    const second = bench.start(["run", "PROFILE", "--message", "two", "--json", "--new"]);
    const result = told(second);
    second.stderr.once("data", () => second.kill("SIGTERM"));
    expect(await result).toMatchObject({ code: 143, result: { exit_code: 143, error: "The turn was interrupted" } });
    bench.write("go", "");
    await told(first);
    expect(linesOf(join(bench.folder, "log"))).toEqual(["begin one", "end one"]);
  });

  test("C66: of two conversations run side by side and know nothing of each other", async () => {
    const bench = new Bench(WAITS);
    const turns = ["one", "two"].map((name) => {
      const program = bench.start(["run", "PROFILE", "--message", name, "--session-name", name, "--json"]);
      program.stdin.end();
      return told(program);
    });
    await until(() => linesOf(join(bench.folder, "log")).length === 2, "both to begin");
    bench.write("go", "");
    const results = await Promise.all(turns);
    expect(results.map(({ result }) => [result.reply, result.session_id])).toEqual([
      ["had ''", "from-one"],
      ["had ''", "from-two"],
    ]);
    expect((await bench.turn("x", { flags: ["--session-name", "one"] })).result.reply).toBe("had 'from-one'");
  });

  test("the second goes on when the first was killed", async () => {
    const bench = new Bench(WAITS);
    const program = bench.start(["run", "PROFILE", "--message", "one", "--json"]);
    await until(() => linesOf(join(bench.folder, "log")).length > 0, "the first to begin");
    program.kill("SIGKILL");
    await bench.processes.gone();
    bench.write("go", "");
    expect((await bench.turn("two")).result.reply).toBe("had ''");
  });
});

describe("bulk", () => {
  test("C67: a line without an end costs the turn, not the memory", async () => {
    const bench = new Bench(node(`process.stdout.write("x".repeat(20 * 1024 * 1024)); console.log(); console.log("${S}after")`));
    const { error, result } = await bench.turn();
    expect([error, result.exit_code, result.session_id]).toEqual([expect.stringContaining("longer than 16777216 bytes"), 1, "after"]);
  });

  test("C68: 50 MB of stderr cost neither", async () => {
    const agent = node(`
      const piece = "e".repeat(1024 * 1024) + "\\n";
      let left = 50;
      (function more() { if (left-- > 0) process.stderr.write(piece, more); else console.log("${P}" + JSON.stringify("done")); })();
      const wait = setInterval(() => { if (require("node:fs").existsSync("go")) { clearInterval(wait); console.log("fine"); } }, 20);`);
    const bench = new Bench(agent);
    const program = bench.start(["run", "PROFILE", "--message", "hi", "--json"]);
    program.stdin.end();
    let heard = "";
    program.stdout.on("data", (text: Buffer) => (heard += text.toString()));
    const ran = new Promise((resolve) => program.once("close", resolve));
    program.stderr.resume();
    await until(() => heard.includes("done"), "the partial");
    if (process.platform === "linux") expect(rss(program.pid)).toBeLessThan(400 * 1024 * 1024);
    bench.write("go", "");
    expect(await ran).toBe(0);
    const { stderr, ...result } = JSON.parse(heard.trim().split("\n").at(-1) ?? "") as { stderr: string };
    expect(result).toMatchObject({ reply: "fine" });
    expect(stderr.length).toBeLessThan(100_000);
    await bench.processes.gone();
  });
});

test("a broken memory is an empty one", async () => {
  const bench = new Bench(REMEMBERS);
  await bench.turn("first");
  const folder = join(bench.folder, "home/bridge");
  bench.write(join("home/bridge", readdirSync(folder)[0] ?? ""), "{half");
  expect((await bench.turn("x")).result.reply).toBe("had ''");
});

test("what is said to no conversation in particular belongs to 'default'", async () => {
  const bench = new Bench(says(`${S}d`));
  await bench.turn("x", { flags: ["--session-name", "default"] });
  expect((await bench.turn("x")).result.session_id).toBe("d");
});

function linesOf(file: string): string[] {
  return existsSync(file) ? readFileSync(file, "utf8").split("\n").filter(Boolean) : [];
}
