/** What a session knows beside its conversation, when it goes on in another process: its files and its list, and no grant. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type NativeHost, scratch, start } from "../process/harness.js";
import { kill, resume } from "./sessions.js";

const edit = (file: string, from: string, to: string, id: string) => ({
  tool: "Edit",
  args: { file_path: file, old_string: from, new_string: to },
  id,
});
const read = (file: string, id: string) => ({ tool: "Read", args: { file_path: file }, id });
const todos = [{ content: "paint", status: "in_progress" }];

async function firstRun(home: string, cwd: string): Promise<NativeHost> {
  const calls = [read("read.txt", "r1"), read("changed.txt", "r2"), edit("unread.txt", "a", "b", "e0")];
  const responses = [{ calls }, { calls: [edit("read.txt", "one", "two", "e1"), { tool: "TodoWrite", args: { todos } }] }, { say: "ok" }];
  const host = start({ cwd, env: { PARLEY_HOME: home }, responses });
  await host.open({ mode: "auto_edit" });
  host.prompt("go");
  await host.turnEnded();
  return host;
}

test.each(["an orderly end", "a crash"])(
  "files that were seen may be edited after %s, unless they changed; the list is there, too",
  async (how) => {
    const home = scratch();
    const cwd = scratch({ "read.txt": "one", "changed.txt": "one", "unread.txt": "a" });
    const first = await firstRun(home, cwd);
    if (how === "a crash") await kill(first);
    else expect(await first.finish()).toBe(0);
    writeFileSync(join(cwd, "changed.txt"), "one, but longer");
    const calls = [edit("read.txt", "two", "three", "e2"), edit("changed.txt", "one", "two", "e3"), edit("unread.txt", "a", "b", "e4")];
    const host = await resume(home, [{ calls }, { say: "done" }], cwd, { mode: "auto_edit" });
    host.send({ type: "turn.prompt", id: "todo", session: "s", parts: [], command: { name: "todo" } });
    expect((await host.next("reply", ({ parent }) => parent === "todo")).data).toMatchObject({
      result: { parts: [{ type: "todo", items: [{ text: "paint", status: "in_progress" }] }] },
    });
    host.prompt("go on");
    await host.turnEnded();
    const outcome = (id: string) => JSON.stringify(host.ofType("tool.ended").find(({ call }) => call === id)?.output);
    expect(outcome("e2")).toContain("Edited read.txt");
    expect(outcome("e3")).toContain("changed on disk after you last saw it");
    expect(outcome("e4")).toContain("You must Read unread.txt");
    expect(readFileSync(join(cwd, "read.txt"), "utf8")).toBe("three");
    expect(await host.finish()).toBe(0);
  },
);

test("a grant ends with its process: what was allowed for the session is asked about again", async () => {
  const home = scratch();
  const cwd = scratch();
  const bash = (id: string) => ({ call: { tool: "Bash", args: { command: "echo hi" }, id } });
  const first = start({ cwd, env: { PARLEY_HOME: home }, responses: [bash("c1"), bash("c2"), { say: "ok" }] });
  await first.open();
  first.prompt("go");
  await first.next("approval.requested");
  first.allow("c1", { grant: "category" });
  await first.turnEnded();
  expect(first.ofType("approval.requested")).toHaveLength(1);
  expect(await first.finish()).toBe(0);
  const host = await resume(home, [bash("c3"), { say: "ok" }], cwd);
  host.prompt("again");
  expect((await host.next("approval.requested")).calls).toMatchObject([{ id: "c3" }]);
  host.deny("c3");
  await host.turnEnded();
  expect(await host.finish()).toBe(0);
});
