/** A yes for always in this project, from outside: what is kept, for whom it counts, and how it is taken back. */
import { existsSync, mkdirSync, readFileSync, realpathSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { run, scratch, start, type NativeHost } from "../process/harness.js";
import { hasTerminal, terminal } from "../process/terminal.js";
import { command, told, tryCommand } from "../extensions/asking.js";

const bash = (id: string, line: string) => ({ call: { tool: "Bash", args: { command: line }, id } });
const write = (id: string, file_path: string) => ({ call: { tool: "Write", args: { file_path, content: "x" }, id } });
const fileOf = (home: string): string => join(home, "permissions.yaml");

/** A host in this workspace, whose session asks about everything that nobody has granted. */
async function opened(home: string, cwd: string, responses: unknown[], config: Record<string, unknown> = {}): Promise<NativeHost> {
  const host = start({ cwd, env: { PARLEY_HOME: home }, responses });
  await host.open({ approveTools: [], ...config });
  return host;
}

async function asks(host: NativeHost, call: string): Promise<void> {
  await host.next("approval.requested", ({ calls }) => calls.some(({ id }) => id === call));
}

/** The calls that were asked about. */
function asked(host: NativeHost): string[] {
  return host.ofType("approval.requested").flatMap(({ calls }) => calls.map(({ id }) => id));
}

/** Keeps `ls` for this workspace. */
async function keepLs(home: string, cwd: string): Promise<void> {
  const host = await opened(home, cwd, [bash("c1", "ls -a"), { say: "done" }]);
  host.prompt("go");
  await asks(host, "c1");
  host.allow("c1", { grant: "prefix", keep: "project" });
  await host.turnEnded();
  expect(await host.finish()).toBe(0);
}

describe("a grant that is kept", () => {
  it("counts in later sessions of the same workspace, however its folder is named, and in no other", async () => {
    const [home, cwd, other, links] = [scratch(), scratch(), scratch(), scratch()];
    await keepLs(home, cwd);
    expect(readFileSync(fileOf(home), "utf8")).toContain(`${realpathSync(cwd)}:\n    - Bash(ls:*)\n`);
    expect(statSync(fileOf(home)).mode & 0o777).toBe(0o600);
    expect(existsSync(`${fileOf(home)}.lock`)).toBe(false);
    symlinkSync(cwd, join(links, "link"));
    const again = await opened(home, join(links, "link"), [bash("c1", "ls -l ."), bash("c2", "ls; touch x"), { say: "done" }]);
    again.prompt("go");
    await asks(again, "c2");
    again.deny("c2");
    await again.turnEnded();
    expect(asked(again)).toEqual(["c2"]);
    const elsewhere = await opened(home, other, [bash("c1", "ls"), { say: "done" }]);
    elsewhere.prompt("go");
    await asks(elsewhere, "c1");
    elsewhere.deny("c1");
    await elsewhere.turnEnded();
  });

  it("beats neither deny and ask rules nor protected files nor plan mode", async () => {
    const [home, cwd] = [scratch(), scratch()];
    const first = await opened(home, cwd, [write("c1", "a.txt"), bash("c2", "ls"), { say: "done" }]);
    first.prompt("go");
    for (const call of ["c1", "c2"]) {
      await asks(first, call);
      first.allow(call, { grant: "prefix", keep: "project" });
    }
    await first.turnEnded();
    const rules = [{ deny: "Bash(ls -a:*)" }, { ask: "Bash(ls -l:*)" }];
    const calls = [bash("c1", "ls -a"), bash("c2", "ls -l"), bash("c3", "ls -d ."), write("c4", "b.txt"), write("c5", ".git/config")];
    const second = await opened(home, cwd, [...calls, write("c6", join(scratch(), "c.txt")), { say: "done" }], { rules });
    second.prompt("go");
    for (const call of ["c2", "c5", "c6"]) {
      await asks(second, call);
      second.deny(call);
    }
    await second.turnEnded();
    expect(asked(second)).toEqual(["c2", "c5", "c6"]);
    const status = Object.fromEntries(second.ofType("tool.ended").map((event) => [event.call, event.status]));
    expect(status).toEqual({ c1: "denied", c2: "denied", c3: "ok", c4: "ok", c5: "denied", c6: "denied" });
    const planning = await opened(home, cwd, [write("c1", "c.txt"), { say: "done" }], { mode: "plan" });
    planning.prompt("go");
    await planning.turnEnded();
    expect(planning.ofType("tool.ended")).toMatchObject([{ status: "denied" }]);
  });

  it("is no wider than its question, and a yes that cannot be kept holds for the session and says so", async () => {
    const [home, cwd] = [scratch(), scratch()];
    const host = await opened(home, cwd, [bash("c1", "rm -f a"), bash("c2", "ls"), bash("c3", "pwd"), { say: "done" }]);
    host.prompt("go");
    await asks(host, "c1");
    host.allow("c1", { grant: "prefix", keep: "project" });
    await host.next("notice", ({ kind }) => kind === "permissions");
    await asks(host, "c2");
    host.allow("c2", { grant: "tool", keep: "project" });
    await host.turnEnded();
    expect(asked(host)).toEqual(["c1", "c2"]);
    const notices = host.ofType("notice").filter(({ kind }) => kind === "permissions");
    expect(notices.map(({ text }) => text)).toEqual([
      expect.stringMatching(/is not kept for later sessions/),
      expect.stringMatching(/is not kept/),
    ]);
    expect(existsSync(fileOf(home))).toBe(false);
  });

  it("of several sessions that keep one at the same time is kept beside the others", async () => {
    const [home, cwd] = [scratch(), scratch()];
    const programs = ["ls", "pwd", "date", "wc", "head", "tail"];
    const hosts = await Promise.all(programs.map((program) => opened(home, cwd, [bash("c1", `${program} /dev/null`), { say: "done" }])));
    for (const host of hosts) {
      host.prompt("go");
      await asks(host, "c1");
    }
    for (const host of hosts) host.allow("c1", { grant: "prefix", keep: "project" });
    await Promise.all(hosts.map((host) => host.turnEnded()));
    expect(hosts.flatMap((host) => host.ofType("notice").filter(({ kind }) => kind === "permissions"))).toEqual([]);
    const { stdout } = await run(["permissions", "list", "--json"], { cwd, env: { PARLEY_HOME: home } });
    const kept = ["Bash(date /dev/null:*)", ...["head", "ls", "pwd", "tail", "wc"].map((program) => `Bash(${program}:*)`)];
    const lines = kept.map((rule) => JSON.stringify({ workspace: realpathSync(cwd), rule }));
    expect(stdout.trim().split("\n").toSorted()).toEqual(lines);
  });
});

describe("a file of permissions that is damaged", () => {
  it.each([
    ["is no YAML", "workspaces: [\n", /permissions\.yaml cannot be read/],
    ["is something else", "- Bash\n", /does not hold lists of rules/],
    ["nests", `workspaces: ${"[".repeat(5000)}`, /nested too deeply/],
    ["is too large", `# ${"x".repeat(1024 * 1024)}\n`, /has more than/],
  ])("%s: is told, grants nothing, and is not overwritten", async (_, content, said) => {
    const [home, cwd] = [scratch({ "permissions.yaml": content }), scratch()];
    const host = await opened(home, cwd, [bash("c1", "ls"), { say: "done" }]);
    expect((await host.next("notice", ({ kind }) => kind === "permissions")).text).toMatch(said);
    host.prompt("go");
    await asks(host, "c1");
    host.allow("c1", { grant: "prefix", keep: "project" });
    await host.turnEnded();
    expect(host.ofType("notice").filter(({ kind }) => kind === "permissions")).toHaveLength(2);
    expect(readFileSync(fileOf(home), "utf8")).toBe(content);
  });

  it("has lines that no question could have led to: they count for nothing, and the others do", async () => {
    const cwd = scratch({ a: "x" });
    const wide = [
      "Bash",
      "Bash(*)",
      "Bash(:*)",
      "Bash(rm:*)",
      "Bash(ls; rm a:*)",
      "*",
      "mcp__*",
      "edit",
      "WebFetch",
      "Write(/etc/**)",
      "(",
    ];
    const home = scratch({ "permissions.yaml": JSON.stringify({ workspaces: { [realpathSync(cwd)]: [...wide, "Bash(ls:*)"] } }) });
    const host = await opened(home, cwd, [bash("c1", "rm a"), bash("c2", "ls"), write("c3", "a"), { say: "done" }]);
    expect((await host.next("notice", ({ kind }) => kind === "permissions")).text).toMatch(
      /'Bash', 'Bash\(\*\)', .*count|count for nothing: 'Bash'/,
    );
    host.prompt("go");
    for (const call of ["c1", "c3"]) {
      await asks(host, call);
      host.deny(call);
    }
    await host.turnEnded();
    expect(asked(host)).toEqual(["c1", "c3"]);
  });

  it("cannot be written: the yes holds for the session, and the host hears why", async () => {
    const [home, cwd] = [scratch(), scratch()];
    mkdirSync(fileOf(home));
    const host = await opened(home, cwd, [bash("c1", "ls"), bash("c2", "ls -a"), { say: "done" }]);
    host.prompt("go");
    await asks(host, "c1");
    host.allow("c1", { grant: "prefix", keep: "project" });
    await host.turnEnded();
    expect(asked(host)).toEqual(["c1"]);
    expect(
      host
        .ofType("notice")
        .filter(({ kind }) => kind === "permissions")
        .at(-1)?.text,
    ).toMatch(/is not kept for later sessions/);
  });
});

describe("a permission", () => {
  it("is listed and taken back by /permissions, at once and for later sessions", async () => {
    const [home, cwd] = [scratch(), scratch()];
    await keepLs(home, cwd);
    const host = await opened(home, cwd, [
      bash("c1", "pwd"),
      bash("c2", "ls"),
      { say: "done" },
      bash("c3", "ls"),
      bash("c4", "pwd"),
      { say: "done" },
    ]);
    host.prompt("go");
    await asks(host, "c1");
    host.allow("c1", { grant: "prefix" });
    await host.turnEnded();
    expect(await command(host, "permissions")).toEqual({
      type: "dialog",
      dialog: "permissions",
      text: expect.any(String),
      choices: [
        { value: "remove Bash(ls:*)", label: "Bash(ls:*)", description: "always in this project" },
        { value: "remove Bash(pwd:*)", label: "Bash(pwd:*)", description: "in this session" },
      ],
    });
    for (const rule of ["Bash(ls:*)", "Bash(pwd:*)"])
      expect(await told(host, "permissions", `remove ${rule}`)).toMatch(/asked about again/);
    expect(await told(host, "permissions", "list")).toMatch(/^Nothing runs unasked/);
    const missing = await tryCommand(host, "permissions", "remove Bash(ls:*)");
    expect(missing.fault).toMatchObject({ code: "usage" });
    host.prompt("again");
    for (const call of ["c3", "c4"]) {
      await asks(host, call);
      host.deny(call);
    }
    await host.turnEnded(2);
    expect(readFileSync(fileOf(home), "utf8")).not.toContain("Bash(");
  });

  it("is listed and taken back by `parley permissions`, for this folder or for all", async () => {
    const [home, one, other] = [scratch(), scratch(), scratch()];
    await keepLs(home, one);
    await keepLs(home, other);
    const env = { PARLEY_HOME: home };
    const list = async (...more: string[]): Promise<string> => (await run(["permissions", ...more], { cwd: one, env })).stdout;
    expect(await list()).toBe(`Bash(ls:*)  ${realpathSync(one)}\n`);
    expect(await list("list", "--json")).toBe(`${JSON.stringify({ workspace: realpathSync(one), rule: "Bash(ls:*)" })}\n`);
    expect((await list("--all")).split("\n")).toHaveLength(3);
    expect(await run(["permissions", "remove", "Bash(ls)"], { cwd: one, env })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("There is no permission 'Bash(ls)'"),
    });
    expect(await run(["permissions", "remove"], { cwd: one, env })).toMatchObject({ code: 2 });
    expect(await run(["permissions", "forget"], { cwd: one, env })).toMatchObject({ code: 2 });
    expect(await run(["permissions", "remove", "Bash(ls:*)"], { cwd: one, env })).toMatchObject({ code: 0 });
    expect(await list()).toMatch(/^No permission is kept for .*--all/);
    expect(await list("--all")).toBe(`Bash(ls:*)  ${realpathSync(other)}\n`);
    expect(await run(["permissions", "remove", "Bash(ls:*)", "--all"], { cwd: one, env })).toMatchObject({ code: 0 });
    expect(await list("--all")).toBe("No permission is kept.\n");
  });

  it("cannot be kept by the model: the file is asked about in every mode", async () => {
    const [home, cwd] = [scratch(), scratch()];
    const host = await opened(home, cwd, [write("c1", fileOf(home)), bash("c2", `echo x > ${fileOf(home)}`), { say: "done" }], {
      mode: "yolo",
    });
    host.prompt("go");
    for (const call of ["c1", "c2"]) {
      await asks(host, call);
      host.deny(call);
    }
    await host.turnEnded();
    expect(existsSync(fileOf(home))).toBe(false);
  });
});

describe.skipIf(!hasTerminal)("a yes for always in this project at a terminal", () => {
  it("is p, and is offered where the question covers more than the call", async () => {
    const [home, cwd] = [scratch(), scratch()];
    const model = join(
      scratch({ "script.yaml": JSON.stringify({ responses: [bash("c1", "rm -f a"), bash("c2", "ls"), { say: "done" }] }) }),
      "script.yaml",
    );
    const args = ["--provider", "rehearsal", "--model", model, "--approve-tools", "Read", "-p", "go"];
    const pty = terminal(args, { PARLEY_HOME: home }, cwd);
    await pty.type("$ rm -f a", "");
    await pty.type("Allow?", "p\r");
    await pty.type("p  always `ls …` in this project", "");
    await pty.type("Allow?", "p\r");
    expect(await pty.exited).toBe(0);
    expect(readFileSync(fileOf(home), "utf8")).toContain("- Bash(ls:*)");
    const again = terminal(args, { PARLEY_HOME: home }, cwd);
    await again.type("Allow?", "n\r");
    expect(await again.exited).toBe(0);
    expect(again.seen.match(/Allow\?/g)).toHaveLength(1);
  });
});
