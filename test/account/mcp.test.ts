/** `parley mcp`: servers in the user's config file, which keeps what people wrote there. */
import { spawn } from "node:child_process";
import { existsSync, lstatSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { listening, OFFICIAL } from "../extensions/mcp-harness.js";
import { environment, PARLEY, run, scratch } from "../process/harness.js";

const WRITTEN = `# my settings
approval: auto_edit   # careful

rules:
- deny: "Bash(rm -rf *)"   # never
mcpServers:
    # the first
    files: {command: node, args: [server.js]}   # and its comment
    other:
        url: 'https://example.com/other'

# limits of mine
limits:
    approvalSeconds: 60
`;

interface Mcp {
  file: string;
  text(): string;
  mcp(...args: string[]): ReturnType<typeof run>;
}

function home(written?: string): Mcp {
  const folder = scratch(written === undefined ? {} : { "config.yaml": written });
  const file = join(folder, "config.yaml");
  return { file, text: () => readFileSync(file, "utf8"), mcp: (...args) => run(["mcp", ...args], { env: { PARLEY_HOME: folder } }) };
}

describe("parley mcp add", () => {
  test("adds a command behind the servers that are there, and leaves every line as it was written", async () => {
    const { mcp, text, file } = home(WRITTEN);
    const added = await mcp("add", "tool", "--env", "TOKEN=${TOKEN}", "--", "node", "x.js", "--flag", "-v");
    expect(added).toMatchObject({
      code: 0,
      stdout: `The MCP server 'tool' is in ${file}. Sessions that begin from now on have its tools.\n`,
    });
    const block = ["tool:", "  command: node", "  args:", "    - x.js", "    - --flag", "    - -v", "  env:", "    TOKEN: ${TOKEN}"];
    const before = "        url: 'https://example.com/other'\n";
    expect(text()).toBe(WRITTEN.replace(before, `${before}${block.map((line) => `    ${line}\n`).join("")}`));
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  test("adds an address with its headers, to a file that it makes or that names no servers", async () => {
    for (const written of [undefined, "", "approval: plan # mine"]) {
      const { mcp, text } = home(written);
      expect(await mcp("add", "far", "https://example.com/mcp", "--header", "Authorization: Bearer ${TOKEN}")).toMatchObject({ code: 0 });
      const above = written === undefined || written === "" ? "" : `${written}\n`;
      expect(text()).toBe(
        `${above}mcpServers:\n  far:\n    url: https://example.com/mcp\n    headers:\n      Authorization: Bearer \${TOKEN}\n`,
      );
    }
  });

  test("takes a mapping on one line, too", async () => {
    const { mcp, text } = home("# mine\nmcpServers: { a: { command: b } }\n");
    expect(await mcp("add", "c", "--", "d")).toMatchObject({ code: 0 });
    expect(text()).toMatch(/^# mine\nmcpServers:[^]*a: [^]*c:/);
    expect((await mcp("list")).stdout).toMatch(/^a {2}b {2}.*\nc {2}d {2}.*\n$/);
  });

  test("keeps a link, and makes a path of the command that the file can use", async () => {
    const elsewhere = join(scratch({ "dot.yaml": "approval: plan\n" }), "dot.yaml");
    const { mcp, file } = home();
    symlinkSync(elsewhere, file);
    expect(await mcp("add", "own", "--", "./server.sh")).toMatchObject({ code: 0 });
    expect(lstatSync(file).isSymbolicLink()).toBe(true);
    expect(readFileSync(elsewhere, "utf8")).toMatch(/^approval: plan\nmcpServers:\n {2}own:\n {4}command: \/.*\/server\.sh\n$/);
  });

  test("gives sessions its tools", async () => {
    const { mcp, file } = home();
    await mcp("add", "echo", "--", process.execPath, OFFICIAL, "stdio");
    const { stdout } = await run(["-p", "say hi", "--events"], { env: { PARLEY_HOME: join(file, "..") } });
    expect(stdout).toMatch(/"name":"echo","status":"ready"/);
  });

  test.each([
    [[], "Which server?"],
    [["x"], "What is the server?"],
    [["x", "node", "y.js"], "Put -- before a command"],
    [["x", "ftp://example.com"], "give an http or https address"],
    [["x", "--"], "The command stands behind --"],
    [["--", "x", "y"], "The command stands behind --"],
    [["a b", "--", "y"], "'a b' is no name of a server"],
    [["x", "https://example.com", "--env", "A=b"], "--env goes with a command"],
    [["x", "--header", "A: b", "--", "y"], "--header goes with an address"],
    [["x", "--env", "A", "--", "y"], "--env takes NAME=VALUE"],
    [["files", "--", "y"], "There is a server 'files' already"],
  ])("refuses %j, and changes nothing", async (args, why) => {
    const { mcp, text } = home(WRITTEN);
    expect(await mcp("add", ...args)).toMatchObject({ code: 2, stderr: expect.stringContaining(why) });
    expect(text()).toBe(WRITTEN);
  });

  test("refuses a file that is no config, and changes nothing", async () => {
    const { mcp, text } = home("rules: 3\n");
    const { code, stderr } = await mcp("add", "x", "--", "y");
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/config\.yaml:1:8: rules must be a list of rules, not 3\nNothing was changed/),
    ]);
    expect(text()).toBe("rules: 3\n");
  });
});

describe("parley mcp list and remove", () => {
  test("list each server with the file and line that names it, and no secret", async () => {
    const { mcp } = home("mcpServers:\n  far: { url: 'https://me:pw@example.com/mcp?key=1', headers: { X: secret } }\n");
    const [plain, json] = [await mcp("list"), await mcp("list", "--json")];
    expect(plain.stdout).toMatch(/^far {2}https:\/\/example\.com\/mcp {2}.*config\.yaml:2\n$/);
    expect(JSON.parse(json.stdout)).toEqual({
      name: "far",
      url: "https://example.com/mcp",
      headers: ["X"],
      from: expect.stringMatching(/config\.yaml:2$/),
    });
    expect((await home().mcp("list")).stdout).toContain("'parley mcp add' adds one");
  });

  test("take a server's own lines away, and the mapping with the last one", async () => {
    const { mcp, text } = home(WRITTEN);
    expect(await mcp("remove", "other")).toMatchObject({ code: 0 });
    expect(text()).toBe(WRITTEN.replace("    other:\n        url: 'https://example.com/other'\n", ""));
    expect(await mcp("remove", "files")).toMatchObject({ code: 0 });
    expect(text()).not.toContain("mcpServers");
    expect(text()).toContain("limits:\n    approvalSeconds: 60\n");
  });

  test("say which server was meant", async () => {
    const { mcp, text } = home(WRITTEN);
    expect(await mcp("remove", "file")).toMatchObject({ code: 2, stderr: expect.stringContaining("did you mean 'files'?") });
    expect(text()).toBe(WRITTEN);
    expect(existsSync(`${home().file}.lock`)).toBe(false);
  });
});

describe("parley mcp login", () => {
  test("tells the address for the browser, and keeps the login", async () => {
    const listener = await listening(join(import.meta.dirname, "../fixtures/mcp/oauth.mjs"), ["http"]);
    const url = `http://127.0.0.1:${listener.port}/mcp`;
    const { mcp, file } = home();
    expect(await mcp("add", "far", url)).toMatchObject({ code: 0 });
    const child = spawn(process.execPath, [PARLEY, "mcp", "login", "far"], {
      cwd: scratch(),
      env: environment({ PARLEY_HOME: join(file, "..") }),
    });
    let stdout = "";
    const address = new Promise<string>((resolve) =>
      child.stdout.on("data", (text: Buffer) => {
        stdout += text.toString();
        const [, found] = /in your browser: (http\S+)\n/.exec(stdout) ?? [];
        if (found !== undefined) resolve(found);
      }),
    );
    const ended = new Promise((resolve) => child.once("close", resolve));
    await fetch(await address);
    expect([await ended, stdout]).toEqual([0, expect.stringContaining("You are logged in to 'far'")]);
    expect(existsSync(join(file, "../mcp-auth"))).toBe(true);
  });

  test.each([
    ["fa", 2, "did you mean 'far'?"],
    ["far", 1, "The login to 'far' failed"],
  ])("of %s says what is wrong", async (name, code, why) => {
    const { mcp } = home("mcpServers:\n  far: { command: 'false' }\n");
    expect(await mcp("login", name)).toMatchObject({ code, stderr: expect.stringContaining(why) });
  });
});
