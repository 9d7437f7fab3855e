/** Cases 59 and 69 to 71 of the wire, over both lines: skills, sub-agents and MCP servers, and when a client hears of them. */
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { official, raw } from "../extensions/mcp-harness.js";
import { scratch } from "../process/harness.js";
import { nameOf, type AnteClient } from "./client.js";
import { LINES } from "./lines.js";

/** The list that has its servers, or none to wait for. */
function whole(client: AnteClient) {
  return client.next("ExtensionRefreshed", ({ id }) => client.of("ExtensionRefreshed")[1]?.id === id);
}

describe.each(LINES)("over $over", ({ launch, started }) => {
  it("N69: two servers, one of them broken: a block of information, then a list in which the broken one has no tools; N71: names are qualified", async () => {
    const mcpServers = { "my-server": official(), broken: { command: "/nowhere/to/be/found" } };
    const client = await started({ config: { mcpServers } });
    const { fields } = await whole(client);
    const id = `mcp-warmup-${client.of("SessionStart")[0]?.fields.session_id ?? ""}`;
    expect(client.of("InfoBlockStart").map((event) => event.fields)).toEqual([
      { id, header: "Warming up 2 MCP servers in the background — tools will become available as they connect." },
    ]);
    expect(client.of("InfoBlockAppend").map((event) => event.fields)).toEqual([
      { id, detail: expect.stringMatching(/^broken: .*not found/) },
      { id, detail: expect.stringMatching(/^MCP ready: 1\/2 servers connected, \d+ tools registered\.$/) },
    ]);
    expect(client.of("ExtensionRefreshed")[0]?.fields.mcp_servers).toEqual([]);
    expect(fields.mcp_servers).toMatchObject([
      {
        name: "my-server",
        command: process.execPath,
        tools: expect.arrayContaining([expect.objectContaining({ qualified_name: "mcp__my_server__do_thing" })]),
      },
      { name: "broken", command: "/nowhere/to/be/found", args: [], tools: [] },
    ]);
    const echo = fields.mcp_servers?.[0]?.tools.find(({ name }) => name === "echo");
    expect(echo?.parameters[0]).toEqual({
      name: expect.any(String),
      param_type: "string",
      required: expect.any(Boolean),
      description: expect.any(String),
    });
    expect(client.names().filter((name) => /^(Session|Extension|Info)/.test(name))).toEqual([
      "SessionStart",
      "ExtensionRefreshed",
      "InfoBlockStart",
      "InfoBlockAppend",
      "InfoBlockAppend",
      "ExtensionRefreshed",
    ]);
    expect(await client.shutdown()).toBe(0);
  });

  it("N70: a server that never answers delays nothing: the session starts, and a turn completes meanwhile", async () => {
    const client = await started({ config: { mcpServers: { slow: raw("hangs-at-start") } } });
    const op = client.input("say meanwhile");
    await client.turn(op);
    expect(client.text(op)).toBe("meanwhile");
    expect(client.of("ExtensionRefreshed").map(({ fields }) => fields.mcp_servers)).toEqual([[]]);
    expect(await client.shutdown()).toBe(0);
  });

  it("a resumed session warms its servers up anew, under a header of its own", async () => {
    const home = scratch();
    const config = { mcpServers: { s: official() } };
    const first = await started({ home, config });
    await whole(first);
    await first.say("say hi");
    await first.shutdown();
    const again = launch({ home, config });
    const op = again.resume(first.of("SessionStart")[0]?.fields.session_id ?? "");
    await whole(again);
    const live = again.msgs.slice(again.msgs.findLastIndex((msg) => nameOf(msg) === "TurnEnd"));
    expect(live.map(nameOf)).toEqual(["TurnEnd", "InfoBlockStart", "InfoBlockAppend", "ExtensionRefreshed"]);
    expect(again.names(op)).toEqual(["SessionStart", "ExtensionRefreshed"]);
    // That of the first run was news then.
    expect(again.of("InfoBlockStart")).toHaveLength(1);
  });

  it("N59: skills and sub-agents are in the first list with their scopes; a skill's command is a turn, with that op as its parent", async () => {
    const cwd = scratch();
    mkdirSync(join(cwd, ".ante/skills/greet"), { recursive: true });
    writeFileSync(
      join(cwd, ".ante/skills/greet/SKILL.md"),
      "---\nname: greet\ndescription: Greets somebody\nargument-hint: NAME\n---\nsay hello $ARGUMENTS\n",
    );
    const client = await started({ cwd });
    const [first] = client.of("ExtensionRefreshed");
    expect(first?.fields.skills).toContainEqual({ name: "greet", description: "Greets somebody", scope: "project", argument_hint: "NAME" });
    for (const agent of first?.fields.subagents ?? []) expect(agent).toMatchObject({ description: expect.any(String), scope: "system" });
    const op = client.send({ SlashCommand: { name: "greet", args: "you" } });
    expect(await client.status(op)).toBe("Completed");
    expect(client.text(op)).toContain("hello you");
  });

  it("a skill that is called like a command of ours is what its SlashCommand means", async () => {
    const cwd = scratch();
    for (const name of ["help", "export"]) {
      mkdirSync(join(cwd, ".ante/skills", name), { recursive: true });
      writeFileSync(join(cwd, ".ante/skills", name, "SKILL.md"), `---\nname: ${name}\ndescription: Mine\n---\nsay hello $ARGUMENTS\n`);
    }
    const client = await started({ cwd });
    for (const name of ["help", "export"]) {
      const op = client.send({ SlashCommand: { name, args: "you" } });
      await Promise.race([client.next("TurnEnd", ({ parent }) => parent === op), client.next("Info", ({ parent }) => parent === op)]);
      expect(client.text(op)).toContain("hello you");
    }
    expect(readdirSync(cwd)).toEqual([".ante"]);
  });
});
