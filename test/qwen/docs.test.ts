/** What docs/qwen.md shows to be typed works as it stands. */
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { environment } from "../process/harness.js";
import { heardIn } from "./heard.js";
import { story } from "./host.js";

const root = join(import.meta.dirname, "../..");
const blocks = [...readFileSync(join(root, "docs/qwen.md"), "utf8").matchAll(/```sh\n([^]*?)```/g)].map(([, block = ""]) => block);

it("has conversations to copy", () => expect(blocks).toHaveLength(3));

it.each(blocks)("%s", async (block) => {
  const child = spawn("bash", ["-c", block], { cwd: root, env: environment() });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
  const code = await new Promise((resolve) => child.once("close", resolve));
  const lines = output.split("\n").filter(Boolean).map(heardIn);
  expect(code).toBe(0);
  expect(story(lines)).toMatch(/^receipt (role )?(text|delta) event:Finished summary$/);
  expect(lines.map(({ content = "" }) => content).join("")).toBe("hello");
});
