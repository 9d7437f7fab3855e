/** Lists to pick from, and what commands tell of a session's work. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { official } from "../extensions/mcp-harness.js";
import { tree } from "../extensions/files.js";
import { scratch } from "../process/harness.js";
import { bash, chat, DOWN, ENTER, ESC, hasTerminal, UP } from "./chat.js";

describe.skipIf(!hasTerminal)("/agents and /mcp", () => {
  it("open a list, and Enter shows more of the marked line", async () => {
    const cwd = tree({ ".parley/agents/scribe.md": "---\ndescription: Writes things down\ntools: Read, Write\n---\nYou are a scribe." });
    const env = { PARLEY_HOME: scratch({ "config.yaml": stringify({ mcpServers: { lab: official() } }) }) };
    const talk = chat({ cwd, env });
    await talk.shows("MCP ready: 1/1");
    await talk.enter("/agents");
    await talk.shows("Choose one to see more", "→ general", "explore", "scribe Writes things down");
    await talk.press("scr");
    await talk.shows("→ scribe");
    await talk.press(ENTER);
    await talk.shows("scribe", "Writes things down", "Tools Read, Write");
    await talk.enter("/mcp");
    await talk.shows("Choose one to see more", "→ lab ready, 12 tools");
    await talk.press(ENTER);
    await talk.shows("mcp__lab__echo");
    await talk.leave();
  });
});

describe.skipIf(!hasTerminal)("/permissions", () => {
  it("lists what runs unasked, and Enter takes the marked one back", async () => {
    const cwd = scratch();
    const touch = { call: bash("touch a") };
    const talk = chat({ cwd, responses: [touch, { say: "One." }, touch, { say: "Two." }, touch, { say: "Three." }] });
    await talk.enter("/permissions");
    await talk.shows("Nothing runs unasked because of a yes for always.");
    await talk.enter("go");
    await talk.shows("a always `touch a …` in this session");
    await talk.enter("a");
    await talk.shows("One.", "tokens in");
    await talk.enter("again");
    await talk.shows("Two.", "tokens in");
    await talk.enter("/permissions");
    await talk.shows("choose one to take it back", "→ Bash(touch a", "in this session");
    await talk.press(ENTER);
    await talk.shows("is asked about again");
    await talk.enter("once more");
    await talk.shows("> once more", "y once");
    await talk.enter("n");
    await talk.shows("Three.");
    await talk.leave();
  });
});

describe.skipIf(!hasTerminal)("/tasks", () => {
  it("lists background commands; Enter shows the output of one, or ends it", async () => {
    const cwd = scratch();
    const running = { tool: "Bash", args: { command: "echo hello; exec sleep 1000", background: true } };
    const talk = chat({ cwd, args: ["--auto-approve"], responses: [{ call: running }, { say: "It runs." }] });
    await talk.enter("/tasks");
    await talk.shows("No command was started in the background.");
    await talk.enter("go");
    await talk.shows("It runs.", "tokens in");
    await talk.enter("/tasks");
    await talk.shows("→ bash_1 echo hello; exec sleep 1000", "running");
    await talk.press(ENTER);
    await talk.shows("bash_1 is running: echo hello", "→ Show its output", "End it");
    await talk.press(ENTER);
    await talk.shows("bash_1: running; its whole output is in", "hello");
    await talk.enter("/tasks bash_1");
    await talk.shows("→ Show its output");
    await talk.press(UP, ENTER);
    await talk.shows("bash_1 has ended: killed by SIGTERM.");
    await talk.leave();
  });
});

describe.skipIf(!hasTerminal)("commands about the work", () => {
  it("tell what it cost and what it changed", async () => {
    const cwd = scratch({ "a.txt": "one\n" });
    const write = { tool: "Write", args: { file_path: "a.txt", content: "two\n" } };
    const talk = chat({
      cwd,
      args: ["--auto-approve"],
      responses: [{ call: write }, { say: "Done.", usage: { input: 7000, output: 70 } }],
    });
    await talk.enter("/diff");
    await talk.shows("No file is other than before this session");
    await talk.enter("go");
    await talk.shows("Done.", "tokens in");
    await talk.enter("/cost");
    await talk.shows("Model calls 2", "Tokens in 7,0", "Cost not known: no prices of");
    await talk.enter("/diff");
    await talk.shows("Cost not known", "a.txt +1 -1", "1 - one", "1 + two");
    await talk.leave();
  });

  it("let the agent write AGENTS.md", async () => {
    const cwd = scratch();
    const talk = chat({
      cwd,
      responses: [
        {
          expect: { lastUser: "Look around in this workspace" },
          call: { tool: "Write", args: { file_path: "AGENTS.md", content: "# Build\n" } },
        },
        { say: "It says how to build." },
      ],
    });
    await talk.enter("/init");
    await talk.shows("> /init", "│ Write AGENTS.md", "1 + # Build");
    await talk.enter("y");
    await talk.shows("It says how to build.", "tokens in");
    await talk.leave();
    expect(readFileSync(join(cwd, "AGENTS.md"), "utf8")).toBe("# Build\n");
  });
});

describe.skipIf(!hasTerminal)("a list", () => {
  it("scrolls, filters, and says when nothing matches", async () => {
    const home = scratch();
    writeFileSync(join(home, "history"), Array.from({ length: 40 }, (_, at) => `prompt ${at}\n`).join(""));
    const talk = chat({ env: { PARLEY_HOME: home } });
    await talk.shows("default · rehearsal");
    await talk.press("\u0012");
    await talk.shows("Earlier prompts", "→ prompt 39", "prompt 30", "(1/40)");
    await talk.press(...Array.from({ length: 12 }, () => DOWN));
    await talk.shows("→ prompt 27", "(13/40)");
    await talk.press("zebra");
    await talk.shows("Nothing matches");
    await talk.press("\u0015", "17");
    await talk.shows("→ prompt 17");
    await talk.press(ESC);
    await talk.hides("Earlier prompts");
    await talk.leave();
  });
});
