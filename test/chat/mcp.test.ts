/** MCP servers in the chat: real processes beside it, their tools, prompts and resources, and one that is no good. */
import { describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { official, raw } from "../extensions/mcp-harness.js";
import { scratch } from "../process/harness.js";
import { chat, hasTerminal, TAB } from "./chat.js";

function home(mcpServers: Record<string, unknown>): Record<string, string> {
  return { PARLEY_HOME: scratch({ "config.yaml": stringify({ mcpServers }) }) };
}

describe.skipIf(!hasTerminal)("MCP servers", () => {
  it("connect beside what is being written; their tools are asked about and show their progress", async () => {
    const talk = chat({
      env: home({ lab: official() }),
      responses: [{ call: { tool: "mcp__lab__steps", args: {} } }, { say: "Done." }],
    });
    await talk.press("go");
    await talk.shows("MCP ready: 1/1", "> go");
    await talk.press("\r", "");
    await talk.press("y\r", "Allow?");
    await talk.shows("● ", "│ ", "first", "second", "Done.", "(completed;");
    await talk.enter("/mcp");
    await talk.shows("lab");
    await talk.enter("/mcp lab");
    await talk.shows("mcp__lab__echo");
    await talk.leave();
  });

  it("have prompts, which are commands with completion, and resources, which can be mentioned", async () => {
    const talk = chat({
      env: home({ lab: official() }),
      responses: [
        { expect: { lastUser: "Please review a.ts" }, say: "Reviewed." },
        { expect: { lastUser: "buy milk" }, say: "Read." },
      ],
    });
    await talk.press("/lab:re", "MCP ready: 1/1");
    await talk.press(TAB, "> /lab:re");
    await talk.press("a.ts\r", "view ");
    await talk.shows("Reviewed.", "(completed;");
    await talk.enter("see @lab:memo://one");
    await talk.shows("Read.", "(completed;");
    await talk.leave();
  });

  it("that are no good are one line, and cost the chat nothing", async () => {
    const talk = chat({ env: home({ bad: raw("dies-at-start") }) });
    await talk.press("say heron\r", "MCP ready: 0/1");
    await talk.shows("heron\r", "heron\r", "(completed;");
    await talk.enter("/mcp");
    await talk.shows("bad");
    await talk.leave();
    expect(talk.seen.match(/! bad: /g)).toHaveLength(1);
  });
});
