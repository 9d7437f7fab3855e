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
    await talk.shows("MCP ready: 1/1", "──\ngo");
    await talk.press("\r");
    await talk.shows("y once");
    await talk.enter("y");
    await talk.shows("● lab: steps", "first", "second", "Done.", "tokens in");
    await talk.enter("/mcp");
    await talk.shows("lab", "connected", "Enter takes it");
    await talk.press("\r");
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
    await talk.shows("MCP ready: 1/1");
    await talk.press("/lab:re");
    await talk.shows("→ lab:review");
    await talk.press(TAB, "a.ts\r");
    await talk.shows("Reviewed.", "tokens in");
    await talk.enter("see @lab:memo://one");
    await talk.shows("Read.", "tokens in");
    await talk.leave();
  });

  it("that are no good are one line, and cost the chat nothing", async () => {
    const talk = chat({ env: home({ bad: raw("dies-at-start") }) });
    await talk.shows("MCP ready: 0/1");
    await talk.enter("say heron");
    await talk.shows("> say heron", "heron", "tokens in");
    await talk.enter("/mcp");
    await talk.shows("bad", "Enter takes it");
    await talk.press("\r");
    await talk.shows("bad: failed");
    await talk.leave();
    expect(talk.text.match(/! bad: /g)).toHaveLength(1);
  });
});
