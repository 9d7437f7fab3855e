import { spawn } from "node:child_process";
import { mkdirSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { environment, NativeHost, PARLEY, start } from "../process/harness.js";
import { modelServer } from "../support/model-server.js";
import { put, tree } from "./files.js";

it("memory files reach the model's system prompt, the general ones first", async () => {
  const repository = tree({ "AGENTS.md": "Use tabs.", "pkg/CLAUDE.md": "Use spaces here.\n@more.md", "pkg/more.md": "And more." });
  mkdirSync(join(repository, ".git"));
  const server = await modelServer("anthropic", [{ text: ["ok"] }]);
  const env = environment({
    ANTHROPIC_API_KEY: server.key,
    ANTHROPIC_BASE_URL: server.url,
    PARLEY_HOME: tree({ "AGENTS.md": "I am Kim." }),
  });
  const args = [PARLEY, "serve", "--dialect", "native", "--provider", "anthropic"];
  const host = new NativeHost(spawn(process.execPath, args, { cwd: join(repository, "pkg"), env }));
  await host.open();
  host.prompt("go");
  expect(await host.turnEnded()).toMatchObject({ outcome: "completed" });
  const sent = JSON.stringify(server.requests[0]?.body);
  const order = ["I am Kim.", "Use tabs.", "Use spaces here.", "And more."].map((text) => sent.indexOf(text));
  expect(order).not.toContain(-1);
  expect(order).toEqual(order.toSorted((a, b) => a - b));
  expect(sent).toContain("- explore: ");
  expect(await host.finish()).toBe(0);
});

it("a change counts from the next turn on", async () => {
  const cwd = tree({ "AGENTS.md": "Version one." });
  const host = start({
    cwd,
    responses: [
      { expect: { system: "Version one." }, say: "1" },
      { expect: { system: "Version two, and longer." }, say: "2" },
    ],
  });
  await host.open();
  host.prompt("go");
  await host.turnEnded();
  put(cwd, { "AGENTS.md": "Version two, and longer." });
  host.prompt("go");
  expect(await host.turnEnded(2)).toMatchObject({ outcome: "completed" });
});

it("cycles, huge and missing files are one line each, and the session goes on", async () => {
  const cwd = tree({
    "AGENTS.md": "Start.\n@a.md\n@huge.md\n@gone.md\n@../secret.md",
    "a.md": "A.\n@AGENTS.md",
    "huge.md": "x".repeat(200_000),
  });
  const host = start({ cwd, responses: [{ expect: { system: "/Start\\.[^]*A\\./" }, say: "1" }, { say: "2" }] });
  await host.open();
  host.prompt("go");
  await host.turnEnded();
  host.prompt("go");
  expect(await host.turnEnded(2)).toMatchObject({ outcome: "completed" });
  const root = realpathSync(cwd);
  expect(host.ofType("notice").map(({ kind, text }) => `${kind} ${text.replaceAll(`${root}/`, "")}`)).toEqual([
    "memory a.md includes AGENTS.md, which includes it in turn; it is read once",
    "memory huge.md is 200000 bytes long, and at most 131072 are read; it is left out",
    "memory AGENTS.md:4: there is no file gone.md to include",
    `memory AGENTS.md:5: there is no file ${join(root, "../secret.md")} to include`,
  ]);
  expect(await host.finish()).toBe(0);
});

it("files that come and go in the workspace's root hold no turn up", async () => {
  const cwd = tree({ "AGENTS.md": "Be brief." });
  const writer = spawn("sh", ["-c", "while :; do echo > coming; rm coming; done"], { cwd, stdio: "ignore" });
  onTestFinished(() => void writer.kill("SIGKILL"));
  const host = start({ cwd, responses: [{ say: "ok" }], then: "repeat" });
  await host.open();
  for (let turn = 1; turn <= 150; turn++) {
    host.prompt("go");
    expect(await host.turnEnded(turn)).toMatchObject({ outcome: "completed" });
  }
  expect(await host.finish()).toBe(0);
});
