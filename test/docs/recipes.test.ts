/** Every recipe of docs/permissions.md, as the config of the built command: each call that a table lists is judged as the table says. */
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { parse, stringify } from "yaml";
import { expect, it } from "vitest";
import { official, settled } from "../extensions/mcp-harness.js";
import { scratch, start } from "../process/harness.js";
import { textOf } from "./shell-blocks.js";

/** A call of the tables that is no command begins with the name of its tool. */
const ARGUMENT: Readonly<Record<string, (value: string) => Record<string, unknown>>> = {
  Read: (file_path) => ({ file_path }),
  Write: (file_path) => ({ file_path, content: "" }),
  Edit: (file_path) => ({ file_path, old_string: "a", new_string: "b" }),
  Grep: (pattern) => ({ pattern }),
  WebFetch: (url) => ({ url }),
};

const recipes = textOf("docs/permissions.md")
  .split(/^### /m)
  .slice(1)
  .map((section) => {
    const [, config = ""] = /^```yaml\n([^]*?)^```$/m.exec(section) ?? [];
    const rows = [...(section.split("\n## ")[0]?.matchAll(/^\| `(.*)` \| (.*) \|$/gm) ?? [])];
    return {
      title: section.split("\n")[0] ?? "",
      config,
      rows: rows.map(([, call = "", verdict = ""]) => [call.replaceAll("\\|", "|"), verdict]),
    };
  });

it("docs/permissions.md has recipes, each with a config and a table", () => {
  expect(recipes.length).toBeGreaterThan(10);
  expect(recipes.filter(({ config, rows }) => config === "" || rows.length === 0)).toEqual([]);
});

it.each(recipes)("$title", async ({ config, rows }) => {
  const hasServer = config.includes("mcp__");
  const home = scratch();
  const parleyHome = join(home, ".parley");
  mkdirSync(parleyHome);
  writeFileSync(join(parleyHome, "config.yaml"), stringify({ ...parse(config), ...(hasServer && { mcpServers: { notes: official() } }) }));
  const cwd = join(scratch(), "work");
  for (const folder of ["src", "config", "docs/generated"]) mkdirSync(join(cwd, folder), { recursive: true });
  const env = {
    HOME: home,
    PARLEY_HOME: parleyHome,
    PATH: [programs(), process.env["PATH"]].join(delimiter),
    HTTPS_PROXY: "http://127.0.0.1:9",
  };
  const host = start({ cwd, env, responses: [{ say: "ok" }], then: "repeat" });
  await host.open();
  if (hasServer) await settled(host);
  const calls = rows.map(([text = ""], at) => ({ id: `c${at}`, ...callOf(text.replace("~", home)) }));
  host.send({ type: "turn.prompt", session: "s", parts: [], calls });
  const asked = new Set<string>();
  const denying = async (): Promise<void> => {
    for (;;) {
      const next = await host.next("approval.requested", (event) => event.calls.some(({ id }) => !asked.has(id)));
      for (const { id } of next.calls) {
        asked.add(id);
        host.deny(id);
      }
    }
  };
  void denying().catch(() => {});
  await host.turnEnded();
  const verdicts = rows.map(([text], at) => {
    const isDenied = host.ofType("tool.ended").find(({ call }) => call === `c${at}`)?.status === "denied";
    return [text, asked.has(`c${at}`) ? "asks" : isDenied ? "is denied" : "runs"];
  });
  expect(verdicts).toEqual(rows);
  expect(await host.finish()).toBe(0);
});

function callOf(text: string): { name: string; args: Record<string, unknown> } {
  const [, name = "", value = ""] = /^(\w+) (.*)$/.exec(text) ?? [];
  const args = ARGUMENT[name]?.(value);
  if (args !== undefined) return { name, args };
  return text.startsWith("mcp__")
    ? { name: text, args: { a: 1, b: 2, name: "HOME", text: "" } }
    : { name: "Bash", args: { command: text } };
}

/** Programs that do nothing, in place of those that a recipe lets run. */
function programs(): string {
  const names = ["npm", "npx", "git", "rm", "curl", "xargs"];
  const folder = scratch(Object.fromEntries(names.map((name) => [name, "#!/bin/sh\nexit 0\n"])));
  for (const name of names) chmodSync(join(folder, name), 0o755);
  return folder;
}
