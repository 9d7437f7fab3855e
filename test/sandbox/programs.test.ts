/** Programs beside commands: hooks run in the sandbox unless the config says otherwise, MCP servers where it names them. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { OFFICIAL, settled } from "../extensions/mcp-harness.js";
import { start, type NativeHost } from "../process/harness.js";
import { marked } from "../support/processes.js";
import { NO_SANDBOX, place, resultOf } from "./harness.js";

const call = (command: string, id = "c0") => ({ call: { tool: "Bash", args: { command }, id } });

async function play(config: Record<string, unknown>, responses: unknown[], { cwd = place(), env = {} } = {}): Promise<NativeHost> {
  const sandbox = { mode: "required", ...(typeof config["sandbox"] === "object" ? config["sandbox"] : {}) };
  const parley = place({ "config.yaml": stringify({ ...config, sandbox }) });
  const host = start({
    cwd,
    env: { PARLEY_HOME: parley, ...env },
    args: ["--trust-workspace"],
    responses: [...responses, { say: "done" }],
  });
  await host.open({ mode: "yolo" });
  return host;
}

describe.skipIf(NO_SANDBOX !== undefined)("beside commands", () => {
  test.each([true, false])("a hook runs in the sandbox: %j", async (hooks) => {
    const [cwd, other] = [place(), place()];
    const command = ["sh", "-c", `cat > seen; echo x > ${other}/escaped; ls ~/.ssh > keys; true`];
    const config = { hooks: { pre_tool_use: [{ command }] }, sandbox: hooks ? {} : { hooks } };
    const host = await play(config, [call("true")], { cwd, env: { HOME: place({ ".ssh/id": "sesame" }) } });
    host.prompt("go");
    await host.turnEnded();
    expect(resultOf(host, "c0")).toBe("Exit code: 0");
    expect(readFileSync(join(cwd, "seen"), "utf8")).toContain('"event":"pre_tool_use"');
    expect(existsSync(join(other, "escaped"))).toBe(!hooks);
    expect(readFileSync(join(cwd, "keys"), "utf8")).toBe(hooks ? "" : "id\n");
    expect(await host.finish()).toBe(0);
  });

  test("a hook of the workspace that a command has changed stays in the sandbox", async () => {
    const [cwd, other] = [place({ "lint.sh": "#!/bin/sh\n" }), place()];
    const config = { hooks: { post_tool_use: [{ command: ["sh", "lint.sh"] }] } };
    const host = await play(config, [call(`echo 'echo x > ${other}/escaped; touch ran' > lint.sh`)], { cwd });
    host.prompt("go");
    await host.turnEnded();
    expect(await host.finish()).toBe(0);
    expect(existsSync(join(cwd, "ran"))).toBe(true);
    expect(existsSync(join(other, "escaped"))).toBe(false);
  });

  test.each([
    [["inside"], [true, false]],
    [["*"], [true, true]],
    [undefined, [false, false]],
  ])("of the servers inside and beside, %j are started in the sandbox", async (mcpServers, confined) => {
    const mark = marked();
    const [cwd, other] = [place(), place()];
    const server = (name: string) => ({
      command: "sh",
      args: ["-c", `echo x > ${other}/${name}; echo y > ${name}.here; exec ${process.execPath} ${OFFICIAL} stdio`],
    });
    const config = { mcpServers: { inside: server("inside"), beside: server("beside") }, sandbox: mcpServers && { mcpServers } };
    const host = await play(config, [{ call: { tool: "mcp__inside__echo", args: { text: "hello" }, id: "c0" } }], { cwd, env: mark.env });
    const { mcpServers: listed } = await settled(host);
    expect(listed?.map(({ status }) => status)).toEqual(["ready", "ready"]);
    host.prompt("go");
    await host.turnEnded();
    expect(resultOf(host, "c0")).toContain("hello");
    expect(["inside", "beside"].map((name) => existsSync(join(cwd, `${name}.here`)))).toEqual([true, true]);
    expect(["inside", "beside"].map((name) => !existsSync(join(other, name)))).toEqual(confined);
    expect(await host.finish()).toBe(0);
    await mark.gone();
  });
});
