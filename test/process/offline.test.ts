/** `--offline-model`: a scripted llama-server on PATH, started, waited for, shared, and gone with us. */
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startLlamaServer } from "../../src/cli/compose/llama-server.js";
import { serveWs } from "../ante/ws-client.js";
import { fixture } from "../support/processes.js";
import { processesWith, run, scratch, start, until } from "./harness.js";

/** A machine on which llama.cpp is installed, and a model that behaves as its kind says. */
function machine(kind: "good" | "slow" | "broken" | "hangs"): { model: string; env: Record<string, string> } {
  const folder = scratch({ "tiny.gguf": kind });
  const program = join(folder, "llama-server");
  writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${fixture("llama-server.mjs")}' "$@"\n`);
  chmodSync(program, 0o755);
  return { model: join(folder, "tiny.gguf"), env: { PATH: `${folder}:${process.env["PATH"] ?? ""}` } };
}

describe("an offline model", () => {
  it("answers one prompt, and leaves nothing behind", async () => {
    const { model, env } = machine("good");
    const { code, stdout, stderr } = await run(["-p", "hi", "--offline-model", model], { env });
    expect(stdout, stderr).toMatch(/^answer 1 of tiny in \d+/);
    expect(code).toBe(0);
    expect(processesWith(model)).toEqual([]);
  });

  it("is waited for, with progress on stderr", async () => {
    const { model, env } = machine("slow");
    const { stdout, stderr } = await run(["-p", "hi", "--offline-model", model], { env });
    expect(stdout).toContain("answer 1 of tiny");
    expect(stderr).toContain("llama-server loads tiny (");
  });

  it("is shared by every connection of a server and beats the model that a client names; another provider is another provider", async () => {
    const { model, env } = machine("good");
    const server = await serveWs({ args: ["--offline-model", model], env });
    const clients = await Promise.all([1, 2].map(() => server.session(undefined, { provider: "local", model: "whatever" })));
    for (const client of clients) {
      client.send({ UserInput: "hi" });
      expect(await client.next("TurnEnd")).toMatchObject({ status: "Completed" });
    }
    const pids = clients.map((client) => / of tiny in (\d+)/.exec(client.of("AgentMessage")[0] ?? "")?.[1]);
    expect(pids[0]).toBeDefined();
    expect(pids[1]).toBe(pids[0]);
    expect(clients[0]?.of("SessionStart")).toMatchObject([{ provider: "local", model: { name: "tiny" } }]);
    const other = await server.session([{ say: "rehearsed" }]);
    other.send({ UserInput: "hi" });
    await other.next("TurnEnd");
    expect(other.of("AgentMessage")).toEqual(["rehearsed"]);
    other.send("Shutdown");
    expect(await server.exited).toEqual({ code: 0, signal: null });
    expect(processesWith(model)).toEqual([]);
  });

  it("works for a host over stdio, and ends with us after kill -9", async () => {
    const { model, env } = machine("good");
    const host = start({ args: ["--provider", "local", "--offline-model", model], env });
    await host.open();
    host.prompt("hi");
    await host.turnEnded();
    expect(host.text()).toMatch(/^answer 1 of tiny/);
    host.child.kill("SIGKILL");
    await host.exited;
    await until(() => processesWith(model).length === 0);
  });

  it("whose server dies says so, and the turn fails", async () => {
    const { model, env } = machine("good");
    const home = scratch({ "config.yaml": "limits: { retries: 1 }" });
    const server = await serveWs({ args: ["--offline-model", model], env: { ...env, PARLEY_HOME: home } });
    const client = await server.session(undefined, { provider: "local", model: "tiny" });
    for (const pid of processesWith("--alias\0tiny\0").filter((pid) => processesWith(model).includes(pid))) {
      if (pid !== server.child.pid) process.kill(pid, "SIGKILL");
    }
    await until(() => server.stderr.includes("was ended by SIGKILL"));
    client.send({ UserInput: "hi" });
    expect(await client.next("TurnEnd")).toMatchObject({ status: { Error: {} } });
  });
});

describe("what cannot be had is one clear error", () => {
  it.each([
    ["a file that is not there", () => ({ model: "/no/such.gguf", env: machine("good").env }), ["'/no/such.gguf' does not exist", "GGUF"]],
    ["a folder", () => ({ model: scratch(), env: machine("good").env }), ["is not a file"]],
    [
      "no llama-server",
      () => ({ ...machine("good"), env: { PATH: "/nowhere" } }),
      ["'llama-server' was not found", "llamaServer: /path/to/llama-server"],
    ],
    [
      "a config that names no program",
      () => ({ ...machine("good"), env: { PARLEY_HOME: scratch({ "config.yaml": "llamaServer: /no/llama" }) } }),
      ["'/no/llama' was not found", "correct llamaServer"],
    ],
    ["a broken model", () => machine("broken"), ["exited with code 1", "invalid magic characters", "is it a GGUF file"]],
  ])("%s", async (_name, given, words) => {
    const { model, env } = given();
    for (const args of [
      ["-p", "hi"],
      ["serve", "--ws", "127.0.0.1:0"],
    ]) {
      const { code, stdout, stderr } = await run([...args, "--offline-model", model], { env });
      for (const word of words) expect(stderr).toContain(word);
      expect(stderr.match(/^parley: /gm)).toHaveLength(1);
      expect(stdout).toBe("");
      expect(code).toBe(1);
    }
    expect(processesWith(model)).toEqual([]);
  });

  it("a host hears it in its own words", async () => {
    const { model, env } = machine("broken");
    const { code, stdout } = await run(["serve", "--offline-model", model], { env });
    expect(JSON.parse(stdout)).toMatchObject({ event: { Error: expect.stringContaining("invalid magic characters") } });
    expect(code).toBe(1);
  });

  it("a server that never answers is ended", async () => {
    const { model, env } = machine("hangs");
    const waiting = startLlamaServer(model, { name: "tiny", env: { ...process.env, ...env }, say() {}, waitMs: 3000 });
    await expect(waiting).rejects.toThrow(/did not answer within \d+ s and was ended.*loading model.*--provider local/s);
    expect(processesWith(model)).toEqual([]);
  });
});
