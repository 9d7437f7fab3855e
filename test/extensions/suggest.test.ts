/** Suggestions for `/` and `@` over the native dialect. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { scratch, start, type NativeHost } from "../process/harness.js";
import { suggest } from "./asking.js";
import { tree } from "./files.js";

function treeOf(...files: string[]): string {
  return tree(Object.fromEntries(files.map((name) => [name, ""])));
}

async function opened(options: Parameters<typeof start>[0] = {}): Promise<NativeHost> {
  const host = start(options);
  await host.open();
  return host;
}

const values = async (host: NativeHost, trigger: "slash" | "at", text: string, cursor?: number): Promise<string[]> =>
  (await suggest(host, { trigger, text, ...(cursor !== undefined && { cursor }) })).suggestions.map(({ value }) => value);

describe("slash", () => {
  it("offers commands by what they begin with, aliases too, and says when one is whole", async () => {
    const host = await opened();
    const all = await suggest(host, { trigger: "slash", text: "/" });
    expect(all.suggestions[0]).toEqual({ label: "help", value: "help", description: "Lists the commands, or explains one" });
    expect(await suggest(host, { trigger: "slash", text: "/c", cursor: 2 })).toMatchObject({ perfect: false });
    expect((await values(host, "slash", "/c")).slice(0, 6)).toEqual(["clear", "compact", "context", "cost", "chat", "copy"]);
    expect((await values(host, "slash", "compr"))[0]).toBe("compress");
    expect(await suggest(host, { trigger: "slash", text: "/help" })).toMatchObject({ perfect: true, suggestions: [{ value: "help" }] });
    expect(await values(host, "slash", "/?")).toContain("help");
    expect(await values(host, "slash", "/zzz")).toEqual([]);
    expect(await values(host, "slash", "/helpless", 3)).toContain("help");
  });

  it("completes arguments", async () => {
    const host = await opened();
    expect(await values(host, "slash", "/mode ")).toEqual(["mode default", "mode auto_edit", "mode plan", "mode yolo"]);
    expect(await values(host, "slash", "/mode a")).toEqual(["mode auto_edit"]);
    expect(await suggest(host, { trigger: "slash", text: "/mode yolo" })).toMatchObject({ perfect: true });
    expect(await values(host, "slash", "/model re")).toEqual(["model rehearsal"]);
    expect(await values(host, "slash", "/help cop")).toEqual(["help copy"]);
    expect(await values(host, "slash", "/chat ")).toEqual(["chat list", "chat save "]);
    expect(await values(host, "slash", "/clear x")).toEqual([]);
  });
});

describe("at", () => {
  it("offers files and folders, step by step, without what is hidden or ignored", async () => {
    const cwd = treeOf("src/engine/loop.ts", "src/index.ts", "notes/my plan.md", "dist/out.js", ".hidden/x.txt");
    writeFileSync(join(cwd, ".gitignore"), "dist\n");
    const host = await opened({ cwd });
    expect((await values(host, "at", "@")).slice(0, 2)).toEqual(["notes/", "src/"]);
    expect(await values(host, "at", "look at @src/")).toEqual(["src/", "src/engine/", "src/index.ts", "src/engine/loop.ts"]);
    expect(await values(host, "at", "loop")).toEqual(["src/engine/loop.ts"]);
    expect(await values(host, "at", "@my")).toEqual(["notes/my\\ plan.md"]);
    expect(await values(host, "at", "@notes/my\\ p")).toEqual(["notes/my\\ plan.md"]);
    expect(await values(host, "at", "@out")).toEqual([]);
    expect(await values(host, "at", "@dist/")).toEqual(["dist/out.js"]);
    expect((await values(host, "at", "@.hid"))[0]).toBe(".hidden/");
    expect(await suggest(host, { trigger: "at", text: "@src/index.ts" })).toMatchObject({ perfect: true });
    expect(await suggest(host, { trigger: "at", text: "@src/index" })).toMatchObject({ perfect: false });
    expect(await values(host, "at", `@${cwd}/src/in`)).toEqual([`${cwd}/src/index.ts`]);
    expect(await host.finish()).toBe(0);
  });

  it("does without ripgrep", async () => {
    const host = await opened({ cwd: treeOf("src/index.ts"), env: { PARLEY_RIPGREP: "none" } });
    expect(await values(host, "at", "@ind")).toEqual(["src/index.ts"]);
  });

  /** A ripgrep that waits until a file is there. */
  function slow(): { cwd: string; gate: string; env: Record<string, string> } {
    const cwd = treeOf("a.txt");
    const folder = scratch();
    const [gate, program] = [join(folder, "open"), join(folder, "rg")];
    writeFileSync(program, `#!/bin/sh\nwhile [ ! -e ${gate} ]; do sleep 0.02; done\necho ./a.txt\n`, { mode: 0o755 });
    return { cwd, gate, env: { PARLEY_RIPGREP: program } };
  }

  it("says that it is loading while the first list takes long, and then answers", async () => {
    const { cwd, gate, env } = slow();
    const host = await opened({ cwd, env });
    host.send({ type: "command.suggest", id: "q", session: "s", trigger: "at", text: "@a" });
    expect(await host.next("reply", (event) => event.parent === "q")).toMatchObject({ status: "loading", data: { suggestions: [] } });
    writeFileSync(gate, "");
    expect(await host.next("reply", (event) => event.parent === "q" && event.status !== "loading")).toMatchObject({
      status: "ok",
      data: { suggestions: [{ value: "a.txt" }] },
    });
    expect(await host.finish()).toBe(0);
  });

  it("answers only the latest, and none after a cancel", async () => {
    const { cwd, gate, env } = slow();
    const host = await opened({ cwd, env });
    const ask = (id: string, more: { trigger?: "slash"; cancel?: true } = {}): void =>
      host.send({ type: "command.suggest", id, session: "s", trigger: "at", text: "@a", ...more });
    const status = async (id: string): Promise<string> =>
      (await host.next("reply", (event) => event.parent === id && event.status !== "loading")).status;
    ask("one");
    ask("two");
    expect(await status("one")).toBe("noop");
    ask("other", { trigger: "slash" });
    expect(await status("other")).toBe("ok");
    ask("stop", { cancel: true });
    expect(await status("two")).toBe("noop");
    expect(await status("stop")).toBe("ok");
    ask("nothing", { cancel: true });
    expect(await status("nothing")).toBe("noop");
    ask("three");
    writeFileSync(gate, "");
    expect(await status("three")).toBe("ok");
    expect(await host.finish()).toBe(0);
  });

  it("lets the session close while a list is still being made", async () => {
    const { cwd, env } = slow();
    const host = await opened({ cwd, env });
    host.send({ type: "command.suggest", id: "q", session: "s", trigger: "at", text: "@a" });
    await host.next("reply", (event) => event.status === "loading");
    expect(await host.finish()).toBe(0);
  });
});
